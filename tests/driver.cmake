# libcuda.so.1: its functions through its exports, its types against NVIDIA's headers, and the page that is made of its table.
add_executable(driver_test ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_graph_test.cc
               ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_texture_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/driver/driver_image_test.cc)
target_link_libraries(driver_test PRIVATE ptxb_flags ptxb_driver GTest::gtest GTest::gtest_main Threads::Threads)
target_include_directories(driver_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(driver_test PRIVATE -O1)
gtest_discover_tests(driver_test DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)

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
