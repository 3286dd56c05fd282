# ptxb_llvm_lazy(TARGET): the shared library TARGET opens libLLVM when it is needed, instead of being linked with it (runtime/llvm/lazy.c).
set(PTXBRIDGE_LLVM_LAZY OFF)
if(PTXBRIDGE_LLVM_LIBRARY MATCHES "\\.so" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|aarch64")
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${PTXBRIDGE_LLVM_LIBRARY} OUTPUT_VARIABLE headers)
  if(headers MATCHES "SONAME +([^\n ]+)")
    set(PTXBRIDGE_LLVM_NAME ${CMAKE_MATCH_1})
    set(PTXBRIDGE_LLVM_LAZY ON)
  endif()
endif()

function(ptxb_llvm_lazy target)
  if(NOT PTXBRIDGE_LLVM_LAZY)
    return()
  endif()
  set(list ${PTXBRIDGE_GEN}/llvm/llvm_functions.inc)
  file(MAKE_DIRECTORY ${PTXBRIDGE_GEN}/llvm)
  add_custom_command(OUTPUT ${list}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} "-DARCHIVES=$<TARGET_FILE:ptxb_translator>,$<TARGET_FILE:ptxb_sim>,$<TARGET_FILE:ptxb_runtime>" -DOUT=${list}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/llvm_functions.cmake
    DEPENDS ptxb_translator ptxb_sim ptxb_runtime ${CMAKE_CURRENT_SOURCE_DIR}/cmake/llvm_functions.cmake
    COMMENT "Listing the functions of LLVM that are used" VERBATIM)
  set(lazy ${CMAKE_CURRENT_SOURCE_DIR}/runtime/llvm/lazy.c)
  set_source_files_properties(${lazy} PROPERTIES OBJECT_DEPENDS ${list}
    COMPILE_DEFINITIONS "PXB_LLVM_NAME=\"${PTXBRIDGE_LLVM_NAME}\";PXB_LLVM_PATH=\"${PTXBRIDGE_LLVM_LIBRARY}\""
    INCLUDE_DIRECTORIES ${PTXBRIDGE_GEN}/llvm)
  target_sources(${target} PRIVATE ${lazy} ${list})
  set_target_properties(${target} PROPERTIES PTXBRIDGE_LLVM_LAZY ON)
endfunction()
