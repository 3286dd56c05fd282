# The devices that run AMD code: the simulator, and HIP on libraries with HIP's binary interface over the simulator, which the
# tests load as they would load libamdhip64.
foreach(rocm 5 6)
  add_library(hip_over_sim_${rocm} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/hip_over_sim/hip_over_sim.c)
  set_target_properties(hip_over_sim_${rocm} PROPERTIES PREFIX "" OUTPUT_NAME libamdhip64-sim SUFFIX ".so.${rocm}")
  target_compile_definitions(hip_over_sim_${rocm} PRIVATE HIP_OVER_SIM_ROCM=${rocm})
  target_link_libraries(hip_over_sim_${rocm} PRIVATE ptxb_sim Threads::Threads)
endforeach()
target_compile_definitions(hip_test PRIVATE PTXB_HIP_5="$<TARGET_FILE:hip_over_sim_5>" PTXB_HIP_6="$<TARGET_FILE:hip_over_sim_6>")
add_dependencies(hip_test hip_over_sim_5 hip_over_sim_6)

# HIP's own header, where it is installed; nothing of HIP is linked.
find_path(PTXBRIDGE_HIP_INCLUDE hip/hip_runtime_api.h PATHS /opt/rocm/include)
if(PTXBRIDGE_HIP_INCLUDE)
  add_executable(hip_abi_check ${CMAKE_CURRENT_SOURCE_DIR}/hip_abi_check.cc)
  target_link_libraries(hip_abi_check PRIVATE ptxb_flags)
  target_include_directories(hip_abi_check SYSTEM PRIVATE ${PTXBRIDGE_HIP_INCLUDE})
  target_compile_definitions(hip_abi_check PRIVATE __HIP_PLATFORM_AMD__=1 __HIP_PLATFORM_HCC__=1)
  add_test(NAME hip.abi_header_agrees COMMAND hip_abi_check)
else()
  message(STATUS "HIP's headers are not installed: runtime/hip/hip_abi.h is not compared with them")
  add_test(NAME hip.abi_header_agrees COMMAND ${CMAKE_COMMAND} -E echo "skipped: HIP's headers are not installed")
  set_tests_properties(hip.abi_header_agrees PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
endif()

# The corpus on every device. Translations are shared through one cache. What is not run, and why, stands in amd_corpus.cmake.
include(amd_corpus.cmake)
option(PTXBRIDGE_TEST_ALL "Run the whole corpus on every simulated target" OFF)
file(GLOB CORPUS_CASES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ptx_corpus/kernels/*.json ${PROJECT_SOURCE_DIR}/ptx_corpus/dec2/*.json)
foreach(case ${CORPUS_CASES})
  get_filename_component(name ${case} NAME_WE)
  foreach(device sim:gfx1100 sim:gfx1201 sim:gfx942 hip)
    string(REPLACE ":" "_" folder ${device})
    ptxb_amd_exception(${name} ${device} exception)
    if(exception)
      continue()
    endif()
    # The second RDNA target repeats what instructions and layouts of its own can change, unless all is asked for.
    if(device STREQUAL "sim:gfx1201" AND NOT PTXBRIDGE_TEST_ALL AND NOT name MATCHES "mma|gemm|attention|tex|surf|half|fp8|bf16|dec2|atomic|shuffle|vote|match|div_|fault_|named|cp_async|f64")
      continue()
    endif()
    add_test(NAME corpus_${folder}.${name} COMMAND ptxbridge_cli run ${case} --device ${device})
    set_tests_properties(corpus_${folder}.${name} PROPERTIES TIMEOUT 900
      ENVIRONMENT "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test_cache;PTXBRIDGE_HIP_LIBRARY=$<TARGET_FILE:hip_over_sim_6>;HIP_OVER_SIM=gfx1100")
    if(name MATCHES "^dec2-(small|ragged)$")     # one translation of dec2 for each device: the others find it in the cache
      set_tests_properties(corpus_${folder}.${name} PROPERTIES DEPENDS corpus_${folder}.dec2-window)
    endif()
  endforeach()
endforeach()
