// SPDX-License-Identifier: MIT
// diags_mads.hpp - MADs that ibping and ibsysstat of infiniband-diags and their servers send.
#pragma once
#include "support/catch.hpp"
#include <comad/iba/types.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace comad::test {

using mad_vector = std::vector<u8>;

/// Reads diags_linux.txt, which has a name and a MAD in hex on each line. Names are NAME_request and NAME_reply, where
/// NAME is ping, sysstat_ping, sysstat_host or sysstat_cpu. infiniband-diags 44.0 exchanged these MADs on Linux 6.1.
/// The request of ping and all replies were printed by libibmad (-ddd). The requests of ibsysstat were recorded on
/// arrival. The request of ping lacks the half of the transaction ID that the kernel sets. Requests and replies of
/// ibsysstat come from different runs.
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
