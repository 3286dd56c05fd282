# ptxb_use_width1(target): links the width-1 text of the families without cross-lane meanings, as host objects (see README.md).
set(WIDTH1_OBJECTS)
foreach(family int logic float half cvt compare move video texture)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/width1_${family}.o)
  set(source ${PROJECT_SOURCE_DIR}/ptx/lib/${family}.c)
  add_custom_command(OUTPUT ${object}
    COMMAND ${PTXBRIDGE_LAUNCH} ${PTXBRIDGE_CLANG} ${MEANING_FLAGS} -O1 -DPXL_WIDTH=1 -DPXL_LEVEL=width1
            -I${PROJECT_SOURCE_DIR}/tests/width1 -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR} -I${PTXBRIDGE_GEN}
            -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} ptxb_isa_files DEPFILE ${object}.d
    COMMENT "Meanings of ${family} at width 1 for the host" VERBATIM)
  list(APPEND WIDTH1_OBJECTS ${object})
endforeach()
add_custom_target(ptxb_width1_objects DEPENDS ${WIDTH1_OBJECTS})
set_source_files_properties(${WIDTH1_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
set(PTXB_WIDTH1_SOURCES ${CMAKE_CURRENT_LIST_DIR}/handlers.c ${WIDTH1_OBJECTS})

# Objects, not a library: all references to them are weak.
function(ptxb_use_width1 target)
  target_sources(${target} PRIVATE ${PTXB_WIDTH1_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR})
  add_dependencies(${target} ptxb_width1_objects ptxb_isa_files)
endfunction()

# ptxb_use_width1_warp(target): the same for the families whose meanings read other lanes. The target includes lib_width1.h, which has
# the lane primitives.
set(WIDTH1_WARP_OBJECTS)
foreach(family mma warp special)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/width1_${family}.o)
  set(source ${PROJECT_SOURCE_DIR}/ptx/lib/${family}.c)
  add_custom_command(OUTPUT ${object}
    COMMAND ${PTXBRIDGE_LAUNCH} ${PTXBRIDGE_CLANG} ${MEANING_FLAGS} -O1 -DPXL_WIDTH=1 -DPXL_LEVEL=width1
            -I${PROJECT_SOURCE_DIR}/tests/width1 -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR} -I${PTXBRIDGE_GEN}
            -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} ptxb_isa_files DEPFILE ${object}.d
    COMMENT "Meanings of ${family} at width 1 for the host" VERBATIM)
  list(APPEND WIDTH1_WARP_OBJECTS ${object})
endforeach()
add_custom_target(ptxb_width1_warp_objects DEPENDS ${WIDTH1_WARP_OBJECTS})
set_source_files_properties(${WIDTH1_WARP_OBJECTS} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
function(ptxb_use_width1_warp target)
  target_sources(${target} PRIVATE ${WIDTH1_WARP_OBJECTS})
  add_dependencies(${target} ptxb_width1_warp_objects ptxb_isa_files)
endfunction()
