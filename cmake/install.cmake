# SPDX-License-Identifier: MIT
# What is installed, by components: lib (the library, its headers, and the files by which CMake and pkg-config find it), and
# from their own folders tool and doc. Knows no test.
include(CMakePackageConfigHelpers)

install(CODE "set(CMAKE_INSTALL_DO_STRIP ON)" ALL_COMPONENTS) # the line numbers of a build are for those who have its tree

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/comad)

if(NOT COMAD_HAS_VERBS)
  set(without_verbs REGEX "/comad/verbs$" EXCLUDE REGEX "/transports/verbs\\.hpp$" EXCLUDE)
endif()
install(DIRECTORY include/comad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT lib
        FILES_MATCHING PATTERN "*.hpp" ${without_verbs})
install(TARGETS comad EXPORT comadTargets COMPONENT lib)
if(NOT BUILD_SHARED_LIBS) # CMake strips no archive
  install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:comad>\"
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT lib)
endif()
install(EXPORT comadTargets NAMESPACE comad:: DESTINATION ${config_dir} COMPONENT lib)

configure_package_config_file(cmake/comadConfig.cmake.in comadConfig.cmake INSTALL_DESTINATION ${config_dir})
# Before 1.0 a minor version promises nothing to the users of another.
write_basic_package_version_file(comadConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/comadConfig.cmake ${PROJECT_BINARY_DIR}/comadConfigVersion.cmake
        DESTINATION ${config_dir} COMPONENT lib)

# Relative to the file itself, so that the prefix may be chosen, or the tree moved, after configuring.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# What comad itself needs. A shared library names it to the linker. An archive cannot, and pkg-config takes Libs.private only
# with --static, which would also choose the archives of every other library.
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
