# The NVIDIA device is tested against a library with the driver's binary interface whose GPU is the CPU device, and its
# header of that interface against NVIDIA's own, where one is installed.
file(GLOB CUDA_ABI_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cuda_abi_library/abi*.c)
add_library(cuda_abi MODULE ${CUDA_ABI_SOURCES})
target_link_libraries(cuda_abi PRIVATE ptxb_flags ptxbridge Threads::Threads)
add_library(cuda_abi_shim MODULE ${CMAKE_CURRENT_SOURCE_DIR}/cuda_abi_library/shim.c)
target_link_libraries(cuda_abi_shim PRIVATE ptxb_flags)

set(PTXB_CUDA_DEFINITIONS PTXB_CUDA_ABI="$<TARGET_FILE:cuda_abi>" PTXB_CUDA_SHIM="$<TARGET_FILE:cuda_abi_shim>"
    PTXB_NO_DRIVER="$<TARGET_FILE:ptxbridge>")
target_compile_definitions(cuda_test PRIVATE ${PTXB_CUDA_DEFINITIONS})
add_dependencies(cuda_test cuda_abi cuda_abi_shim ptxbridge)

# NVIDIA's header, from nvcc's folder or the include path; nothing of CUDA is linked.
find_program(PTXBRIDGE_NVCC nvcc PATHS /usr/local/cuda/bin)
set(cuda_include_hint)
if(PTXBRIDGE_NVCC)
  file(REAL_PATH ${PTXBRIDGE_NVCC} nvcc_real)
  cmake_path(GET nvcc_real PARENT_PATH nvcc_folder)
  set(cuda_include_hint ${nvcc_folder}/../include)
endif()
# linux/cuda.h is something else, hence the name of the file beside it.
find_path(PTXBRIDGE_CUDA_INCLUDE NAMES cudaTypedefs.h HINTS ${cuda_include_hint} PATHS /usr/local/cuda/include)
if(PTXBRIDGE_CUDA_INCLUDE AND EXISTS ${PTXBRIDGE_CUDA_INCLUDE}/cuda.h)
  add_executable(cuda_abi_check ${CMAKE_CURRENT_SOURCE_DIR}/cuda_abi_check.cc)
  target_link_libraries(cuda_abi_check PRIVATE ptxb_flags)
  target_include_directories(cuda_abi_check SYSTEM PRIVATE ${PTXBRIDGE_CUDA_INCLUDE})
  add_test(NAME cuda.abi_header_agrees COMMAND cuda_abi_check)
else()
  message(STATUS "cuda.h is not installed: runtime/cuda/cuda_abi.h is not compared with it")
  add_test(NAME cuda.abi_header_agrees COMMAND ${CMAKE_COMMAND} -E echo "skipped: cuda.h is not installed")
  set_tests_properties(cuda.abi_header_agrees PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
endif()

# The corpus as on an NVIDIA GPU. Left out are the cases that a GPU would not come back from.
file(GLOB CUDA_CASES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ptx_corpus/kernels/*.json ${PROJECT_SOURCE_DIR}/ptx_corpus/dec2/*.json)
foreach(case ${CUDA_CASES})
  get_filename_component(name ${case} NAME_WE)
  file(STRINGS ${case} hangs REGEX "\"fault\": *\"(barrier_deadlock|timeout)\"")
  if(NOT hangs)
    add_test(NAME corpus_cuda.${name} COMMAND ptxbridge_cli run ${case} --device cuda)
    set_tests_properties(corpus_cuda.${name} PROPERTIES TIMEOUT 600 ENVIRONMENT "PTXBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:cuda_abi>")
  endif()
endforeach()
add_test(NAME cuda.record_script COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/nvidia_record_test.sh $<TARGET_FILE:ptxbridge_cli>
         $<TARGET_FILE:cuda_abi> ${CMAKE_CURRENT_BINARY_DIR}/nvidia-record)
set_tests_properties(cuda.record_script PROPERTIES TIMEOUT 300)
