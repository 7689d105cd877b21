# SPDX-License-Identifier: MIT
# install_links.cmake - at installation of the component diags: links of infiniband-diags' names to the program, and of their man
# pages to its own, of those that the program `ibtool` knows. Directories below the prefix: `bin`, `sbin`, `man`.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

# What Debian's infiniband-diags 44 has in /usr/sbin.
set(names
  check_lft_balance dump_fts dump_lfts dump_mfts ibaddr ibcacheedit ibccconfig ibccquery ibfindnodesusing ibhosts ibidsverify
  iblinkinfo ibnetdiscover ibnodes ibping ibportstate ibqueryerrors ibroute ibrouters ibstat ibstatus ibswitches ibsysstat
  ibtracert perfquery saquery sminfo smpdump smpquery vendstat)

file(RELATIVE_PATH program "/${sbin}" "/${bin}/ibtool")
file(MAKE_DIRECTORY "${root}/${sbin}" "${root}/${man}/man8")
foreach(name IN LISTS names)
  execute_process(COMMAND ${ibtool} help --man ${name} OUTPUT_VARIABLE page ERROR_QUIET RESULT_VARIABLE unknown)
  if(unknown)
    message(STATUS "No command yet: ${name}")
    continue()
  endif()
  message(STATUS "Installing: ${root}/${sbin}/${name}")
  file(CREATE_LINK "${program}" "${root}/${sbin}/${name}" SYMBOLIC)
  # Other names of a command share its page. Such a link holds whether pages are compressed or not.
  string(REGEX MATCH "ibtool\\\\-[^ ]+" own "${page}")
  string(REPLACE "\\" "" own "${own}")
  file(WRITE "${root}/${man}/man8/${name}.8" ".so man1/${own}.1\n")
endforeach()
