# SPDX-License-Identifier: MIT
# install_manual.cmake - at installation: the man pages of all commands and what shells complete with, as the program `ibtool` makes
# them, to the directories `man` and, for the shells, `data` below the prefix.
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
install_what_it_prints(${data}/bash-completion/completions/ibtool --completion bash)
install_what_it_prints(${data}/zsh/vendor-completions/_ibtool --completion zsh)
install_what_it_prints(${data}/fish/vendor_completions.d/ibtool.fish --completion fish)
