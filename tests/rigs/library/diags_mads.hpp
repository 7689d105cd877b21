// SPDX-License-Identifier: MIT
// diags_mads.hpp - what infiniband-diags' ibping and ibsysstat and their servers send.
#pragma once
#include "support/catch.hpp"
#include <comad/iba/types.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace comad::test {

using mad_vector = std::vector<u8>;

/// diags_linux.txt: a name and a MAD in hex on each line. name_request and name_reply, NAME one of ping, sysstat_ping,
/// sysstat_host, sysstat_cpu, as infiniband-diags 44.0 exchanged them on Linux 6.1: the request of ping and all replies as
/// libibmad printed them (-ddd), the requests of ibsysstat, which does not print them, as they arrived. The kernel's half
/// of the transaction ID is missing in the request of ping; requests and replies of ibsysstat are of different runs.
inline mad_vector diags_mad(const std::string& name) {
    std::ifstream in(std::filesystem::path(COMAD_SOURCE_DIR) / "tests/data/diags_linux.txt");
    for (std::string title, hex; in >> title >> hex;) {
        if (title != name) continue;
        mad_vector mad;
        for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
            mad.push_back(static_cast<u8>(std::stoi(hex.substr(i, 2), nullptr, 16)));
        REQUIRE(mad.size() == 256);
        return mad;
    }
    FAIL("no MAD '" << name << "'");
    return {};
}

} // namespace comad::test
