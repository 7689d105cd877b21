#!/usr/bin/sed -Ef
# SPDX-License-Identifier: MIT
# reference_header.sed - a header as Doxygen takes it, line for line: its first lines, behind that of the licence, are the comment of
# the file, and a specialization of another project's template stands without the namespace, which Doxygen does not know.
1s|.*|/// @file|
2,/^#pragma/s|^// |/// |
s/^(template <.*> (struct|class) )[a-z:]+::([a-z_]+<comad::)/\1\3/
