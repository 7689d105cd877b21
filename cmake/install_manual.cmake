# SPDX-License-Identifier: MIT
# install_manual.cmake - at installation: the man pages of all commands and the completion of bash, as the program `ibtool` makes
# them, to the directories `man` and `completions` below the prefix.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

function(install_what_it_prints file)
  execute_process(COMMAND ${ibtool} help ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "Installing: ${root}/${file}")
  file(WRITE "${root}/${file}" "${text}")
endfunction()

execute_process(COMMAND ${ibtool} help --json OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\"command\":\"[^\"]+" commands "${commands}")
list(TRANSFORM commands REPLACE ".*\"" "")

install_what_it_prints(${man}/man1/ibtool.1 --man)
foreach(command IN LISTS commands)
  install_what_it_prints(${man}/man1/ibtool-${command}.1 --man ${command})
endforeach()
install_what_it_prints(${completions}/ibtool --completion bash)
