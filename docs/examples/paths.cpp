// SPDX-License-Identifier: MIT
// paths.cpp - paths and their texts: the pieces of docs/reference/library.md. It prints what the comments say.
#include <comad/mad/path.hpp>
#include <comad/mad/path_text.hpp>

#include <fmt/format.h>

using namespace comad;

namespace {

void texts() {
    for (const char* text : {"7", "0,1,4", "0002:c903:0000:1491", "IBPath(DLID=7, SL=1)", "0xc000"}) {
        const auto target = mad::from_string(text);
        fmt::print("{}\n", target ? spec_string(target.value().path) : target.error().text);
    }
    //> IBPath(DLID=7)
    //> IBDRPath(drPath=0:1:4:)
    //> IBPath(DGID=GID('fe80::2:c903:0:1491'))
    //> IBPath(DLID=7, SL=1)
    //> invalid unicast LID '0xc000'; must be 1..0xbfff
}

void members() {
    mad::IBPath path;
    path.SLID = iba::lid{3};
    path.DLID = iba::lid{7};
    path.packet_life_time = 14;
    fmt::print("{}\n", to_string(reverse(path)));
    fmt::print("{} us\n", mad_timeout(path) / std::chrono::microseconds(1));
    //> Path 7 -> 3 SL=0 PKey=0xffff DQPN=1
    //> 4429185 us
}

void mixed_routes() {
    mad::IBDRPath route = mad::IBDRPath().extended(1).extended(4);
    route.DLID = iba::lid{9};                // LID-routed to the switch with LID 9 ...
    route.SLID = route.drSLID = iba::lid{3}; // ... from our own port,
    route.drDLID = iba::lid{12};             // and from the end of the route on to LID 12
    fmt::print("{}\n", to_string(route));
    //> DR Path 9 -> (0, 1, 4) -> 12
}

} // namespace

int main() {
    texts();
    members();
    mixed_routes();
}
