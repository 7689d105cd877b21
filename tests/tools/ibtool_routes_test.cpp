// SPDX-License-Identifier: MIT
// ibtool_routes_test.cpp - tables and routes of a whole subnet that OpenSM routed: dump_lfts and dump_mfts beside infiniband-diags'
// dump_fts, ibcheckroutes beside ibdmchk of ibutils.
#include "ibtool_subnet.hpp"

#include <algorithm>

namespace ibtool_routes_test { // compiled together with others

using namespace ibtool_rig;

namespace {

/// Switches in rows and columns whose ends are joined, a host at each.
std::string torus(unsigned columns, unsigned rows) {
    std::string text;
    const auto name = [&](unsigned x, unsigned y) {
        return std::to_string(x % columns) + "." + std::to_string(y % rows);
    };
    for (unsigned x = 0; x < columns; ++x) {
        for (unsigned y = 0; y < rows; ++y) {
            const std::string here = name(x, y), number = std::to_string(100 + x * rows + y);
            text += "\nswitchguid=0x5" + number + "\nSwitch\t5 \"S" + here + "\"\n[1]\t\"H" + here + "\"[1]\n[2]\t\"S" +
                    name(x + 1, y) + "\"[3]\n[3]\t\"S" + name(x + columns - 1, y) + "\"[2]\n";
            if (rows > 1) text += "[4]\t\"S" + name(x, y + 1) + "\"[5]\n[5]\t\"S" + name(x, y + rows - 1) + "\"[4]\n";
            text += "\ncaguid=0xa" + number + "0\nHca\t1 \"H" + here + "\"\n[1]\t\"S" + here + "\"[1]\n";
        }
    }
    return text;
}

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

/// What ibdmchk says of what OpenSM routed. When it is done it may crash, as it frees its memory.
std::string judged(const subnet& s) {
    const std::string said = process({"sh", "-c",
                                      "cd '" + (s.files() / "") +
                                          "' && ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs 2>&1; :"})
                                 .wait()
                                 .out;
    CAPTURE(said);
    REQUIRE_THAT(said, Contains("Verifying all CA to CA paths") && Contains("Using full credit loop check"));
    return said;
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

TEST_CASE("ibcheckroutes says of credit loops and cut routes what ibdmchk says") {
    if (process({"sh", "-c", "command -v ibdmchk"}).wait().status != 0) {
        WARN("skipped: ibdmchk is missing, of the package ibutils");
        return;
    }
    struct one {
        std::string_view name;
        std::string topology, engine;
    };
    const one all[] = {
        {"line", torus(2, 1), "minhop"}, {"ring", torus(5, 1), "minhop"}, {"torus", torus(3, 3), "updn"}};
    for (const one& o : all) {
        CAPTURE(o.name, o.engine);
        const subnet s(o.topology, manager::leaves, {"-D", "0x43", "-R", o.engine});
        const std::string said = judged(s);
        const process_result r = s.ours({"ibcheckroutes", "--json"});
        const auto summary = objects_of(r.out).back();
        CHECK((summary["credit_loops"] != 0) == (said.find("-E- credit loops in routing") != said.npos));
        CHECK(summary["cut"] == 0);
        CHECK_THAT(said, Contains("Scanned:" + std::to_string(summary["routes"].get<unsigned>()) + " CA to CA paths"));
        CHECK(r.status == (summary["credit_loops"] != 0 ? 1 : 0));
    }
}

} // namespace ibtool_routes_test
