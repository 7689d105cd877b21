// SPDX-License-Identifier: MIT
// topologies.cpp - fuzzes topology files: a file that is read, written and read again gives the same text.
#include "fuzz.hpp"
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/discovery/formats/subnet_file.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <sstream>
#include <stdexcept>
#include <string_view>

using namespace comad;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto read = discovery::read_topology_file(text, "fuzz");
        fuzz::require(read.skipped.empty() || fuzz::is_one_line(read.skipped));
        fuzz::require(!discovery::json_text(read.found).empty());
        fuzz::require(discovery::differences(read.found, read.found).empty());
        // If a file is damaged, the text may lack information that only a damaged line has, such as the GUID of a port
        // without a link. A name with escaped bytes can be longer than the 64 bytes of a NodeDescription, and is cut
        // when it is read again.
        std::string written = discovery::format_topology(read.found, {}, {});
        if (!read.skipped.empty() || written.find('\\') != written.npos)
            written = discovery::format_topology(discovery::read_topology_file(written, "once").found, {}, {});
        fuzz::require(discovery::format_topology(discovery::read_topology_file(written, "again").found, {}, {}) ==
                      written);
        std::istringstream in{std::string(text)};
        std::string skipped;
        transports::sim::read_topology(in, "fuzz", &skipped);
    } catch (const std::runtime_error& e) {
        fuzz::require(fuzz::is_one_line(e.what()));
    }
    return 0;
}
