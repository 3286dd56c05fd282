# isa_gen reads ptx/isa.def and writes the tables that everything else includes.
file(GLOB ISA_GEN_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ptx/isa_gen*.c)
file(GLOB ISA_ROWS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ptx/isa*.def)
set_property(SOURCE ptx/isa_gen.c PROPERTY OBJECT_DEPENDS "${ISA_ROWS}")
add_executable(isa_gen ${ISA_GEN_SOURCES} ptx/isa_form.c ptx/types.c)
target_include_directories(isa_gen PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(isa_gen PRIVATE _GNU_SOURCE)
target_compile_options(isa_gen PRIVATE -Wall -Wextra)

set(PTXBRIDGE_GEN ${CMAKE_CURRENT_BINARY_DIR}/gen)
file(MAKE_DIRECTORY ${PTXBRIDGE_GEN})
set(PTXBRIDGE_FAMILIES int logic float half cvt compare move video special warp mma texture)
set(ISA_FILES ${PTXBRIDGE_GEN}/isa_table.inc ${PTXBRIDGE_GEN}/isa_meanings.inc ${PTXBRIDGE_GEN}/isa_handlers.inc ${PTXBRIDGE_GEN}/isa.md)
foreach(family ${PTXBRIDGE_FAMILIES})
  list(APPEND ISA_FILES ${PTXBRIDGE_GEN}/isa_wrap_${family}.h)
endforeach()
add_custom_command(OUTPUT ${ISA_FILES}
  COMMAND isa_gen ${PTXBRIDGE_GEN}
  DEPENDS isa_gen ${ISA_ROWS}
  COMMENT "Expanding the instruction table")
add_custom_target(ptxb_isa_files DEPENDS ${ISA_FILES})
