# Unmodified CUDA programs over libcuda.so.1 and libcudart.so.13, and what those libraries are made of against NVIDIA's headers.
# Those in C use the driver API over PTX text and are built with any compiler; those in CUDA C++ need nvcc and are skipped without it.
set(CUDA_PROGRAMS ${CMAKE_CURRENT_SOURCE_DIR}/cuda_programs)
set(CUDA_PRELOAD)
if(PTXBRIDGE_SANITIZE MATCHES "address")       # the libraries are instrumented, nvcc's programs are not
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE libasan OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(CUDA_PRELOAD env LD_PRELOAD=${libasan} ASAN_OPTIONS=detect_leaks=0)
endif()

# cuda_program_test(NAME DEVICE PROGRAM…): the test cuda_program_cpu.NAME, cuda_program_sim.NAME or cuda_program_hip.NAME
function(cuda_program_test name device)
  string(REGEX REPLACE ":.*" "" kind ${device})
  set(test cuda_program_${kind}.${name})
  add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} ${CUDA_PROGRAMS}/run.py $<TARGET_FILE:ptxbridge_cli> exec --device ${device} -- ${ARGN} -- ${name})
  set_tests_properties(${test} PROPERTIES TIMEOUT 300)
  if(NOT device STREQUAL "cpu")                # translations are shared; HIP is the library over the simulator
    set_tests_properties(${test} PROPERTIES ENVIRONMENT
      "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test_cache;PTXBRIDGE_HIP_LIBRARY=${CMAKE_CURRENT_BINARY_DIR}/libamdhip64-sim.so.6;HIP_OVER_SIM=gfx1100")
  endif()
endfunction()

# ---------------------------------------------------------------- driver API, any C compiler
foreach(name driver_saxpy driver_link driver_stress driver_faults driver_pointers driver_images driver_heap driver_ipc)
  add_executable(${name} ${CUDA_PROGRAMS}/${name}.c)
  target_link_libraries(${name} PRIVATE ptxb_flags ptxb_driver Threads::Threads)
endforeach()
add_executable(driver_lookup ${CUDA_PROGRAMS}/driver_lookup.c)
target_link_libraries(driver_lookup PRIVATE ptxb_flags ${CMAKE_DL_LIBS})
foreach(name driver_saxpy driver_link driver_stress driver_faults driver_images driver_heap driver_ipc driver_lookup)
  cuda_program_test(${name} cpu $<TARGET_FILE:${name}>)
  if(PTXBRIDGE_LLVM AND NOT PTXBRIDGE_SANITIZE AND NOT name MATCHES "driver_stress|driver_ipc")
    cuda_program_test(${name} sim:gfx1100 $<TARGET_FILE:${name}>)
  endif()
  if(PTXBRIDGE_LLVM AND NOT PTXBRIDGE_SANITIZE AND name STREQUAL "driver_faults")
    cuda_program_test(${name} hip $<TARGET_FILE:${name}>)
  endif()
endforeach()

# ---------------------------------------------------------------- the shared runtime of both releases, without nvcc
foreach(major 12 13)
  add_executable(runtime_client_${major} ${CUDA_PROGRAMS}/runtime_client.c)
  target_compile_definitions(runtime_client_${major} PRIVATE CUDART_MAJOR=${major})
  target_link_libraries(runtime_client_${major} PRIVATE ptxb_flags ptxb_cudart_${major})
  add_dependencies(runtime_client_${major} ptxb_driver)
  cuda_program_test(runtime_client_${major} cpu $<TARGET_FILE:runtime_client_${major}>)
endforeach()

# ---------------------------------------------------------------- CUDA C++, nvcc
set(CUDA_CPU_PROGRAMS asserts cooperative cub_scan device_malloc device_printf errors graphs host_only launch_attributes managed
    matrix_multiply occupancy peers pools reduction separate streams symbols tensor_cores textures threads thrust_sort vector_add)
set(CUDA_SIM_PROGRAMS asserts cooperative device_malloc device_printf errors graphs launch_attributes managed matrix_multiply occupancy pools
    reduction separate streams symbols tensor_cores textures threads vector_add)
