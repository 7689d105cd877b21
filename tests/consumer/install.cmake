# SPDX-License-Identifier: MIT
# install.cmake - installs `build` into an empty `prefix`; the installed ibtool finds what it needs.
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${prefix}/bin/ibtool --version COMMAND_ERROR_IS_FATAL ANY)
