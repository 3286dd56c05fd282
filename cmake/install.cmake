# install targets, find_package(ptxbridge) and pkg-config
install(TARGETS ptxbridge EXPORT ptxbridge_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ptxbridge_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/ptxbridge.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT ptxbridge_targets NAMESPACE ptxbridge:: FILE ptxbridgeTargets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ptxbridge)
configure_package_config_file(cmake/ptxbridgeConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/ptxbridgeConfig.cmake
        INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ptxbridge)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ptxbridgeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ptxbridgeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ptxbridgeConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ptxbridge)
# Relative, so that `cmake --install --prefix` and a moved tree stay right.
file(RELATIVE_PATH PTXBRIDGE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/ptxbridge.pc.in ${CMAKE_CURRENT_BINARY_DIR}/ptxbridge.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ptxbridge.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
