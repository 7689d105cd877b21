# SPDX-License-Identifier: MIT
# install.cmake - installs `build` into an empty `prefix`.
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix} COMMAND_ERROR_IS_FATAL ANY)
