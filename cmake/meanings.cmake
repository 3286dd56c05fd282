# ptx/lib: the meanings, compiled by clang from one text
#   - 32 lanes wide for each x86-64 level (or one generic level elsewhere), as objects;
#   - 1 lane wide for AMD, as LLVM bitcode for 32- and for 64-lane wavefronts.
# clang is needed for its vector types whatever compiler builds the rest.
find_program(PTXBRIDGE_CLANG NAMES clang-22 clang-21 clang-20 clang-19 clang REQUIRED)
execute_process(COMMAND ${PTXBRIDGE_CLANG} -dumpversion OUTPUT_VARIABLE PTXBRIDGE_CLANG_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
if(PTXBRIDGE_CLANG_VERSION VERSION_LESS 19)
  message(FATAL_ERROR "ptx/lib needs clang 19 or later, found ${PTXBRIDGE_CLANG} ${PTXBRIDGE_CLANG_VERSION}; set -DPTXBRIDGE_CLANG=…")
endif()

set(MEANING_FLAGS -std=gnu17 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing
    -Wall -Wextra -Wno-psabi -Wno-unused-function)
if(PTXBRIDGE_WERROR)
  list(APPEND MEANING_FLAGS -Werror)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(PTXBRIDGE_LEVELS v2 v3 v4 CACHE STRING "Instruction-set levels that the CPU engine holds; the best that the processor has is chosen at start")
  option(PTXBRIDGE_NATIVE_LEVEL "Build only the best level of this processor" OFF)
  if(PTXBRIDGE_NATIVE_LEVEL)
    execute_process(COMMAND ${PTXBRIDGE_CLANG} -march=native -dM -E -x c /dev/null OUTPUT_VARIABLE native_macros)
    if(native_macros MATCHES "__AVX512BW__" AND native_macros MATCHES "__AVX512VL__" AND native_macros MATCHES "__AVX512DQ__")
      set(PTXBRIDGE_LEVELS v4)
    elseif(native_macros MATCHES "__AVX2__" AND native_macros MATCHES "__BMI2__")
      set(PTXBRIDGE_LEVELS v3)
    else()
      set(PTXBRIDGE_LEVELS v2)
    endif()
  endif()
else()
  set(PTXBRIDGE_LEVELS generic)
endif()
set(LEVEL_FLAGS_v2 -march=x86-64-v2)
set(LEVEL_FLAGS_v3 -march=x86-64-v3)
set(LEVEL_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
set(LEVEL_FLAGS_generic "")

set(PTXBRIDGE_LAUNCH)
if(PTXBRIDGE_CCACHE)
  set(PTXBRIDGE_LAUNCH ${PTXBRIDGE_CCACHE})
endif()
file(GLOB MEANING_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ptx/lib/*.c)
file(GLOB MEANING_HEADERS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ptx/lib/*.h)

# A second build (sanitizers) may take these objects from a first one: no sanitizer looks into them, and they take
# most of the build's time.
set(PTXBRIDGE_MEANINGS_FROM "" CACHE PATH "Build directory whose objects and bitcode of ptx/lib are used")
if(PTXBRIDGE_MEANINGS_FROM)
  get_filename_component(MEANING_DIR ${PTXBRIDGE_MEANINGS_FROM}/meanings ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
else()
  set(MEANING_DIR ${CMAKE_CURRENT_BINARY_DIR}/meanings)
endif()

set(MEANING_OBJECTS)
foreach(level ${PTXBRIDGE_LEVELS})
  target_compile_definitions(ptxb_flags INTERFACE PTXB_LEVEL_${level}=1)
  foreach(source ${MEANING_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    set(object ${MEANING_DIR}/${level}_${name}.o)
    list(APPEND MEANING_OBJECTS ${object})
    if(PTXBRIDGE_MEANINGS_FROM)
      continue()
    endif()
    add_custom_command(OUTPUT ${object}
      COMMAND ${PTXBRIDGE_LAUNCH} ${PTXBRIDGE_CLANG} ${MEANING_FLAGS} ${LEVEL_FLAGS_${level}} -fPIC -fvisibility=hidden
              -DPXL_WIDTH=32 -DPXL_LEVEL=${level} -I${CMAKE_CURRENT_SOURCE_DIR} -I${CMAKE_CURRENT_BINARY_DIR} -I${PTXBRIDGE_GEN}
              -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} ptxb_isa_files DEPFILE ${object}.d
      COMMENT "Meanings of ${name} for ${level}" VERBATIM)
  endforeach()
endforeach()
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/meanings)
set_source_files_properties(${MEANING_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE)
add_library(ptxb_meanings STATIC ${MEANING_OBJECTS})
set_target_properties(ptxb_meanings PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(ptxb_meanings PUBLIC ptxb_flags)
add_dependencies(ptxb_meanings ptxb_isa_files)

if(PTXBRIDGE_LLVM)
  get_filename_component(CLANG_BIN ${PTXBRIDGE_CLANG} DIRECTORY)
  string(REGEX MATCH "^[0-9]+" CLANG_MAJOR ${PTXBRIDGE_CLANG_VERSION})
  find_program(PTXBRIDGE_LLVM_LINK NAMES llvm-link-${CLANG_MAJOR} llvm-link HINTS ${CLANG_BIN} /usr/lib/llvm-${CLANG_MAJOR}/bin REQUIRED)
  set(PTXBRIDGE_BITCODE_FILES)
  # gfx1100 and gfx90a only fix the wavefront size here: the attributes that name a processor are dropped on loading.
  foreach(wave 32 64)
    if(wave EQUAL 32)
      set(wave_flags -mcpu=gfx1100)
    else()
      set(wave_flags -mcpu=gfx90a)
    endif()
    set(parts)
    set(linked ${MEANING_DIR}/amdgcn${wave}.bc)
    list(APPEND PTXBRIDGE_BITCODE_FILES ${linked})
    if(PTXBRIDGE_MEANINGS_FROM)
      continue()
    endif()
    foreach(source ${MEANING_SOURCES})
      get_filename_component(name ${source} NAME_WE)
      set(part ${CMAKE_CURRENT_BINARY_DIR}/meanings/amdgcn${wave}_${name}.bc)
      add_custom_command(OUTPUT ${part}
        COMMAND ${PTXBRIDGE_LAUNCH} ${PTXBRIDGE_CLANG} ${MEANING_FLAGS} -target amdgcn-amd-amdhsa ${wave_flags} -mcode-object-version=5 -nogpulib -ffreestanding
                -DPXL_WIDTH=1 -DPXL_WAVE=${wave} -I${CMAKE_CURRENT_SOURCE_DIR} -I${CMAKE_CURRENT_BINARY_DIR} -I${PTXBRIDGE_GEN}
                -MD -MF ${part}.d -emit-llvm -c ${source} -o ${part}
        DEPENDS ${source} ptxb_isa_files DEPFILE ${part}.d
        COMMENT "Meanings of ${name} as AMD bitcode, wave${wave}" VERBATIM)
      list(APPEND parts ${part})
    endforeach()
    add_custom_command(OUTPUT ${linked} COMMAND ${PTXBRIDGE_LLVM_LINK} ${parts} -o ${linked} DEPENDS ${parts} VERBATIM)
  endforeach()
  add_custom_target(ptxb_bitcode DEPENDS ${PTXBRIDGE_BITCODE_FILES})
  # Embedded, so that no compiler is needed where ptxbridge runs.
  set(PTXBRIDGE_BITCODE_OBJECT ${CMAKE_CURRENT_BINARY_DIR}/meanings/bitcode.S)
  file(WRITE ${PTXBRIDGE_BITCODE_OBJECT}.in "")
  foreach(wave 32 64)
    file(APPEND ${PTXBRIDGE_BITCODE_OBJECT}.in
"    .section .rodata
    .balign 16
    .globl pxl_bitcode_wave${wave}, pxl_bitcode_wave${wave}_end
    .hidden pxl_bitcode_wave${wave}, pxl_bitcode_wave${wave}_end
pxl_bitcode_wave${wave}:
    .incbin \"${MEANING_DIR}/amdgcn${wave}.bc\"
pxl_bitcode_wave${wave}_end:
    .byte 0
")
  endforeach()
  file(APPEND ${PTXBRIDGE_BITCODE_OBJECT}.in "    .section .note.GNU-stack,\"\",@progbits\n")
  configure_file(${PTXBRIDGE_BITCODE_OBJECT}.in ${PTXBRIDGE_BITCODE_OBJECT} COPYONLY)
  set_source_files_properties(${PTXBRIDGE_BITCODE_OBJECT} PROPERTIES OBJECT_DEPENDS "${PTXBRIDGE_BITCODE_FILES}")
endif()
