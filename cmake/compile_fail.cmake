# SPDX-License-Identifier: MIT
# compile_fail.cmake - the body of a compile_fail test: the command after `--` must fail, with output that matches `expect`.
set(command)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(n RANGE ${last})
  if(DEFINED dashes)
    list(APPEND command "${CMAKE_ARGV${n}}")
  elseif(CMAKE_ARGV${n} STREQUAL "--")
    set(dashes ${n})
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE failed ERROR_VARIABLE diagnostics)
if(NOT failed)
  message(FATAL_ERROR "the source compiles, but must not")
endif()
if(NOT diagnostics MATCHES "${expect}")
  message(FATAL_ERROR "the source fails to compile, but not with \"${expect}\":\n${diagnostics}")
endif()
