# SPDX-License-Identifier: MIT
# Findfmt.cmake - fmt from its headers, because Debian's libfmt is only for the architecture of the machine.
if(NOT TARGET fmt::fmt)
  add_library(fmt::fmt INTERFACE IMPORTED)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
endif()
set(fmt_FOUND TRUE)
