# SPDX-License-Identifier: MIT
# What is installed: headers, the library, and the files by which CMake and pkg-config find it. Knows no test.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/comad)

install(DIRECTORY include/comad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS comad EXPORT comadTargets)
install(EXPORT comadTargets NAMESPACE comad:: DESTINATION ${config_dir})

configure_package_config_file(cmake/comadConfig.cmake.in comadConfig.cmake INSTALL_DESTINATION ${config_dir})
# Before 1.0 a minor version promises nothing to the users of another.
write_basic_package_version_file(comadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/comadConfig.cmake ${PROJECT_BINARY_DIR}/comadConfigVersion.cmake
        DESTINATION ${config_dir})

# Relative to the file itself, so that the prefix may be chosen, or the tree moved, after configuring.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/comad.pc.in comad.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/comad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
