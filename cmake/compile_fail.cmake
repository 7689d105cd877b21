# SPDX-License-Identifier: MIT
# compile_fail.cmake - the body of a compile_fail test: `source` compiles, and with `define` fails as `expect` says.
list(TRANSFORM includes PREPEND -I)
set(command ${compiler} -std=c++20 -fsyntax-only -Wall -Wextra ${includes} ${source})

execute_process(COMMAND ${command} RESULT_VARIABLE failed ERROR_VARIABLE diagnostics)
if(failed)
  message(FATAL_ERROR "does not even compile without ${define}:\n${diagnostics}")
endif()

execute_process(COMMAND ${command} ${define} RESULT_VARIABLE failed ERROR_VARIABLE diagnostics)
if(NOT failed)
  message(FATAL_ERROR "compiles with ${define}")
endif()
if(NOT diagnostics MATCHES "${expect}")
  message(FATAL_ERROR "fails for another reason than \"${expect}\":\n${diagnostics}")
endif()
