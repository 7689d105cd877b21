# SPDX-License-Identifier: MIT
# install_manual.cmake - installs the man pages of all commands and the completion files of the shells. The program `ibtool` generates both.
# Directories below the prefix: `man` for pages, `data` for completion.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

function(install_help file)
  execute_process(COMMAND ${ibtool} help ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "Installing: ${root}/${file}")
  file(WRITE "${root}/${file}" "${text}")
endfunction()

execute_process(COMMAND ${ibtool} help --json OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\"command\":\"[^\"]+" commands "${commands}")
list(TRANSFORM commands REPLACE ".*\"" "")

install_help(${man}/man1/ibtool.1 --man)
foreach(command IN LISTS commands)
  install_help(${man}/man1/ibtool-${command}.1 --man ${command})
endforeach()
install_help(${data}/bash-completion/completions/ibtool --completion bash)
install_help(${data}/zsh/vendor-completions/_ibtool --completion zsh)
install_help(${data}/fish/vendor_completions.d/ibtool.fish --completion fish)
