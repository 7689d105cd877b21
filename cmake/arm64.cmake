# SPDX-License-Identifier: MIT
# arm64.cmake - the toolchain that compiles for arm64 and runs the programs with QEMU (scripts/arm64). It needs no packages of the
# architecture arm64 except those of the compiler, because the library uses only headers of other projects (arm64/Findfmt.cmake).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/arm64)