set(CUDA_HIP_PROGRAMS asserts cooperative device_printf errors managed pools streams symbols textures)
set(CUDA_SANITIZED_PROGRAMS errors graphs pools separate streams textures threads vector_add)

function(build_cuda_program name)
  set(sources ${CUDA_PROGRAMS}/${name}.cu)
  set(flags -cudart shared -std=c++17 -arch=compute_80)
  if(name STREQUAL "separate")
    set(sources ${CUDA_PROGRAMS}/separate_main.cu ${CUDA_PROGRAMS}/separate_code.cu ${CUDA_PROGRAMS}/separate_data.cu)
    list(APPEND flags -rdc=true)
  elseif(name STREQUAL "host_only")
    set(sources ${CUDA_PROGRAMS}/host_only.cpp)
  elseif(name STREQUAL "threads")
    list(APPEND flags --default-stream per-thread)
  elseif(name STREQUAL "vector_add")           # as nvcc does it by itself: machine code beside the PTX
    set(flags -cudart shared)
  endif()
  set(program ${programs_folder}/${name})
  add_custom_command(OUTPUT ${program} COMMAND ${PTXBRIDGE_NVCC} ${flags} ${sources} -o ${program}
    DEPENDS ${sources} ${CUDA_PROGRAMS}/check.h ${CUDA_PROGRAMS}/separate.h COMMENT "nvcc ${name}" VERBATIM)
endfunction()

