// SPDX-License-Identifier: MIT
// path_test.cpp - paths: their size, timeouts, reversal, and the texts that users read and write.
#include "support/catch.hpp"
#include <comad/mad/path.hpp>
#include <comad/mad/path_text.hpp>

#include <chrono>
#include <random>
#include <string>
#include <type_traits>

namespace path_test {

using namespace comad;
using mad::address;
using mad::any_path;
using mad::from_string;
using mad::IBDRPath;
using mad::IBPath;
using namespace std::chrono_literals;

namespace {

template <class... Port> IBDRPath route(Port... ports) {
    const std::array<u8, sizeof...(ports)> hops{static_cast<u8>(ports)...};
    return IBDRPath{hops};
}

IBPath to_lid(unsigned lid) {
    IBPath path;
    path.DLID = iba::lid{static_cast<u16>(lid)};
    return path;
}

IBPath to_gid(u64 prefix, u64 guid) {
    IBPath path;
    path.DGID = iba::gid(prefix, iba::guid{guid});
    return path;
}
constexpr u64 link_local = 0xfe80000000000000;

/// Returns a path with a different value in every member.
IBPath global_path() {
    IBPath path;
    path.SLID = iba::lid{3};
    path.DLID = iba::lid{7};
    path.SL = 4;
    path.pkey = 0x8001;
    path.pkey_index = 2;
    path.sqpn = 5;
    path.dqpn = 6;
    path.has_grh = true;
    path.SGID = iba::gid(link_local, iba::guid{0x11});
    path.DGID = iba::gid(0xfec0000000000001, iba::guid{0x22});
    path.SGID_index = 1;
    path.hop_limit = 9;
    path.traffic_class = 8;
    path.flow_label = 77;
    return path;
}

address parsed(std::string_view text, mad::hex_means hex = mad::hex_means::LID) {
    auto result = from_string(text, hex);
    INFO(text << ": " << (result ? "" : result.error().text));
    REQUIRE(result);
    return result.value();
}
any_path path_of(std::string_view text, mad::hex_means hex = mad::hex_means::LID) {
    const address a = parsed(text, hex);
    CHECK_FALSE(a.end_port);
    return a.path;
}

/// Returns the LIDs that a path of this kind has by default.
mad::path_headers usual_lids(const any_path& path) {
    return mad::directed(path) ? mad::headers_of(IBDRPath{}) : mad::headers_of(IBPath{});
}

struct failure {
    iba::errc code;
    std::string text;
};
failure failure_of(std::string_view text, mad::hex_means hex = mad::hex_means::LID) {
    auto result = from_string(text, hex);
    INFO("'" << text << "' was taken for " << (result ? spec_string(result.value().path) : ""));
    REQUIRE_FALSE(result);
    CHECK(result.error().text.find('\n') == std::string::npos);
    return {result.error().code, result.error().text};
}
constexpr iba::errc unreadable = iba::errc::unreadable;
constexpr iba::errc out_of_range = iba::errc::out_of_range;
constexpr iba::errc unknown_name = iba::errc::unknown_name;

} // namespace

// ---- paths ----------------------------------------------------------------------------------------------------------

TEST_CASE("a path is small and trivially copyable") {
    STATIC_REQUIRE(std::is_trivially_copyable_v<any_path>);
    STATIC_REQUIRE(sizeof(any_path) <= 112);
}

TEST_CASE("the timeout of a MAD is twice the packet lifetime plus the response time") {
    // 4.096 us * (2^19 + 2^20) is the 6.442 s of python-rdma.
    CHECK(mad_timeout(IBPath{}) == 6442450944ns);
    IBDRPath path;
    path.packet_life_time = 0;
    path.resp_time = 0;
    CHECK(mad_timeout(any_path{path}) == 4096ns * 3);
    path.packet_life_time = 14;
    path.resp_time = 8;
    CHECK(mad_timeout(path) == 4096ns * (32768 + 256));
}

TEST_CASE("every exponent gives a timeout that fits a duration") {
    IBPath path;
    for (unsigned exponent : {49, 50, 63, 255}) {
        path.packet_life_time = path.resp_time = static_cast<u8>(exponent);
        CHECK(mad_timeout(path) == 4096ns * ((std::int64_t{1} << 50) + (std::int64_t{1} << 49)));
    }
}

TEST_CASE("the path of a reply swaps the source and destination of the request") {
    const IBPath request = global_path();
    const IBPath reply = reverse(request);
    CHECK(reply.SLID == iba::lid{7});
    CHECK(reply.DLID == iba::lid{3});
    CHECK(reply.sqpn == 6);
    CHECK(reply.dqpn == 5);
    CHECK(reply.SGID == request.DGID);
    CHECK(reply.DGID == request.SGID);
    CHECK(reply.hop_limit == 255);
    IBPath back = reverse(reply);
    CHECK(back.hop_limit == 255);
    back.hop_limit = request.hop_limit;
    CHECK(back == request); // nothing else changed
    CHECK(reverse(any_path{request}) == any_path{reply});
}

TEST_CASE("the reply path without a GRH keeps the hop limit") {
    IBPath path = to_lid(7);
    path.hop_limit = 3;
    CHECK(reverse(path).hop_limit == 3);
}

TEST_CASE("the reply path keeps the hops of a directed route in order") {
    IBDRPath path = route(1, 4);
    path.DLID = iba::lid{9};
    path.SLID = path.drSLID = iba::lid{2};
    const IBDRPath reply = reverse(path);
    CHECK(reply.DLID == iba::lid{2});
    CHECK(reply.SLID == iba::lid{9});
    CHECK(reply.drSLID == iba::lid{2});
    CHECK(reply.drPath == path.drPath);
    CHECK(reverse(reply) == path);
    CHECK(reverse(any_path{path}) == any_path{reply});
}

TEST_CASE("a LID-routed path is complete with two unicast LIDs, and with two GIDs if it has a GRH") {
    IBPath path;
    const auto is_complete = [&](unsigned SLID, unsigned DLID) {
        path.SLID = iba::lid{static_cast<u16>(SLID)};
        path.DLID = iba::lid{static_cast<u16>(DLID)};
        return complete(any_path{path});
    };
    CHECK(is_complete(1, 1));
    CHECK(is_complete(0xbfff, 0xbfff));
    CHECK_FALSE(is_complete(0, 1));
    CHECK_FALSE(is_complete(1, 0));
    CHECK_FALSE(is_complete(1, 0xc000));
    CHECK_FALSE(is_complete(0xffff, 1));
    path.has_grh = true;
    CHECK_FALSE(is_complete(1, 1));
    path.DGID = iba::gid(link_local, iba::guid{1});
    CHECK_FALSE(is_complete(1, 1));
    path.SGID = iba::gid(link_local, iba::guid{2});
    CHECK(is_complete(1, 1));
}

TEST_CASE("a directed route is complete unless its LID-routed first part lacks a LID") {
    IBDRPath path = route(1);
    CHECK(complete(any_path{path}));
    CHECK(complete(any_path{IBDRPath{}}));
    path.drDLID = iba::lid{5};
    CHECK(complete(path));
    path.drSLID = iba::lid{2};
    CHECK_FALSE(complete(path));
    path.DLID = iba::lid{9};
    CHECK(complete(path));
    path.hopCount = 64;
    CHECK_FALSE(complete(path));
}

// ---- printing --------------------------------------------------------------------------------------------------------

TEST_CASE("to_string prints paths in the format of python-rdma") {
    CHECK(to_string(any_path{to_lid(7)}) == "Path 0 -> 7 SL=0 PKey=0xffff DQPN=1");
    IBPath path = global_path();
    CHECK(to_string(any_path{path}) == "Path fe80::11 3 -> fec0:0:0:1::22 7 TC=8 FL=77 HL=9 SL=4 PKey=0x8001 DQPN=6");
    path.has_grh = false;
    path.pkey = 0x1f;
    CHECK(to_string(any_path{path}) == "Path 3 -> 7 SL=4 PKey=0x001f DQPN=6");
    CHECK(to_string(any_path{IBDRPath{}}) == "DR Path (0)");
    CHECK(to_string(any_path{route(1, 4)}) == "DR Path (0, 1, 4)");
}

TEST_CASE("to_string prints the LID-routed parts of a directed route before and after the hops") {
    IBDRPath path = route(1, 4);
    path.drDLID = iba::lid{12};
    CHECK(to_string(any_path{path}) == "DR Path (0, 1, 4) -> 12");
    path.DLID = iba::lid{9};
    path.drSLID = iba::lid{2};
    CHECK(to_string(any_path{path}) == "DR Path 9 -> (0, 1, 4) -> 12");
    path.drDLID = iba::permissive_lid;
    CHECK(to_string(any_path{path}) == "DR Path 9 -> (0, 1, 4)");
}

// ---- parsing ---------------------------------------------------------------------------------------------------------

TEST_CASE("unicast LIDs are valid targets in decimal and hexadecimal") {
    CHECK(path_of("7") == any_path{to_lid(7)});
    CHECK(path_of(" 0x1F ") == any_path{to_lid(31)});
    CHECK(path_of("1") == any_path{to_lid(1)});
    CHECK(path_of("49151") == any_path{to_lid(0xbfff)});
    for (const char* text : {"0", "0x0", "0xc000", "65535", "65543", "99999999999999999999", "0x10000000000000007"})
        CHECK(failure_of(text).code == out_of_range);
    CHECK(failure_of("0xc000").text == "invalid unicast LID '0xc000'; must be 1..0xbfff");
}

TEST_CASE("directed routes are valid targets") {
    CHECK(path_of("0,") == any_path{IBDRPath{}});
    CHECK(path_of("0,1,4") == any_path{route(1, 4)});
    CHECK(path_of("0,1,4,") == any_path{route(1, 4)});
    CHECK(path_of("0, 1, 254") == any_path{route(1, 254)});
    CHECK(failure_of("0,255").code == out_of_range);
    CHECK(failure_of("0,99999999999999999999").code == out_of_range);
    CHECK(failure_of("1,4").text == "directed route '1,4' must start with 0, the local port");
    for (const char* text : {",", ",0", "0,,1", "0,x", "0,-1", "0,0x1", "0,1,4,,", "0;1,4"})
        CHECK(failure_of(text).code == unreadable);
}

TEST_CASE("a directed route with more than 63 hops is rejected") {
    std::string text = "0";
    for (int i = 0; i < 63; ++i) text += ",1";
    CHECK(mad::directed(path_of(text))->hopCount == 63);
    CHECK(mad::directed(path_of(text + ","))->hopCount == 63);
    CHECK(failure_of(text + ",1").code == out_of_range);
}

TEST_CASE("GIDs are valid targets without a LID") {
    CHECK(path_of("fe80::2:c903:0:1491") == any_path{to_gid(link_local, 0x0002c90300001491)});
    CHECK(path_of("FEC0:0000:0000:0001:0000:0000:0000:0001") == any_path{to_gid(0xfec0000000000001, 1)});
    CHECK(failure_of("::").code == out_of_range);
    for (const char* text : {"fe80::1::2", "fe80:::1", "1:2:3:4:5", "fe80::12345"})
        CHECK(failure_of(text).code == unreadable);
}

TEST_CASE("the port suffix of a GID target selects the local end port") {
    const address a = parsed("fe80::2:c903:0:1491%mlx5_0/1");
    CHECK(a.path == any_path{to_gid(link_local, 0x0002c90300001491)});
    CHECK(a.end_port == "mlx5_0/1");
    CHECK(parsed("fec0::1%0002:c903:0000:1492").end_port == "0002:c903:0000:1492");
    for (const char* text : {"fe80::1%", "%mlx5_0", "7%mlx5_0", "fe80::1%a%b", "0:0:0:1%mlx5_0", "%"})
        CHECK(failure_of(text).code == unreadable);
    CHECK(failure_of("::%mlx5_0").code == out_of_range);
}

TEST_CASE("a GUID target is the link-local GID of its port") {
    CHECK(path_of("0002:c903:0000:1491") == any_path{to_gid(link_local, 0x0002c90300001491)});
    CHECK(path_of("2:c903:0:1491") == any_path{to_gid(link_local, 0x0002c90300001491)});
    CHECK(path_of("0002c90300001491") == any_path{to_gid(link_local, 0x0002c90300001491)});
    CHECK(path_of("1234567890123456") == any_path{to_gid(link_local, 0x1234567890123456)}); // not a LID
    CHECK(failure_of("0:0:0:0").code == out_of_range);
    CHECK(failure_of("0000000000000000").code == out_of_range);
    // The wrong number of groups, or too long groups, although there are 16 digits in total.
    for (const char* text : {"0002c903:00001491", "0002:c903:00001491", "2:c903:0:1491:", ":2:c903:0:1491",
                             "00002:c903:0:1491", "0002c9030000149g", "2:c903:0:-1"})
        CHECK(failure_of(text).code == unreadable);
}

TEST_CASE("hexadecimal digits after 0x are a GUID if the caller requests a GUID") {
    const auto guid = mad::hex_means::GUID;
    CHECK(path_of("0x0002c90300001491", guid) == any_path{to_gid(link_local, 0x0002c90300001491)});
    CHECK(path_of("0x2c90300001491", guid) == any_path{to_gid(link_local, 0x0002c90300001491)});
    CHECK(path_of("7", guid) == any_path{to_lid(7)});
    CHECK(failure_of("0x0", guid).code == out_of_range);
    CHECK(failure_of("0x10000000000000000", guid).code == out_of_range);
    CHECK(failure_of("0x0002c90300001491").code == out_of_range);
}

TEST_CASE("the message for an invalid target lists the valid forms") {
    for (const char* text : {"", " ", "x", "-7", "+7", "7 8", "0x", "mlx5_0/1"})
        CHECK(failure_of(text).code == unreadable);
    CHECK_THAT(failure_of("switch\n7").text, Catch::StartsWith("invalid target 'switch\\x0a7'; expected a LID"));
    CHECK(failure_of(std::string(100000, 'x')).text.size() < 300);
    CHECK(failure_of(std::string("fe80::1\0", 8)).code == unreadable);
}

// ---- path specifications ---------------------------------------------------------------------------------------------

TEST_CASE("a path specification sets members by name") {
    IBPath path = to_lid(7);
    path.SL = 1;
    CHECK(path_of("IBPath(DLID=7, SL=1)") == any_path{path});
    CHECK(path_of(" Path ( SL = 0x1 ,DLID=7 ) ") == any_path{path});
    CHECK(path_of("IBPath(DGID=fe80::1, has_grh=True)") == path_of("IBPath(DGID=fe80::1, has_grh=1)"));
    CHECK(path_of("IBPath(has_grh=False)") == any_path{IBPath{}});
    CHECK(path_of("IBDRPath(drPath=0:1:4:)") == any_path{route(1, 4)});
    CHECK(path_of("IBDRPath(drPath=0:1:4)") == any_path{route(1, 4)});
    CHECK(path_of("IBDRPath(drPath=0:)") == any_path{IBDRPath{}});

    const any_path global{to_gid(link_local, 0x1491)};
    CHECK(path_of("IBPath(DGID=GID('fe80::1491'))") == global);
    CHECK(path_of("IBPath(DGID=GID(\"fe80::1491\"))") == global);
    CHECK(path_of("IBPath(DGID=GID( fe80::1491 ))") == global);
    CHECK(path_of("IBPath(DGID='fe80::1491')") == global);
    CHECK(path_of("IBPath(DGID=fe80::1491)") == global);
}

TEST_CASE("a path specification can name the end port") {
    const address a = parsed("IBPath(end_port='mlx4_0/1', DLID=7)");
    CHECK(a.path == any_path{to_lid(7)});
    CHECK(a.end_port == "mlx4_0/1");
    CHECK(parsed("IBDRPath(end_port=mlx4_0)").end_port == "mlx4_0");
    CHECK_FALSE(parsed("IBPath(end_port=None, DLID=7)").end_port);
    CHECK(failure_of("IBPath(end_port='')").code == unreadable);
}

TEST_CASE("each member of a path specification has the value range of its header field") {
    const struct {
        const char* name;
        u64 largest;
    } members[] = {{"SL", 15},
                   {"DLID", 0xffff},
                   {"SLID", 0xffff},
                   {"pkey", 0xffff},
                   {"pkey_index", 0xfffe},
                   {"dqpn", 0xffffff},
                   {"sqpn", 0xffffff},
                   {"qkey", 0xffffffff},
                   {"MTU", 63},
                   {"rate", 63},
                   {"packet_life_time", 63},
                   {"resp_time", 31},
                   {"retries", 255},
                   {"SGID_index", 255},
                   {"hop_limit", 255},
                   {"traffic_class", 255},
                   {"flow_label", 0xfffff},
                   {"dqpsn", 0xffffff},
                   {"sqpsn", 0xffffff},
                   {"drdatomic", 255},
                   {"srdatomic", 255},
                   {"min_rnr_timer", 31},
                   {"dack_resp_time", 31},
                   {"sack_resp_time", 31},
                   {"SLID_bits", 127},
                   {"DLID_bits", 127},
                   {"umad_agent_id", 0xffffffff}};
    for (const auto& [name, largest] : members) {
        const std::string begin = std::string("IBPath(") + name + "=";
        CHECK(from_string(begin + std::to_string(largest) + ")"));
        CHECK(failure_of(begin + std::to_string(largest + 1) + ")").code == out_of_range);
        CHECK(failure_of(begin + "99999999999999999999)").code == out_of_range);
    }
    for (const std::string name : {"drSLID", "drDLID"}) {
        CHECK(from_string("IBDRPath(" + name + "=65535)"));
        CHECK(failure_of("IBDRPath(" + name + "=65536)").code == out_of_range);
    }
    CHECK(failure_of("IBPath(SL=16)").text == "IBPath.SL: value '16' does not fit in 4 bits");
    CHECK(failure_of("IBPath(SL=True)").code == unreadable);
    CHECK(failure_of("IBPath(has_grh=true)").code == unreadable);
    CHECK(failure_of("IBPath(has_grh=2)").text == "IBPath.has_grh: value '2' does not fit in 1 bit");
    CHECK(failure_of("IBPath(MKey=0x10000000000000000)").code == out_of_range);
    CHECK(failure_of("IBDRPath(drPath=0:255)").code == out_of_range);
    CHECK(failure_of("IBDRPath(drPath=1:4)").code == out_of_range);
}

TEST_CASE("the message for an invalid path specification names the mistake") {
    CHECK(failure_of("IBPath(foo=1)").code == unknown_name);
    CHECK_THAT(failure_of("IBPath(DLIDS=1)").text,
               Catch::StartsWith("IBPath has no member 'DLIDS'; the nearest are DLID, "));
    CHECK(failure_of("IBPath(drPath=0:1)").code == unknown_name);  // a member of IBDRPath
    CHECK(failure_of("IBDRPath(has_grh=1)").code == unknown_name); // an IBDRPath has no GRH
    CHECK(failure_of("IBPath(complete=1)").code == unknown_name);  // not a member
    CHECK(failure_of("RDPath(DLID=1)").code == unknown_name);
    CHECK(failure_of("(DLID=1)").code == unknown_name);
    for (const char* text : {"IBPath()",
                             "IBPath( )",
                             "IBDRPath()",
                             "IBPath(",
                             "IBPath(DLID=7",
                             "IBPath(DLID=7)x",
                             "IBPath(DLID)",
                             "IBPath(DLID=)",
                             "IBPath(=7)",
                             "IBPath(DLID=7,)",
                             "IBPath(,DLID=7)",
                             "IBPath(,)",
                             "IBPath(DLID=7,,SL=1)",
                             "IBPath(DLID=7, DLID=8)",
                             "IBPath(DLID=seven)",
                             "IBPath(DLID=-1)",
                             "IBPath(DGID=7)",
                             "IBPath(DGID=GID('fe80::1)",
                             "IBDRPath(drPath=0)",
                             "IBDRPath(drPath=0::1)",
                             "IBDRPath(drPath=:)"})
        CHECK(failure_of(text).code == unreadable);
}

TEST_CASE("a path specification with a GRH needs a DGID") {
    for (const char* text : {"IBPath(DLID=8, has_grh=True)", "IBPath(has_grh=1, DLID=8)",
                             "IBPath(has_grh=1, SGID=fe80::1)", "IBPath(DLID=8, DGID=::, has_grh=1)"}) {
        CAPTURE(text);
        CHECK(failure_of(text).text == "IBPath: has_grh=True needs a DGID");
    }
    CHECK(from_string("IBPath(DLID=8, DGID=fe80::1, has_grh=True)"));
    CHECK(from_string("IBPath(DLID=8, has_grh=False)"));
}

TEST_CASE("the specification of a path lists by name the members that differ from the defaults") {
    CHECK(spec_string(any_path{IBPath{}}) == "IBPath(DLID=0)"); // a specification has at least one member
    IBPath path = to_lid(7);
    path.SL = 1;
    CHECK(spec_string(any_path{path}) == "IBPath(DLID=7, SL=1)");
    path.SLID = iba::lid{0xc000};
    path.pkey = 0x8001;
    path.qkey = 0x11;
    path.DGID = iba::gid(link_local, iba::guid{0x1491});
    CHECK(spec_string(any_path{path}) ==
          "IBPath(DGID=GID('fe80::1491'), DLID=7, SL=1, SLID=0xc000, pkey=0x8001, qkey=0x11)");
    IBDRPath mixed = route(1, 3);
    mixed.drDLID = iba::lid{12};
    CHECK(spec_string(any_path{mixed}) == "IBDRPath(drDLID=12, drPath=0:1:3:)");
    CHECK(spec_string(any_path{IBDRPath{}}) == "IBDRPath(drPath=0:)");
    CHECK(spec_string(any_path{route(0)}) == "IBDRPath(drPath=0:0:)");
}

TEST_CASE("a path specification contains the values of a queue pair") {
    const address a = parsed("IBPath(DLID=7, dqpsn=0x123456, sqpsn=9, drdatomic=4, srdatomic=16, min_rnr_timer=12, "
                             "dack_resp_time=15, sack_resp_time=14, umad_agent_id=3)");
    CHECK(a.path == any_path{to_lid(7)});
    CHECK(a.qp.dqpsn == 0x123456);
    CHECK(a.qp.sqpsn == 9);
    CHECK(a.qp.drdatomic == 4);
    CHECK(a.qp.srdatomic == 16);
    CHECK(a.qp.min_rnr_timer == 12);
    CHECK(a.qp.dack_resp_time == 15);
    CHECK(a.qp.sack_resp_time == 14);
    CHECK(a.umad_agent_id == 3u);
    // The defaults of python-rdma (rdma/path.py).
    const address usual = parsed("IBPath(DLID=7)");
    CHECK((usual.qp.dqpsn == 0 && usual.qp.sqpsn == 0 && usual.qp.min_rnr_timer == 0));
    CHECK((usual.qp.drdatomic == 255 && usual.qp.srdatomic == 255));
    CHECK((usual.qp.dack_resp_time == 20 && usual.qp.sack_resp_time == 20));
    CHECK_FALSE(usual.umad_agent_id);
}

// An LMC of N lets the low N bits of a LID vary (IBA 4.1.3).
TEST_CASE("LID bits in a path specification are added to the LID of the local port") {
    address a = parsed("IBPath(DLID=7, SLID_bits=3)");
    CHECK(mad::headers_of(a.path).SLID == iba::lid{});
    set_local_lid(a, iba::lid{0x48});
    CHECK(mad::headers_of(a.path).SLID == iba::lid{0x4b});
    CHECK(mad::headers_of(a.path).DLID == iba::lid{7});
    CHECK_FALSE(a.SLID_bits);
    set_local_lid(a, iba::lid{0x50}); // nothing is left to replace
    CHECK(mad::headers_of(a.path).SLID == iba::lid{0x4b});
    address own = parsed("IBPath(DLID_bits=0x1)");
    set_local_lid(own, iba::lid{0x48});
    CHECK(own.path == any_path{to_lid(0x49)});
    CHECK(failure_of("IBPath(DLID=7, DLID_bits=1)").text == "IBPath: DLID and DLID_bits exclude each other");
    CHECK(failure_of("IBPath(SLID_bits=1, SLID=7)").code == unreadable);
}

// The inputs of tests/path.py of python-rdma; the good ones as repr() prints them there.
TEST_CASE("from_string accepts and refuses the texts that python-rdma's tests list") {
    IBPath gid_path = to_gid(link_local, 1);
    CHECK(path_of("IBPath(end_port=None, DGID=GID('fe80::1'))") == any_path{gid_path});
    gid_path.SL = 10;
    gid_path.pkey = 0xff;
    CHECK(path_of("IBPath(end_port=None, DGID=GID('fe80::1'), SL=10, pkey=0xff)") == any_path{gid_path});
    gid_path = to_gid(link_local, 1);
    gid_path.SLID = iba::lid{0x12};
    gid_path.DLID = iba::lid{15};
    CHECK(path_of("IBPath(end_port=None, DGID=GID('fe80::1'), DLID=15, SLID=18)") == any_path{gid_path});
    CHECK(path_of("fe80::1") == any_path{to_gid(link_local, 1)});
    CHECK(path_of("0:0:0:1") == any_path{to_gid(link_local, 1)});
    CHECK(path_of("1") == any_path{to_lid(1)});
    CHECK(path_of("0xff") == any_path{to_lid(0xff)});
    CHECK(path_of("0,1") == any_path{route(1)});
    CHECK(path_of("0,") == any_path{IBDRPath{}});
    CHECK(path_of("IBDRPath(end_port=None, DLID=0xffff, SLID=0xffff, dqpn=0, drPath=0:1:, qkey=0x0, sqpn=0)") ==
          any_path{route(1)});
    CHECK(parsed("fe80::1%mlx5_0/1").path == any_path{to_gid(link_local, 1)});

    for (const char* text : {"xx", "0:0:0", "fe80::/", "fe80::1x", "Moo()", "IBPath()", "IBPath(XX=1)",
                             "IBPath(DLID=1x)", "IBPath(DLID=1 , x)", "IBPath(DLID=1 , SLID=)"})
        CHECK(failure_of(text).code != out_of_range);
    // python-rdma opens the end port at once. Here, the name stays a name until a program selects a local port by it.
    CHECK(parsed("IBPath(end_port=Moo)").end_port == "Moo");
}

TEST_CASE("every path survives printing and parsing of its specification") {
    std::mt19937_64 random(4);
    // Each member keeps its default half of the time. Otherwise it is zero, the largest value, or random.
    const auto bits = [&](unsigned count) {
        return random() % 4 == 0 ? ~u64{0} >> (64 - count) : random() >> (64 - count);
    };
    const auto maybe = [&](auto& member, unsigned count) {
        if (random() % 2 == 0) member = static_cast<std::remove_reference_t<decltype(member)>>(bits(count));
    };
    const auto headers = [&](mad::path_headers& p) {
        maybe(p.DLID, 16);
        maybe(p.SLID, 16);
        maybe(p.pkey, 16);
        maybe(p.pkey_index, 16);
        maybe(p.dqpn, 24);
        maybe(p.sqpn, 24);
        maybe(p.MKey, 64);
        maybe(p.qkey, 32);
        maybe(p.SL, 4);
        maybe(p.MTU, 6);
        maybe(p.rate, 6);
        maybe(p.packet_life_time, 6);
        maybe(p.resp_time, 5);
        maybe(p.retries, 8);
    };
    for (int i = 0; i < 3000; ++i) {
        IBPath by_lid;
        headers(by_lid);
        by_lid.has_grh = bits(1) != 0;
        maybe(by_lid.SMKey, 64);
        maybe(by_lid.CCKey, 64);
        maybe(by_lid.hop_limit, 8);
        maybe(by_lid.traffic_class, 8);
        maybe(by_lid.SGID_index, 8);
        maybe(by_lid.flow_label, 20);
        if (bits(1)) by_lid.SGID = iba::gid(bits(64), iba::guid{bits(64)});
        if (bits(1)) by_lid.DGID = iba::gid(bits(64), iba::guid{bits(64)});
        by_lid.has_grh = by_lid.has_grh && by_lid.DGID != iba::gid{}; // a GRH needs a DGID

        IBDRPath directed;
        headers(directed);
        maybe(directed.drSLID, 16);
        maybe(directed.drDLID, 16);
        for (auto left = bits(6); left > 0; --left) directed = directed.extended(static_cast<u8>(random() % 255));

        for (const any_path& path : {any_path{by_lid}, any_path{directed}}) {
            const std::string text = spec_string(path);
            INFO(text);
            auto read = from_string(text);
            REQUIRE(read);
            REQUIRE(read.value() == address{path, std::nullopt});

            address whole{path, std::nullopt};
            maybe(whole.qp.min_rnr_timer, 5);
            maybe(whole.qp.dack_resp_time, 5);
            maybe(whole.qp.sack_resp_time, 5);
            maybe(whole.qp.drdatomic, 8);
            maybe(whole.qp.srdatomic, 8);
            maybe(whole.qp.dqpsn, 24);
            maybe(whole.qp.sqpsn, 24);
            if (bits(1)) whole.umad_agent_id = static_cast<u32>(bits(32));
            if (bits(1)) whole.end_port = bits(1) ? "mlx5_0/1" : "None";
            if (bits(1) && mad::headers_of(path).SLID == usual_lids(path).SLID)
                whole.SLID_bits = static_cast<u8>(bits(7));
            if (bits(1) && mad::headers_of(path).DLID == usual_lids(path).DLID)
                whole.DLID_bits = static_cast<u8>(bits(7));
            const std::string all = spec_string(whole);
            INFO(all);
            auto again = from_string(all);
            REQUIRE(again);
            REQUIRE(again.value() == whole);
        }
    }
}

} // namespace path_test
