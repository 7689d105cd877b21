// SPDX-License-Identifier: MIT
// formatters_test.cpp - printing library types with fmt, with only the header of each type and fmt/core.h.
#include "support/catch.hpp"
#include <comad/counters/health.hpp>
#include <comad/counters/port_counters.hpp>
#include <comad/discovery/database/failure.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/error.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>

#include <fmt/core.h>

using namespace comad;

TEST_CASE("GUIDs, GIDs and LIDs are formatted as in the IBA and respect the format width") {
    const iba::guid GUID{0x0002c90300001491};
    CHECK(fmt::format("{}", GUID) == "0002:c903:0000:1491");
    CHECK(fmt::format("{:>21}", GUID) == "  0002:c903:0000:1491");
    CHECK(fmt::format("{}", iba::gid(iba::link_local_prefix, GUID)) == "fe80::2:c903:0:1491");
    CHECK(fmt::format("{:<21}|", iba::gid(iba::link_local_prefix, GUID)) == "fe80::2:c903:0:1491  |");
    CHECK(fmt::format("{} {:4} {:#06x}", iba::lid{7}, iba::lid{7}, iba::lid{7}) == "7    7 0x0007");
}

TEST_CASE("enumerators of the IBA are formatted by name, and unnamed values by number") {
    CHECK(fmt::format("{}", iba::PortState::Active) == "Active");
    CHECK(fmt::format("{:>8}|{:.3}", iba::NodeType::Switch, iba::NodeType::Switch) == "  Switch|Swi");
    CHECK(fmt::format("{}", iba::Method{0x7e}) == "?? 126");
}

TEST_CASE("formatters print paths and errors like their to_string functions") {
    const mad::IBDRPath route = mad::IBDRPath().extended(1).extended(4);
    CHECK(fmt::format("{}", route) == "DR Path (0, 1, 4)");
    CHECK(fmt::format("{:>20}", mad::any_path(route)) == "   DR Path (0, 1, 4)");
    mad::IBPath path;
    path.DLID = iba::lid{7};
    CHECK(fmt::format("{}", path) == to_string(path));
    CHECK(fmt::format("{}", iba::error{iba::errc::unreadable, "no such field"}) == "no such field");
    mad::mad_error e;
    e.code = mad::errc::timed_out;
    e.message("cannot read the port");
    CHECK(fmt::format("{}", e) == plain_text(e));
}

TEST_CASE("enumerators of sweeps, health rules and failures are formatted by name and respect the format width") {
    CHECK(fmt::format("{}", counters::counter::symbolErrorCounter) == "symbolErrorCounter");
    CHECK(fmt::format("{:>8}", counters::counter_change::state::reset) == "   reset");
    CHECK(fmt::format("{:9}|", counters::severity::critical) == "critical |");
    CHECK(fmt::format("{}", counters::health_finding::rule::growth) == "growth");
    CHECK(fmt::format("{}", discovery::failure_kind::error_reply) == "error_reply");
}