set(programs ${CUDA_CPU_PROGRAMS})
set(programs_folder ${CMAKE_CURRENT_BINARY_DIR}/cuda_programs)
if(PTXBRIDGE_SANITIZE)
  set(programs ${CUDA_SANITIZED_PROGRAMS})
  if(PTXBRIDGE_MEANINGS_FROM)                  # the programs are not instrumented: those of that build serve as well
    get_filename_component(programs_folder ${PTXBRIDGE_MEANINGS_FROM}/tests/cuda_programs ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  endif()
endif()
if(PTXBRIDGE_NVCC)
  file(MAKE_DIRECTORY ${programs_folder})
  set(built)
  foreach(name ${programs})
    if(NOT PTXBRIDGE_MEANINGS_FROM)
      build_cuda_program(${name})
    endif()
    list(APPEND built ${programs_folder}/${name})
    cuda_program_test(${name} cpu ${CUDA_PRELOAD} ${programs_folder}/${name})
    if(PTXBRIDGE_LLVM AND NOT PTXBRIDGE_SANITIZE AND name IN_LIST CUDA_SIM_PROGRAMS)
      cuda_program_test(${name} sim:gfx1100 ${programs_folder}/${name})
    endif()
    if(PTXBRIDGE_LLVM AND NOT PTXBRIDGE_SANITIZE AND name IN_LIST CUDA_HIP_PROGRAMS)
      cuda_program_test(${name} hip ${programs_folder}/${name})
    endif()
  endforeach()
  if(PTXBRIDGE_LLVM AND NOT PTXBRIDGE_SANITIZE)  # two devices of different kinds
    add_test(NAME cuda_program_two.peers COMMAND ${Python3_EXECUTABLE} ${CUDA_PROGRAMS}/run.py $<TARGET_FILE:ptxbridge_cli> exec --device cpu,sim:gfx1100
             -- ${programs_folder}/peers -- peers)
  endif()
  # nvcc's default: the runtime inside, which exec refuses with an explanation.
  set(static_program ${programs_folder}/static_runtime)
  if(NOT PTXBRIDGE_MEANINGS_FROM)
    add_custom_command(OUTPUT ${static_program} COMMAND ${PTXBRIDGE_NVCC} -arch=compute_80 ${CUDA_PROGRAMS}/vector_add.cu -o ${static_program}
      DEPENDS ${CUDA_PROGRAMS}/vector_add.cu COMMENT "nvcc, static runtime" VERBATIM)
  endif()
  add_test(NAME cuda_exec.static_runtime COMMAND ptxbridge_cli exec ${static_program})
  set_tests_properties(cuda_exec.static_runtime PROPERTIES PASS_REGULAR_EXPRESSION "nvcc -cudart shared")
  add_test(NAME cuda_exec.static_runtime_from_a_script COMMAND ptxbridge_cli exec --device cpu -- ${CUDA_PRELOAD} sh -c ${static_program})
  set_tests_properties(cuda_exec.static_runtime_from_a_script PROPERTIES PASS_REGULAR_EXPRESSION "nvcc -cudart shared")
  # Nothing but the library path.
  add_test(NAME cuda_exec.library_path COMMAND ${Python3_EXECUTABLE} ${CUDA_PROGRAMS}/run.py ${CUDA_PRELOAD}
           ${programs_folder}/vector_add -- vector_add)
  set_tests_properties(cuda_exec.library_path PROPERTIES ENVIRONMENT "LD_LIBRARY_PATH=${PTXBRIDGE_CUDA_LIBRARIES};PTXBRIDGE_DEVICE=cpu")
  if(NOT PTXBRIDGE_MEANINGS_FROM)
    add_custom_target(cuda_programs ALL DEPENDS ${built} ${static_program})
  endif()
else()
  foreach(name ${programs})
    add_test(NAME cuda_program_cpu.${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: there is no nvcc")
    set_tests_properties(cuda_program_cpu.${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
  endforeach()
endif()

# ---------------------------------------------------------------- exec
set(exec_devices cpu)
if(PTXBRIDGE_LLVM AND NOT PTXBRIDGE_SANITIZE)
  list(APPEND exec_devices sim:gfx1100)
endif()
add_test(NAME cuda_exec.options COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda_exec_test.py $<TARGET_FILE:ptxbridge_cli>
         $<TARGET_FILE:driver_saxpy> $<TARGET_FILE:driver_pointers> $<TARGET_FILE:driver_images> $<TARGET_FILE:driver_heap> ${exec_devices})
set_tests_properties(cuda_exec.options PROPERTIES TIMEOUT 300)

# Forwarded to a library that plays NVIDIA's driver.
set(forwarded_programs $<TARGET_FILE:driver_saxpy> $<TARGET_FILE:driver_pointers> $<TARGET_FILE:driver_link> $<TARGET_FILE:driver_images>)
if(PTXBRIDGE_NVCC AND NOT PTXBRIDGE_SANITIZE)
  list(APPEND forwarded_programs ${programs_folder}/vector_add ${programs_folder}/textures ${programs_folder}/cooperative)
endif()
list(JOIN exec_devices "," forwarded_devices)
add_test(NAME cuda_exec.forwarded COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda_forward_test.py $<TARGET_FILE:ptxbridge_cli>
         $<TARGET_FILE:cuda_played> $<TARGET_FILE:cuda_abi> $<TARGET_FILE:driver_spied> $<TARGET_FILE:driver_forward> ${forwarded_devices}
         ${forwarded_programs})
set_tests_properties(cuda_exec.forwarded PROPERTIES TIMEOUT 300 ENVIRONMENT "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test_cache")

# ---------------------------------------------------------------- images
target_link_libraries(driver_image_test PRIVATE ptxb_driver)

# ---------------------------------------------------------------- the runtime's binary interface
if(PTXBRIDGE_CUDA_INCLUDE AND EXISTS ${PTXBRIDGE_CUDA_INCLUDE}/cuda_runtime_api.h)
  add_executable(cudart_abi_check ${CMAKE_CURRENT_SOURCE_DIR}/cudart_abi_check.cc)
  target_link_libraries(cudart_abi_check PRIVATE ptxb_flags)
  target_include_directories(cudart_abi_check SYSTEM PRIVATE ${PTXBRIDGE_CUDA_INCLUDE})
  add_test(NAME cuda.runtime_abi_agrees COMMAND cudart_abi_check)
else()
  add_test(NAME cuda.runtime_abi_agrees COMMAND ${CMAKE_COMMAND} -E echo "skipped: cuda_runtime_api.h is not installed")
  set_tests_properties(cuda.runtime_abi_agrees PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
endif()
