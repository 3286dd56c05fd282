# libcudart.so.13 and .12, for programs linked with CUDA's shared runtime: one source over the driver's public functions, built once for
# each release's layouts. They lie beside libcuda.so.1 in a folder of their own, because nobody wants them on the linker's path by accident.
file(GLOB CUDART_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/cudart/*.c)
foreach(major 12 13)
  add_library(ptxb_cudart_${major} SHARED ${CUDART_SOURCES})
  set_target_properties(ptxb_cudart_${major} PROPERTIES PREFIX "" OUTPUT_NAME libcudart SUFFIX .so.${major} NO_SONAME ON
                        LIBRARY_OUTPUT_DIRECTORY ${PTXBRIDGE_CUDA_LIBRARIES}
                        LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/cudart/exports_${major}.map)
  target_compile_definitions(ptxb_cudart_${major} PRIVATE CUDART_MAJOR=${major})
  target_link_libraries(ptxb_cudart_${major} PRIVATE ptxb_flags Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(ptxb_cudart_${major} PRIVATE -Wl,-soname,libcudart.so.${major} -Wl,-Bsymbolic -Wl,-z,defs
                      -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/runtime/cudart/exports_${major}.map)
  install(TARGETS ptxb_cudart_${major} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ptxbridge)
endforeach()
