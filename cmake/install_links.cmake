# SPDX-License-Identifier: MIT
# install_links.cmake - installs the component diags: links from the commands of infiniband-diags and their man pages to ibtool and its man
# pages. The program `ibtool` lists the names. Directories below the prefix: `bin`, `sbin`, `man`.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

execute_process(COMMAND ${ibtool} install-links --list OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" names "${names}")

file(RELATIVE_PATH program "/${sbin}" "/${bin}/ibtool")
file(MAKE_DIRECTORY "${root}/${sbin}" "${root}/${man}/man8")
foreach(name IN LISTS names)
  execute_process(COMMAND ${ibtool} help --man ${name} OUTPUT_VARIABLE page COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "Installing: ${root}/${sbin}/${name}")
  file(CREATE_LINK "${program}" "${root}/${sbin}/${name}" SYMBOLIC)
  # Other names of a command share its page. A .so request works for compressed and uncompressed pages.
  string(REGEX MATCH "ibtool\\\\-[^ ]+" own "${page}")
  string(REPLACE "\\" "" own "${own}")
  file(WRITE "${root}/${man}/man8/${name}.8" ".so man1/${own}.1\n")
endforeach()
