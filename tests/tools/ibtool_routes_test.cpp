// SPDX-License-Identifier: MIT
// ibtool_routes_test.cpp - tables of a whole subnet that OpenSM routed: dump_lfts and dump_mfts beside infiniband-diags' dump_fts, and
// the SA's tables beside the switches'.
#include "ibtool_subnet.hpp"

#include <algorithm>

namespace ibtool_routes_test { // compiled together with others

using namespace ibtool_rig;

namespace {

/// A stanza for each switch, in whatever order.
words stanzas_of(const std::string& text) {
    words all;
    for (const std::string& line : lines_in_order(text)) {
        if (line.find(" of switch ") != line.npos) all.emplace_back();
        REQUIRE_FALSE(all.empty());
        all.back() += line + '\n';
    }
    std::ranges::sort(all);
    return all;
}

void compare_tables(const subnet& s, const words& theirs, const words& ours) {
    CAPTURE(ours);
    const process_result peer = s.peer(theirs), r = s.ours(ours);
    REQUIRE(peer.status == 0);
    REQUIRE_FALSE(peer.out.empty());
    check_success(r);
    CHECK(stanzas_of(r.out) == stanzas_of(peer.out));
}

} // namespace

TEST_CASE("dump_lfts and dump_mfts print what infiniband-diags' dump_fts prints") {
    const subnet s;
    compare_tables(s, {"dump_fts"}, {"dump_lfts"});
    compare_tables(s, {"dump_fts", "-n"}, {"dump_lfts", "-n"});
    compare_tables(s, {"dump_fts", "-a"}, {"dump_lfts", "-a", "-D"});
    compare_tables(s, {"dump_fts", "2", "4"}, {"dump_lfts", "2", "4"});
    compare_tables(s, {"dump_fts", "3"}, {"dump_lfts", "3"});
    compare_tables(s, {"dump_fts", "-M"}, {"dump_mfts"});
    compare_tables(s, {"dump_fts", "-M", "-n"}, {"dump_lfts", "-M", "-n"});
    compare_tables(s, {"dump_fts", "-M", "-a", "0xc000", "0xc021"}, {"dump_mfts", "-a", "0xc000", "0xc021"});
}

TEST_CASE("a table of the SA that ibsim cuts after its first MAD is told as that") {
    const subnet s;
    for (const words& command :
         {words{"dump_lfts"}, words{"dump_lfts", "-n", "1", "3"}, words{"check_lft_balance", "--json"}}) {
        CAPTURE(command);
        const process_result by_SMP = s.ours(command), by_SA = s.ours(command + words{"--sa"});
        check_success(by_SMP);
        check_failure(by_SA, 1, "its RMPP transfer ended early, the first segment is all that came");
    }
    check_failure(s.ours({"ibcheckroutes", "--sa"}), 2, "there is no --sa for ibcheckroutes");
}

} // namespace ibtool_routes_test
