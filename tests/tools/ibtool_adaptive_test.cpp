// SPDX-License-Identifier: MIT
// ibtool_adaptive_test.cpp - switches with adaptive routing: their ARInfo, and the message of ibcheckroutes about
// routes that it cannot check.
#include "program/ibtool_rig.hpp"

#include <nlohmann/json.hpp>

namespace ibtool_adaptive_test {

using namespace ibtool_rig;

namespace {

const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual";

/// Returns the last JSON object that a command printed, which is its summary.
nlohmann::json summary_of(const process_result& r) {
    const words lines = lines_in_order(r.out);
    REQUIRE_FALSE(lines.empty());
    return nlohmann::json::parse(lines.back());
}

} // namespace

// The bytes are computed by hand from struct adaptive_routing_info in ibdiagnet's packets_layouts.h, where bit 0 is the
// least significant bit of a word. No two fields have the same value.
TEST_CASE("MlnxARInfo has its fields at the offsets of ibdiagnet's header") {
    const process_result r = run({"decode", "--struct", "MlnxARInfo", "--json",
                                  "505a3611"   // dyn_cap_calc_sup, by_sl_en; 0x5a; 3; 6; fr_enabled, e
                                  "941237ff"   // 9, 4, 0x123, 0x7ff
                                  "beef2132"   // 0xbeef, 0x21, 3, 2
                                  "0000000b"   // 0xb
                                  "00010203" + // 0x10203
                                      std::string(88, '0')});
    check_success(r);
    const auto all = nlohmann::json::parse(r.out);
    const nlohmann::json expected{{"dyn_cap_calc_sup", 1},
                                  {"by_transp_cap", 0},
                                  {"by_sl_en", 1},
                                  {"by_sl_cap", 0},
                                  {"glb_groups", 0},
                                  {"is4_mode", 0},
                                  {"no_fallback", 0},
                                  {"direction_num_sup", 0x5a},
                                  {"group_table_copy_sup", 3},
                                  {"sub_grps_active", 6},
                                  {"rn_xmit_enabled", 0},
                                  {"fr_enabled", 1},
                                  {"is_fr_sup", 0},
                                  {"is_frn_sup", 0},
                                  {"is_arn_sup", 0},
                                  {"e", 1},
                                  {"string_width_cap", 9},
                                  {"group_table_cap", 4},
                                  {"group_top", 0x123},
                                  {"group_cap", 0x7ff},
                                  {"enable_by_sl_mask", 0xbeef},
                                  {"sub_grps_supported", 0x21},
                                  {"rn_version_cap", 3},
                                  {"ar_version_cap", 2},
                                  {"by_transport_disable", 0xb},
                                  {"ageing_time_value", 0x10203}};
    for (const auto& [name, number] : expected.items()) {
        CAPTURE(name);
        const auto& found = all.contains(name) ? all.at(name) : all.at("data").at(name);
        CHECK((found.is_boolean() ? nlohmann::json(found.get<bool>() ? 1 : 0) : found) == number);
    }
}

TEST_CASE("ibcheckroutes prints the number of adaptive switches and that it did not check adaptive routes") {
    const process_result some = run({"ibcheckroutes", "--fabric", tree + ",ar=spine-0001,ar=leaf-0002"});
    check_success(some);
    CHECK_THAT(some.out,
               Contains("0 credit loops\n") &&
                   EndsWith("##          2 switches use adaptive routing: only the static tables were checked, not the "
                            "adaptive routes\n"));
    const auto sum = summary_of(run({"ibcheckroutes", "--json", "--fabric", tree + ",ar=spine-0001,ar=leaf-0002"}));
    CHECK(sum["adaptive_switches"] == 2);
    CHECK(sum["adaptive_switches_unknown"] == 0);
    CHECK(sum["adaptive_routes_checked"] == false);
    CHECK(sum["complete"] == true);

    const process_result one = run({"ibcheckroutes", "--fabric", tree + ",ar=spine-0001"});
    CHECK_THAT(one.out, Contains("1 switch uses adaptive routing: "));
    const process_result none = run({"ibcheckroutes", "--fabric", tree});
    check_success(none);
    CHECK_THAT(none.out, !Contains("adaptive"));
    CHECK(summary_of(run({"ibcheckroutes", "--json", "--fabric", tree}))["adaptive_switches"] == 0);
    CHECK(summary_of(run({"ibcheckroutes", "--json", "--fabric", tree + ",ar=1"}))["adaptive_switches"] == 6);
}

TEST_CASE("ibcheckroutes queries ARInfo only at switches that support it") {
    const directory files;
    const std::string others =
        files.write("others.topo", "vendid=0x15b3\ndevid=0x1234\nswitchguid=0x20(20)\n"
                                   "Switch 2 \"S-0000000000000020\" # \"odd\" base port 0 lid 2 lmc 0\n"
                                   "[1] \"H-0000000000000010\"[1](11) # \"host\" lid 1 4xSDR\n\n"
                                   "caguid=0x10\nCa 1 \"H-0000000000000010\" # \"host\"\n"
                                   "[1](11) \"S-0000000000000020\"[1] # lid 1 lmc 0 \"odd\" lid 2 4xSDR\n");
    const process_result r =
        run({"ibcheckroutes", "--fabric", "sim:" + others + ",sm=host,at=host,time=virtual", "-d"});
    CHECK(r.status == 0);
    CHECK_THAT(r.err, !Contains("MlnxARInfo") && !Contains("0xff20"));
    const process_result checked = run({"ibcheckroutes", "--fabric", tree, "-d"});
    CHECK_THAT(checked.err, Contains("MlnxARInfo") || Contains("0xff20"));
}

} // namespace ibtool_adaptive_test
