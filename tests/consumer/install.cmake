# SPDX-License-Identifier: MIT
# install.cmake - installs `build` into an empty `prefix`, and checks that the installed ibtool finds its files.
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${prefix}/bin/ibtool --version COMMAND_ERROR_IS_FATAL ANY)
