# libcuda.so.1: its functions through its exports, its types against NVIDIA's headers, and the page that is made of its table.
add_executable(driver_test ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_graph_test.cc
               ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_texture_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_image_test.cc
               ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_virtual_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_rules_test.cc)
target_link_libraries(driver_test PRIVATE ptxb_flags ptxb_driver GTest::gtest GTest::gtest_main Threads::Threads)
target_include_directories(driver_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(driver_test PRIVATE -O1)
gtest_discover_tests(driver_test DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)

# Stepping aside for a real driver, played by the library that tests/cuda.cmake makes; traced and not.
add_executable(driver_forward ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_forward.c)
target_link_libraries(driver_forward PRIVATE ptxb_flags ptxb_driver)
add_dependencies(driver_forward ptxb_driver_files cuda_abi)
foreach(trace 0 1)
  add_test(NAME driver.forwards_to_a_real_driver_${trace} COMMAND driver_forward)
  set_tests_properties(driver.forwards_to_a_real_driver_${trace} PROPERTIES
    ENVIRONMENT "PTXBRIDGE_DEVICE=auto;PTXBRIDGE_TRACE=${trace};PTXBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:cuda_abi>")
endforeach()
set_tests_properties(driver.forwards_to_a_real_driver_1 PROPERTIES
  PASS_REGULAR_EXPRESSION "cuInit.flags=0. = 0.*cuMemAlloc_v2.*bytes=16. = 0.*cuMemAlloc_v2.*bytes=16. = 0.*cuStreamCreate.* = 801 CUDA_ERROR_NOT_SUPPORTED.*forwarded")

# A driver with everything, for statistics and dumps of what is forwarded: our own library once more, which does not say that it is ours.
set(PLAYED_DRIVER ${CMAKE_CURRENT_SOURCE_DIR}/played_driver)
add_library(cuda_played SHARED $<TARGET_OBJECTS:ptxb_driver> ${PLAYED_DRIVER}/played.c)
add_dependencies(cuda_played ptxb_driver_files)
set_target_properties(cuda_played PROPERTIES NO_SONAME ON LINK_DEPENDS ${PLAYED_DRIVER}/played.map)
target_link_libraries(cuda_played PRIVATE ptxb_runtime)
target_link_options(cuda_played PRIVATE -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,--version-script=${PLAYED_DRIVER}/played.map
                    -Wl,--wrap=getenv -Wl,--wrap=impl_cuLinkComplete -Wl,--wrap=dr_image_parse
                    -Wl,--wrap=impl_cuModuleGetGlobal_v2 -Wl,--wrap=impl_cuArray3DGetDescriptor_v2)
add_executable(driver_spied ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_spied.c)
target_link_libraries(driver_spied PRIVATE ptxb_flags ptxb_driver Threads::Threads)
add_dependencies(driver_spied ptxb_driver_files)

if(PTXBRIDGE_CUDA_INCLUDE AND EXISTS ${PTXBRIDGE_CUDA_INCLUDE}/cuda.h)
  add_executable(driver_abi_check ${CMAKE_CURRENT_SOURCE_DIR}/driver_abi_check.cc)
  add_dependencies(driver_abi_check ptxb_driver_files)
  target_link_libraries(driver_abi_check PRIVATE ptxb_flags)
  target_include_directories(driver_abi_check SYSTEM PRIVATE ${PTXBRIDGE_CUDA_INCLUDE})
  add_test(NAME driver.abi_header_agrees COMMAND driver_abi_check)
else()
  add_test(NAME driver.abi_header_agrees COMMAND ${CMAKE_COMMAND} -E echo "skipped: cuda.h is not installed")
  set_tests_properties(driver.abi_header_agrees PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
endif()

# docs/cuda_api.md is generated; after a change to the table: cp build/release/gen/cuda_api.md docs/cuda_api.md
add_test(NAME docs.cuda_api_is_current COMMAND ${CMAKE_COMMAND} -E compare_files ${PTXBRIDGE_GEN}/cuda_api.md ${PROJECT_SOURCE_DIR}/docs/cuda_api.md)
