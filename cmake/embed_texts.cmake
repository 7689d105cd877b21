# SPDX-License-Identifier: MIT
# embed_texts.cmake - writes `output`, a C++ initializer with a pair {"name", "text"} for each of the `files` name.md.
set(content "")
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  string(APPEND content "{\"${name}\", R\"text~(${text})text~\"},\n")
endforeach()
file(WRITE ${output} "${content}")
