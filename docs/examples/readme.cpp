// SPDX-License-Identifier: MIT
// readme.cpp - the program of README.md: prints the LID of the local port.
#include <comad/fabric/open_fabric.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>

using namespace comad;
using iba::smp::PortInfo;

int main(int argc, char** argv) {
    auto fabric = open_fabric(argc > 1 ? argv[1] : "sim:fattree2,radix=4,sm=1");
    if (!fabric) {
        fmt::print(stderr, "{}\n", fabric.error());
        return 1;
    }
    const mad::IBDRPath local_port;
    const auto info = fabric.value().run(fabric.value().schedule().SubnGet<PortInfo>(local_port));
    if (!info) {
        fmt::print(stderr, "{}\n", info.error());
        return 1;
    }
    fmt::print("The local port has LID {} and is {}\n", info.value().LID, info.value().portState);
    //> The local port has LID 1 and is Active
}
