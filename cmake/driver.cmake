# libcuda.so.1: the CUDA driver API over this runtime's devices. It carries the runtime inside, because a program that is linked with
# it knows nothing of libptxbridge, and exports what NVIDIA's library exports and nothing else.
add_executable(api_gen ${CMAKE_CURRENT_SOURCE_DIR}/runtime/driver/api_gen.c)
target_compile_options(api_gen PRIVATE -Wall -Wextra)
set(DRIVER_API_FILES ${PTXBRIDGE_GEN}/driver_api.h ${PTXBRIDGE_GEN}/driver_exports.c
                     ${PTXBRIDGE_GEN}/driver_functions.inc ${PTXBRIDGE_GEN}/cuda_api.md)
add_custom_command(OUTPUT ${DRIVER_API_FILES}
  COMMAND api_gen ${CMAKE_CURRENT_SOURCE_DIR}/runtime/driver/api.def ${PTXBRIDGE_GEN}
  DEPENDS api_gen ${CMAKE_CURRENT_SOURCE_DIR}/runtime/driver/api.def
  COMMENT "Expanding the table of the CUDA driver API")
add_custom_target(ptxb_driver_files DEPENDS ${DRIVER_API_FILES})

file(GLOB DRIVER_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/driver/*.c)
list(FILTER DRIVER_SOURCES EXCLUDE REGEX "/api_gen\\.c$")
set(PTXBRIDGE_CUDA_LIBRARIES ${CMAKE_BINARY_DIR}/lib/cuda)
add_library(ptxb_driver SHARED ${DRIVER_SOURCES} ${PTXBRIDGE_GEN}/driver_exports.c)
add_dependencies(ptxb_driver ptxb_driver_files)
set_target_properties(ptxb_driver PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1 NO_SONAME ON
                      LIBRARY_OUTPUT_DIRECTORY ${PTXBRIDGE_CUDA_LIBRARIES}
                      LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/driver/exports.map)
target_link_libraries(ptxb_driver PRIVATE ptxb_runtime)
if(PTXBRIDGE_LLVM)
  ptxb_llvm_lazy(ptxb_driver)
endif()
# Its threads and what it told the system (atfork) live as long as the process: dlclose() must not take the code away.
target_link_options(ptxb_driver PRIVATE -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,nodelete
                    -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/runtime/driver/exports.map)
install(TARGETS ptxb_driver LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ptxbridge)
