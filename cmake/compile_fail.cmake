# SPDX-License-Identifier: MIT
# compile_fail.cmake - the body of a compile_fail test: the command after `--` fails, and as `expect` says.
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
  message(FATAL_ERROR "the compiler takes it")
endif()
if(NOT diagnostics MATCHES "${expect}")
  message(FATAL_ERROR "fails for another reason than \"${expect}\":\n${diagnostics}")
endif()
