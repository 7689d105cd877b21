# SPDX-License-Identifier: MIT
# testing.cmake - functions that build and register tests.
set(COMAD_TEST_LABEL "" CACHE STRING "Build only the test executables with this label [all]")
set(COMAD_TEST_WITHOUT_LABEL "" CACHE STRING "Do not build the test executables with this label")
option(COMAD_TEST_WHOLE "Register one ctest test per test executable instead of one per test case, for executables that start slowly" OFF)

find_package(Catch2 2.13 REQUIRED)
include(Catch)

# The main function of Catch2. Optimizing it would double its compile time without a benefit.
add_library(comad_test_main OBJECT rigs/support/main.cpp)
target_link_libraries(comad_test_main PUBLIC Catch2::Catch2)
target_compile_options(comad_test_main PRIVATE -O0)

# The tests check the library as its preset compiles it. The tests themselves are not optimized, which halves their build time.
# Coroutine tests need some optimization with GCC.
set(comad_test_optimization $<IF:$<CONFIG:Debug>,-O0,-Og>)

# The headers that most tests include, precompiled once with the flags of the tests. Targets with other flags cannot share the result.
file(CONFIGURE OUTPUT catch_pch.cpp CONTENT "")
add_library(comad_test_pch OBJECT ${CMAKE_CURRENT_BINARY_DIR}/catch_pch.cpp)
target_link_libraries(comad_test_pch PRIVATE comad::comad Catch2::Catch2)
target_precompile_headers(comad_test_pch PRIVATE rigs/support/catch.hpp
  <algorithm> <deque> <map> <random> <set> <sstream> <fmt/format.h>
  <comad/coro/driver.hpp> <comad/iba/pm.hpp> <comad/iba/sa.hpp> <comad/iba/smp.hpp>)
target_compile_options(comad_test_pch PRIVATE ${comad_test_optimization})

