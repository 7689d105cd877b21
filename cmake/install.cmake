# SPDX-License-Identifier: MIT
# Installs the component lib: the library, its headers, and the files with which CMake and pkg-config find it. The directories tools
# and docs install the components tool and doc.
include(CMakePackageConfigHelpers)

install(CODE "set(CMAKE_INSTALL_DO_STRIP ON)" ALL_COMPONENTS) # line numbers are only useful with the source tree

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/comad)

if(NOT COMAD_HAS_VERBS)
  set(without_verbs REGEX "/comad/verbs$" EXCLUDE REGEX "/transports/verbs\\.hpp$" EXCLUDE)
endif()
install(DIRECTORY include/comad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT lib
        FILES_MATCHING PATTERN "*.hpp" ${without_verbs}
        # They need nlohmann_json, which users of the library do not.
        REGEX "/iba/detail/json\\.hpp$" EXCLUDE REGEX "/counters/detail/sweep_state_json\\.hpp$" EXCLUDE)
install(TARGETS comad EXPORT comadTargets COMPONENT lib)
if(NOT BUILD_SHARED_LIBS) # CMake does not strip archives
  install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:comad>\"
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT lib)
endif()
install(EXPORT comadTargets NAMESPACE comad:: DESTINATION ${config_dir} COMPONENT lib)

configure_package_config_file(cmake/comadConfig.cmake.in comadConfig.cmake INSTALL_DESTINATION ${config_dir})
# Before 1.0, minor versions are not compatible with each other.
write_basic_package_version_file(comadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/comadConfig.cmake ${PROJECT_BINARY_DIR}/comadConfigVersion.cmake
        DESTINATION ${config_dir} COMPONENT lib)

# The path is relative to the file itself, so you can choose the prefix or move the tree after configuring.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# The libraries that comad needs. A shared library names them to the linker, an archive cannot. pkg-config uses Libs.private only with
# --static, which would also select the archives of all other libraries.
set(pc_libs_private -pthread)
if(COMAD_HAS_VERBS)
  string(APPEND pc_libs_private " -libverbs")
endif()
if(NOT BUILD_SHARED_LIBS)
  set(pc_libs_of_archive " ${pc_libs_private}")
  set(pc_libs_private)
endif()
configure_file(cmake/comad.pc.in comad.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/comad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT lib)
