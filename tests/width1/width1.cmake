# The width-1 text of ptx/lib as host objects (see README.md).

# Sets `out` to the objects of the families, made by targets that `target` collects.
function(ptxb_width1_objects out target)
  set(objects)
  foreach(family ${ARGN})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/width1_${family}.o)
    set(source ${PROJECT_SOURCE_DIR}/ptx/lib/${family}.c)
    add_custom_command(OUTPUT ${object}
      COMMAND ${PTXBRIDGE_LAUNCH} ${PTXBRIDGE_CLANG} ${MEANING_FLAGS} -O1 -DPXL_WIDTH=1 -DPXL_LEVEL=width1
              -I${PROJECT_SOURCE_DIR}/tests/width1 -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR} -I${PTXBRIDGE_GEN}
              -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} ptxb_isa_files DEPFILE ${object}.d
      COMMENT "Meanings of ${family} at width 1 for the host" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_custom_target(${target} DEPENDS ${objects})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

ptxb_width1_objects(WIDTH1_OBJECTS ptxb_width1_lanes int logic float half cvt compare move video texture)
ptxb_width1_objects(WIDTH1_WARP_OBJECTS ptxb_width1_warp mma warp special)
set(WIDTH1_HANDLERS ${CMAKE_CURRENT_LIST_DIR}/handlers.c)

# Families without cross-lane meanings. Objects, not a library: all references to them are weak.
function(ptxb_use_width1 target)
  target_sources(${target} PRIVATE ${WIDTH1_HANDLERS} ${WIDTH1_OBJECTS})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR})
  add_dependencies(${target} ptxb_width1_lanes ptxb_isa_files)
endfunction()

# Families whose meanings read other lanes: the target includes lib_width1.h, which has the lane primitives.
function(ptxb_use_width1_warp target)
  target_sources(${target} PRIVATE ${WIDTH1_WARP_OBJECTS})
  add_dependencies(${target} ptxb_width1_warp ptxb_isa_files)
endfunction()