# comad_test_options(NAME): sets the compile options of tests. With COMAD_UNITY, several sources are compiled as one, because instantiating
# the templates of Catch2 and comad in each source takes longer than compiling the source.
function(comad_test_options name)
  target_link_libraries(${name} PRIVATE comad::comad Catch2::Catch2)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/rigs)
  target_precompile_headers(${name} REUSE_FROM comad_test_pch)
  # -Wno-maybe-uninitialized as for the tool, -Wno-subobject-linkage as for the library.
  target_compile_options(${name} PRIVATE ${comad_test_optimization}
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-subobject-linkage>)
  if(COMAD_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
endfunction()

# comad_test(NAME SOURCES a.cpp ... [LABELS scale threads] [LIBRARIES x ...] [OVER_KERNEL])
# Builds the executable NAME. Each TEST_CASE becomes the ctest test "NAME/title"; with COMAD_TEST_WHOLE, all become the test NAME. A title
# must not contain semicolons or backslashes.
# Labels:
#   scale      the time limit is ten minutes instead of two, and the sanitizers skip the test
#   threads    ThreadSanitizer runs the test too
#   arm64      scripts/arm64 --all runs the test too
#   ibtool     the test only runs the tool; COMAD_IBTOOL in its environment selects the tool of another build
#   real_time  the test uses a server in real time, such as ibsim; if it fails, scripts/test runs it again once
# OVER_KERNEL registers the test cases a second time as "NAME/kernel/title", with the kernel model in front of the simulated fabric
# (tests/rigs/kernel/kernel_of_this_run.hpp) and without the test cases tagged [bare].
function(comad_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OVER_KERNEL" "" "SOURCES;LABELS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "comad_test(${name}): expects SOURCES, LABELS, LIBRARIES, OVER_KERNEL; "
                        "unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(COMAD_TEST_LABEL AND NOT COMAD_TEST_LABEL IN_LIST arg_LABELS)
    return()
  endif()
  if(COMAD_TEST_WITHOUT_LABEL AND COMAD_TEST_WITHOUT_LABEL IN_LIST arg_LABELS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  comad_test_options(${name})
  target_link_libraries(${name} PRIVATE comad_test_main comad_rigs ${arg_LIBRARIES})

  set(properties TIMEOUT 120)
  if(scale IN_LIST arg_LABELS OR COMAD_TEST_WHOLE)
    set(properties TIMEOUT 600)
  endif()
  set(over_kernel COMAD_TEST_KERNEL=2025)
  if(COMAD_TEST_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties} LABELS "${arg_LABELS}")
    if(arg_OVER_KERNEL)
      add_test(NAME ${name}/kernel COMMAND ${name} ~[bare])
      set_tests_properties(${name}/kernel PROPERTIES ${properties} LABELS "${arg_LABELS}" ENVIRONMENT ${over_kernel})
    endif()
    return()
  endif()
  if(arg_LABELS)
    # The function and script of Catch2 split lists five times on the way to the test.
    string(REPEAT "\\" 5 escape)
    list(JOIN arg_LABELS "${escape};" labels)
    list(APPEND properties LABELS "${labels}")
  endif()
  # Without `-w NoTests`, a title that Catch2 does not find, because of a special character, would pass.
  catch_discover_tests(${name} TEST_PREFIX "${name}/" EXTRA_ARGS -w NoTests PROPERTIES ${properties})
  if(arg_OVER_KERNEL)
    catch_discover_tests(${name} TEST_SPEC ~[bare] TEST_PREFIX "${name}/kernel/" EXTRA_ARGS -w NoTests
      PROPERTIES ${properties} ENVIRONMENT ${over_kernel})
  endif()
endfunction()

# comad_guest_program(NAME SOURCES a.cpp ... [LIBRARIES x ...])
# Builds a test executable that runs only in the guest (tests/guest/), and appends it to COMAD_GUEST_PROGRAMS of the caller. The programs
# run in the order of registration.
function(comad_guest_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "comad_guest_program(${name}): expects SOURCES, LIBRARIES; unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  comad_test_options(${name})
  target_link_libraries(${name} PRIVATE comad_test_main comad_rigs ${arg_LIBRARIES})
  set(COMAD_GUEST_PROGRAMS ${COMAD_GUEST_PROGRAMS} ${name} PARENT_SCOPE)
endfunction()

# comad_compile_fail_test(NAME SOURCE file.cpp EXPECT "regex" [WRONG n])
# Registers a ctest test NAME that passes if the compiler rejects file.cpp with -DCOMAD_WRONG (or -DCOMAD_WRONG=n) and prints text that
# matches `regex`. It runs only after the test "file.cpp compiles", which compiles the file without the definition.
function(comad_compile_fail_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;EXPECT;WRONG" "")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCE OR NOT arg_EXPECT)
    message(FATAL_ERROR "comad_compile_fail_test(${name}): expects SOURCE, EXPECT, WRONG; unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(define -DCOMAD_WRONG)
  if(DEFINED arg_WRONG)
    string(APPEND define =${arg_WRONG})
  endif()

  set(includes -I$<JOIN:$<TARGET_PROPERTY:comad,INTERFACE_INCLUDE_DIRECTORIES>,$<SEMICOLON>-I>)
  set(compile ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only ${includes} ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SOURCE})
  set(compiles "${arg_SOURCE} compiles")
  if(NOT TEST ${compiles})
    add_test(NAME ${compiles} COMMAND ${compile} COMMAND_EXPAND_LISTS)
    set_tests_properties(${compiles} PROPERTIES FIXTURES_SETUP ${compiles} TIMEOUT 120)
  endif()
  add_test(NAME ${name}
    COMMAND ${CMAKE_COMMAND} "-Dexpect=${arg_EXPECT}" -P ${PROJECT_SOURCE_DIR}/cmake/compile_fail.cmake -- ${compile} ${define}
    COMMAND_EXPAND_LISTS)
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED ${compiles} TIMEOUT 120)
endfunction()
