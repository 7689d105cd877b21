// SPDX-License-Identifier: MIT
// mad_message_test.cpp - requests byte by byte (IBA 13.4.3, 14.2.1), matching of replies, status codes, paths, and
// errors as text.
#include "support/catch.hpp"
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace comad;
using iba::Method;
using iba::MgmtClass;
using mad::any_path;
using mad::IBDRPath;
using mad::IBPath;
using mad::match;

namespace {

using mad_bytes = std::array<u8, mad::mad_size>;

template <class... Port> IBDRPath route(Port... ports) {
    const std::array<u8, sizeof...(ports)> hops{static_cast<u8>(ports)...};
    return IBDRPath{hops};
}

constexpr mad::rpc_kind kind_of(Method method, u16 attributeID = 0x15) {
    return {MgmtClass::SubnLID, 1, method, attributeID, true};
}
constexpr mad::rpc_kind get_port_info = kind_of(Method::Get);
constexpr mad::rpc_kind set_port_info = kind_of(Method::Set);

mad_bytes request(const mad::rpc_kind& kind, const any_path& path, u32 modifier = 0) {
    mad_bytes bytes;
    bytes.fill(0xee); // the memory was used before
    mad::write_request(bytes.data(), kind, path, modifier);
    return bytes;
}

/// Returns 256 zero bytes, except the bytes that are given by position.
mad_bytes expected(std::initializer_list<std::pair<std::size_t, std::vector<u8>>> parts) {
    mad_bytes bytes{};
    for (const auto& [at, part] : parts) std::copy(part.begin(), part.end(), bytes.begin() + at);
    return bytes;
}

/// Returns a valid reply, which the tests then change.
mad_bytes good_reply(const mad_bytes& to) {
    mad_bytes reply = to;
    reply[3] = 0x81;
    if (reply[1] == 0x81) reply[4] |= 0x80; // D: the SMP returns
    return reply;
}

} // namespace

// ---- requests -------------------------------------------------------------------------------------------------------

TEST_CASE("a LID-routed request consists of the common header, the M_Key and zeros") {
    IBPath path;
    path.DLID = iba::lid{7};
    path.MKey = 0x1122334455667788;
    CHECK(request(get_port_info, path, 0x01020304) ==
          expected({{0, {0x01, 0x01, 0x01, 0x01}}, // baseVersion, SubnLID, classVersion, Get
                    {16, {0x00, 0x15}},            // PortInfo
                    {20, {0x01, 0x02, 0x03, 0x04}},
                    {24, {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}}}));
}

TEST_CASE("a congestion control request carries the CC_Key of its path") {
    IBPath path;
    path.DLID = iba::lid{7};
    path.MKey = 1; // keys of other classes
    path.SMKey = 2;
    path.CCKey = 0x1122334455667788;
    constexpr mad::rpc_kind get_key_info{iba::MgmtClass::CongestionControl, 2, iba::Method::Get, 0x12, true};
    CHECK(request(get_key_info, path) == expected({{0, {0x01, 0x21, 0x02, 0x01}}, // baseVersion, class, version, Get
                                                   {16, {0x00, 0x12}},
                                                   {24, {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}}}));
}

TEST_CASE("a directed-route request has class 0x81, a hop count, permissive LIDs and the route") {
    IBDRPath path = route(1, 4, 36);
    path.MKey = 0xa1;
    CHECK(request(set_port_info, path, 4) ==
          expected({{0, {0x01, 0x81, 0x01, 0x02}}, // baseVersion, SubnDirected, classVersion, Set
                    {4, {0x00, 0x00, 0x00, 0x03}}, // D and status, hopPointer 0, hopCount 3
                    {16, {0x00, 0x15}},
                    {20, {0x00, 0x00, 0x00, 0x04}},
                    {24, {0, 0, 0, 0, 0, 0, 0, 0xa1}},
                    {32, {0xff, 0xff, 0xff, 0xff}}, // drSLID, drDLID
                    {128, {0, 1, 4, 36}}}));
}

TEST_CASE("a request contains the LID-routed parts of a directed route unchanged") {
    IBDRPath path = route(2);
    path.drSLID = iba::lid{0x0102};
    path.drDLID = iba::lid{0x0304};
    const mad_bytes bytes = request(get_port_info, path);
    CHECK(std::vector<u8>(bytes.begin() + 32, bytes.begin() + 36) == std::vector<u8>{1, 2, 3, 4});
}

TEST_CASE("the route to the local node has no hops") {
    CHECK(request(get_port_info, IBDRPath{}) ==
          expected({{0, {0x01, 0x81, 0x01, 0x01}}, {16, {0x00, 0x15}}, {32, {0xff, 0xff, 0xff, 0xff}}}));
}

TEST_CASE("a route of 63 hops fills the initial path to its end") {
    IBDRPath path;
    std::vector<u8> written{0};
    for (u8 port = 1; path.can_extend(); ++port) {
        path = path.extended(port);
        written.push_back(port);
    }
    CHECK(written.size() == 64);
    CHECK(request(get_port_info, path) == expected({{0, {0x01, 0x81, 0x01, 0x01}},
                                                    {7, {63}},
                                                    {16, {0x00, 0x15}},
                                                    {32, {0xff, 0xff, 0xff, 0xff}},
                                                    {128, written}}));
}

TEST_CASE("the payload of an SMP starts at byte 64") {
    mad_bytes bytes;
    CHECK(mad::write_request(bytes.data(), get_port_info, IBPath{}, 0) == bytes.data() + 64);
    CHECK(mad::write_request(bytes.data(), get_port_info, IBDRPath{}, 0) == bytes.data() + 64);
    CHECK(mad::payload_offset(MgmtClass::SubnLID) == 64);
    CHECK(mad::payload_offset(MgmtClass::SubnDirected) == 64);
}

TEST_CASE("only SMPs change their class on a directed route") {
    const mad::rpc_kind performance{MgmtClass::Performance, 1, Method::Get, 0x12, true};
    CHECK(mad::class_on(get_port_info, IBPath{}) == MgmtClass::SubnLID);
    CHECK(mad::class_on(get_port_info, IBDRPath{}) == MgmtClass::SubnDirected);
    CHECK(mad::class_on(performance, IBDRPath{}) == MgmtClass::Performance);
}

TEST_CASE("the engine owns only the low 32 bits of a transaction ID") {
    mad_bytes bytes;
    bytes.fill(0xee);
    mad::set_low_tid(bytes.data(), 0x01020304);
    CHECK(std::vector<u8>(bytes.begin() + 7, bytes.begin() + 17) ==
          std::vector<u8>{0xee, 0xee, 0xee, 0xee, 0xee, 1, 2, 3, 4, 0xee});
    CHECK(mad::low_tid(bytes.data()) == 0x01020304);
}

// ---- replies --------------------------------------------------------------------------------------------------------

namespace {

/// Returns how a MAD relates to `requested`, which was sent on `path`.
match relation(const mad_bytes& requested, const any_path& path, std::span<const u8> reply, iba::lid SLID = {},
               bool is_table = false) {
    return mad::match_reply(mad::pattern_of_reply(requested.data(), path), reply, SLID, is_table);
}

IBPath to_lid(u16 DLID) {
    IBPath path;
    path.DLID = iba::lid{DLID};
    return path;
}

} // namespace

TEST_CASE("a GetResp of the same class and attribute matches a Get and a Set") {
    for (const mad::rpc_kind& kind : {get_port_info, set_port_info}) {
        for (const any_path& path : {any_path{IBPath{}}, any_path{route(1)}}) {
            const mad_bytes requested = request(kind, path);
            CHECK(relation(requested, path, good_reply(requested)) == match::reply);
        }
    }
}

TEST_CASE("a reply must repeat class version and OUI of its request, and PortSelect if the attribute has one") {
    mad_bytes requested = request(get_port_info, IBPath{});
    mad_bytes reply = good_reply(requested);
    CHECK(mad::broken_echo(requested, reply).empty());
    reply[2] = 2;
    CHECK(mad::broken_echo(requested, reply) == "its class version is 2, not 1 as in the request");

    requested = request({iba::MgmtClass::VendOUI, 1, Method::Get, 0x10, true, 0x001405}, IBPath{});
    reply = good_reply(requested);
    CHECK(mad::broken_echo(requested, reply).empty());
    reply[39] = 6; // the last byte of the OUI (IBA 16.5)
    CHECK(mad::broken_echo(requested, reply) == "its OUI is 0x001406, not 0x001405 as in the request");

    unsigned with_PortSelect = 0;
    for (const iba::structure& s : iba::structures()) {
        const auto is_counted = [](const iba::attribute_use& u) { return u.mgmt_class == iba::MgmtClass::Performance; };
        if (std::none_of(s.uses.begin(), s.uses.end(), is_counted)) continue;
        CAPTURE(s.info->name);
        const bool has_PortSelect = bool(iba::find_field(*s.info, "portSelect"));
        with_PortSelect += has_PortSelect;
        for (const Method method : {Method::Get, Method::Set}) {
            requested = request({iba::MgmtClass::Performance, 1, method, s.attributeID, true}, IBPath{});
            requested[65] = 5; // IBA 16.1.3.5: the second byte of the data
            reply = good_reply(requested);
            CHECK(mad::broken_echo(requested, reply).empty());
            reply[65] = 6;
            CHECK(mad::broken_echo(requested, reply) ==
                  (has_PortSelect ? "its PortSelect is 6, not 5 as in the request" : ""));
            reply[65] = 0;
            CHECK(mad::broken_echo(requested, reply).empty() == (!has_PortSelect || method == Method::Set));
        }
    }
    CHECK(with_PortSelect >= 15);
}

TEST_CASE("the reply method of other methods is the request method with the response bit") {
    const std::map<Method, u8> responses{{Method::GetTable, 0x92}, {Method::GetTraceTable, 0x92},
                                         {Method::GetMulti, 0x94}, {Method::Report, 0x86},
                                         {Method::Delete, 0x95},   {Method::Trap, 0x07}};
    for (const auto& [method, response] : responses) {
        const mad_bytes requested = request(kind_of(method), IBPath{});
        mad_bytes reply = requested;
        reply[3] = response;
        CHECK(relation(requested, IBPath{}, reply) == match::reply);
        reply[3] = 0x81;
        CHECK(relation(requested, IBPath{}, reply) == match::wrong_method);
    }
}

TEST_CASE("match reports the field in which a reply differs from its request") {
    const any_path path = route(1, 2);
    const mad_bytes requested = request(get_port_info, path, 0x01020304);
    struct spoiling {
        std::size_t at;
        u8 value;
        match seen;
    };
    const auto s =
        GENERATE(
            values<spoiling>({
                {0, 2, match::wrong_version},
                {1, 0x01, match::wrong_class}, // LID-routed, although the request used a directed route
                {1, 0x04, match::wrong_class},
                {3, 0x01, match::not_a_response}, // a request with our transaction ID
                {3, 0x02, match::not_a_response},
                {3, 0x07, match::not_a_response}, // TrapRepress
                {3, 0x82, match::wrong_method},   // SetResp does not exist
                {3, 0x86, match::wrong_method},
                {4, 0x00, match::wrong_direction}, // our own request, returned
                {7, 1, match::wrong_route},        // of another length
                {7, 3, match::wrong_route},
                {16, 0xff, match::wrong_attribute},
                {17, 0x11, match::wrong_attribute},
                {20, 0xff, match::wrong_modifier},
                {21, 0xff, match::wrong_modifier},
                {22, 0xff, match::wrong_modifier},
                {23, 0x05, match::wrong_modifier}, // of another port
                {129, 2, match::wrong_route},
                {130, 1, match::wrong_route},
            }));
    CAPTURE(s.at, s.value);
    mad_bytes reply = good_reply(requested);
    REQUIRE(reply[s.at] != s.value);
    reply[s.at] = s.value;
    CHECK(relation(requested, path, reply) == s.seen);
}

TEST_CASE("match compares every hop of a directed route and no byte after the last hop") {
    for (unsigned hops = 0; hops <= IBDRPath::max_hops; ++hops) {
        IBDRPath path;
        for (unsigned i = 1; i <= hops; ++i) path = path.extended(static_cast<u8>(i));
        const mad_bytes requested = request(get_port_info, path);
        const auto is_reply = [&](const mad_bytes& reply) {
            const bool matches = relation(requested, path, reply) == match::reply;
            return matches && mad::return_path_matches(path, reply);
        };
        CAPTURE(hops);
        REQUIRE(is_reply(good_reply(requested)));
        for (unsigned i = 0; i < 64; ++i) {
            mad_bytes reply = good_reply(requested);
            reply[128 + i] ^= 0x40;
            CAPTURE(i);
            REQUIRE(is_reply(reply) == (i == 0 || i > hops)); // the first byte is not a hop
        }
    }
}

TEST_CASE("match requires the queried LID as the source of a reply if the LID is known") {
    const any_path path = to_lid(7);
    const mad_bytes requested = request(get_port_info, path);
    const mad_bytes reply = good_reply(requested);
    CHECK(relation(requested, path, reply, iba::lid{7}) == match::reply);
    CHECK(relation(requested, path, reply, iba::lid{8}) == match::wrong_route);
    CHECK(relation(requested, path, reply, iba::lid{0x107}) == match::wrong_route);
    // A missing address does not contradict: RoCE adapters, ports without a LID, directed routes.
    CHECK(relation(requested, path, reply, iba::lid{0}) == match::reply);
    CHECK(relation(requested, path, reply, iba::permissive_lid) == match::reply);
    const any_path anybody = to_lid(0xffff), directed = route(1);
    CHECK(relation(request(get_port_info, anybody), anybody, reply, iba::lid{8}) == match::reply);
    const mad_bytes requested_on_route = request(get_port_info, directed);
    CHECK(relation(requested_on_route, directed, good_reply(requested_on_route), iba::lid{8}) == match::reply);
}

TEST_CASE("a ClassPortInfo with redirection status matches any request") {
    const any_path path = to_lid(7);
    const mad_bytes requested = request(kind_of(Method::Get), path, 9);
    mad_bytes reply = good_reply(requested);
    reply[16] = 0;
    reply[17] = 1;
    CHECK(relation(requested, path, reply) == match::wrong_attribute);
    reply[5] = 0x02;
    CHECK(relation(requested, path, reply) == match::reply);
    reply[23] = 0;
    CHECK(relation(requested, path, reply) == match::reply);
}

TEST_CASE("the lowest bit of the modifier is the response bit in baseboard management") {
    const mad::rpc_kind kind{MgmtClass::BM, 1, Method::Send, 0x10, false};
    const mad_bytes requested = request(kind, to_lid(7), 0x100);
    mad_bytes reply = requested;
    reply[3] |= 0x80;
    reply[23] |= 1;
    CHECK(relation(requested, to_lid(7), reply) == match::reply);
    reply[23] |= 2;
    CHECK(relation(requested, to_lid(7), reply) == match::wrong_modifier);
}

TEST_CASE("a reply that is not exactly one MAD long is rejected, unless the reply is a table") {
    const mad_bytes by_route = request(get_port_info, route(1)), by_lid = request(kind_of(Method::GetTable), to_lid(7));
    std::vector<u8> of_route, table;
    for (const u8 byte : good_reply(by_route)) of_route.push_back(byte);
    for (const u8 byte : by_lid) table.push_back(byte);
    table[3] = 0x92;
    of_route.resize(400);
    table.resize(400);
    for (std::size_t size = 0; size <= 400; ++size) {
        CAPTURE(size);
        const bool is_whole = size == mad::mad_size;
        const std::span<const u8> one = std::span(of_route).first(size), other = std::span(table).first(size);
        CHECK(relation(by_route, route(1), one) == (is_whole ? match::reply : match::wrong_size));
        CHECK(relation(by_route, route(1), one, {}, true) == (is_whole ? match::reply : match::wrong_size));
        CHECK(relation(by_lid, to_lid(7), other) == (is_whole ? match::reply : match::wrong_size));
        CHECK(relation(by_lid, to_lid(7), other, {}, true) == (size >= 36 ? match::reply : match::wrong_size));
    }
}

TEST_CASE("match ignores the fields that a reply may change") {
    const any_path path = route(1, 2);
    const mad_bytes requested = request(get_port_info, path, 5);
    mad_bytes reply = good_reply(requested);
    reply[2] = 9;                                            // class version
    reply[4] = 0x87;                                         // D, status
    reply[5] = 0x1c;                                         // status
    reply[6] = 9;                                            // hopPointer
    for (std::size_t i = 8; i < 12; ++i) reply[i] = 0x77;    // the transport's half of the transaction ID
    reply[18] = reply[19] = 0x66;                            // reserved
    for (std::size_t i = 24; i < 128; ++i) reply[i] = 0x55;  // M_Key, LIDs, payload
    for (std::size_t i = 131; i < 256; ++i) reply[i] = 0x44; // after the route: the return path
    CHECK(relation(requested, path, reply) == match::reply);
    CHECK(mad::return_path_matches(std::get<IBDRPath>(path), reply));
}

// ---- status ---------------------------------------------------------------------------------------------------------

TEST_CASE("the D bit of a directed route is not part of the status") {
    mad_bytes reply = good_reply(request(get_port_info, route(1)));
    reply[4] = 0x80;
    CHECK(mad::status_of(reply.data()) == 0);
    reply[5] = 0x1c;
    CHECK(mad::status_of(reply.data()) == 0x1c);
    reply[4] = 0xff;
    CHECK(mad::status_of(reply.data()) == 0x7f1c);
}

TEST_CASE("the status of a MAD without directed route has 16 bits") {
    mad_bytes reply = good_reply(request(get_port_info, IBPath{}));
    reply[4] = 0x83;
    reply[5] = 0x01;
    CHECK(mad::status_of(reply.data()) == 0x8301);
}

TEST_CASE("common status bits take precedence over class-specific bits") {
    CHECK(mad::evaluate(0) == std::nullopt);
    for (u16 bit : {0x01, 0x02, 0x04, 0x08, 0x10}) CHECK(mad::evaluate(bit) == mad::errc::status);
    CHECK(mad::evaluate(0x031c) == mad::errc::status);
    CHECK(mad::evaluate(0x0300) == mad::errc::class_status);
    CHECK(mad::evaluate(0x8000) == mad::errc::class_status);
}

TEST_CASE("status_text describes each status in words") { // IBA 13.4.7
    CHECK(mad::status_text(0x0001) == "busy");
    CHECK(mad::status_text(0x0002) == "redirect");
    CHECK(mad::status_text(0x0004) == "bad base or class version");
    CHECK(mad::status_text(0x0008) == "method not supported");
    CHECK(mad::status_text(0x000c) == "method and attribute combination not supported");
    CHECK(mad::status_text(0x001c) == "invalid attribute or attribute modifier");
    CHECK(mad::status_text(0x0010) == "?? 4");
    CHECK(mad::status_text(0x001d) == "busy, invalid attribute or attribute modifier");
    CHECK(mad::status_text(0x0300) == "class specific 3");
}

// ---- errors as text -------------------------------------------------------------------------------------------------

namespace {

mad::mad_error error_of(mad::errc code, const any_path& path) {
    mad::mad_error e;
    e.code = code;
    e.mgmt_class = mad::class_on(get_port_info, path);
    e.class_version = 1;
    e.method = Method::Get;
    e.attributeID = 0x15;
    e.detail = std::make_unique<mad::error_detail>();
    e.detail->path = path;
    return e;
}

} // namespace

TEST_CASE("an error is one line with request, cause and location") {
    CHECK(to_string(error_of(mad::errc::timed_out, route(1, 4))) ==
          "RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPPortInfo(21) timed out to 'DR Path (0, 1, 4)'");
}

TEST_CASE("each kind of error prints its cause") {
    IBPath path;
    path.DLID = iba::lid{7};
    const std::string rpc = "RPC MAD_METHOD_GET(1) SMPFormat(1.1) SMPPortInfo(21) ";

    mad::mad_error e = error_of(mad::errc::status, path);
    e.status = 0x1c;
    CHECK(to_string(e) == rpc + "got error status 0x1c - invalid attribute or attribute modifier from 'Path 0 -> 7 "
                                "SL=0 PKey=0xffff DQPN=1'");

    e = error_of(mad::errc::class_status, path);
    e.status = 0x0300;
    CHECK(to_string(e) == rpc + "got class specific error 3 from 'Path 0 -> 7 SL=0 PKey=0xffff DQPN=1'");

    CHECK(to_string(error_of(mad::errc::malformed_reply, path)) ==
          rpc + "got a malformed reply from 'Path 0 -> 7 SL=0 PKey=0xffff DQPN=1'");

    e = error_of(mad::errc::send_failed, path);
    e.sys_errno = EINVAL;
    CHECK(to_string(e) == rpc + "could not be sent to 'Path 0 -> 7 SL=0 PKey=0xffff DQPN=1' (Invalid argument)");

    e = error_of(mad::errc::transport_failed, path);
    e.sys_errno = ENODEV;
    CHECK(to_string(e) == rpc + "lost its transport (No such device)");

    CHECK(to_string(error_of(mad::errc::cancelled, path)) == rpc + "was cancelled");

    e = error_of(mad::errc::out_of_range, path);
    e.detail->invalid_value = "SMPPortInfo.LMC: value 9 does not fit in 3 bits";
    CHECK(to_string(e) ==
          rpc +
              "was not sent to 'Path 0 -> 7 SL=0 PKey=0xffff DQPN=1': SMPPortInfo.LMC: value 9 does not fit in 3 bits");
}

TEST_CASE("an error prints the context that was added last first") {
    mad::mad_error e = error_of(mad::errc::timed_out, route(1));
    e.message("reading port 3").message("discovering");
    CHECK(to_string(e) == "discovering [RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPPortInfo(21) timed out to "
                          "'DR Path (0, 1)']");
}

TEST_CASE("the plain text of an error names the target, the request, the attempts and the elapsed time") {
    using namespace std::chrono_literals;
    IBPath path;
    path.DLID = iba::lid{999};
    const auto of = [&](mad::errc code, auto change) {
        mad::mad_error e = error_of(code, path);
        change(e);
        return e;
    };
    mad::mad_error e = error_of(mad::errc::timed_out, path);
    e.attributeID = 0x11;
    e.attempts = 3;
    e.elapsed = 1234ms;
    CHECK(plain_text(e) == "LID 999 did not reply to NodeInfo (3 attempts, 1.2 s)");
    CHECK(cause_text(e) == "NodeInfo timed out");
    e.attempts = 1;
    e.elapsed = 12ms;
    e.message("reading port 3");
    CHECK(plain_text(e) == "reading port 3: LID 999 did not reply to NodeInfo (1 attempt, 12 ms)");
    CHECK(cause_text(e) == "NodeInfo timed out");
    e.elapsed = 125s;
    CHECK_THAT(plain_text(e), Catch::EndsWith("(1 attempt, 125 s)"));
    CHECK(plain_text(error_of(mad::errc::timed_out, route(1, 4))) == "route 0,1,4 did not reply to PortInfo");
    CHECK(plain_text(error_of(mad::errc::timed_out, route())) == "the local node did not reply to PortInfo");

    mad::IBDRPath behind = route(3);
    behind.drSLID = iba::lid{5};
    behind.DLID = iba::lid{7};
    CHECK(plain_text(error_of(mad::errc::timed_out, behind)) == "route 0,3 from LID 7 did not reply to PortInfo");

    struct {
        mad::mad_error error;
        std::string words, cause;
    } const lines[] = {
        {of(mad::errc::status, [](auto& x) { x.status = 0x1c; }),
         "LID 999 refused PortInfo: invalid attribute or attribute modifier (status 0x1c)",
         "PortInfo refused: invalid attribute or attribute modifier (status 0x1c)"},
        {of(mad::errc::class_status,
            [](auto& x) {
                x.mgmt_class = iba::MgmtClass::SubnAdm;
                x.class_version = 2;
                x.attributeID = 0x35;
                x.method = Method::GetTable;
                x.status = 0x0300;
            }),
         "the SA at LID 999 refused PathRecord: no records (status 0x300)",
         "PathRecord refused: no records (status 0x300)"},
        {of(mad::errc::class_status, [](auto& x) { x.status = 0x0900; }), "LID 999 refused PortInfo: status 0x900",
         "PortInfo refused: status 0x900"},
        {of(mad::errc::malformed_reply, [](auto&) {}), "LID 999 sent a malformed reply to PortInfo",
         "PortInfo: malformed reply"},
        {of(mad::errc::malformed_reply, [](auto& x) { x.detail->invalid_value = "the attribute is truncated"; }),
         "LID 999 sent a malformed reply to PortInfo: the attribute is truncated",
         "PortInfo: malformed reply: the attribute is truncated"},
        {of(mad::errc::send_failed, [](auto& x) { x.sys_errno = EINVAL; }),
         "PortInfo could not be sent to LID 999: Invalid argument", "PortInfo could not be sent: Invalid argument"},
        {of(mad::errc::transport_failed, [](auto& x) { x.sys_errno = ENODEV; }),
         "the device failed before LID 999 replied to PortInfo: No such device", "the device failed: No such device"},
        {of(mad::errc::cancelled, [](auto&) {}), "stopped before LID 999 replied to PortInfo", "stopped"},
        {of(mad::errc::out_of_range,
            [](auto& x) { x.detail->invalid_value = "SMPPortInfo.LMC: value 9 does not fit in 3 bits"; }),
         "PortInfo was not sent to LID 999: SMPPortInfo.LMC: value 9 does not fit in 3 bits",
         "PortInfo was not sent: SMPPortInfo.LMC: value 9 does not fit in 3 bits"},
        {of(mad::errc::incomplete_path, [](auto&) {}), "PortInfo was not sent: the LID of its target is unknown",
         "the LID is unknown"},
        {of(mad::errc::incomplete_path,
            [](auto& x) {
                x.mgmt_class = iba::MgmtClass::SubnAdm;
                x.class_version = 2;
                x.attributeID = 0x12;
            }),
         "PortInfoRecord was not sent: no subnet manager has configured the local port",
         "no subnet manager has configured the local port"},
        {of(mad::errc::timed_out, [](auto& x) { x.method = Method::Set; }), "LID 999 did not reply to Set of PortInfo",
         "Set of PortInfo timed out"},
        {of(mad::errc::timed_out, [](auto& x) { x.attributeID = 0x7777; }), "LID 999 did not reply to attribute 0x7777",
         "attribute 0x7777 timed out"},
    };
    for (const auto& line : lines) {
        CHECK(plain_text(line.error) == line.words);
        CHECK(cause_text(line.error) == line.cause);
    }
}

TEST_CASE("is_unsupported is true for statuses of unsupported requests and false for BUSY and timeouts") {
    mad::mad_error e = error_of(mad::errc::status, route(1));
    for (const u16 status : {0x04, 0x08, 0x0c, 0x1c, 0x1d}) { // IBA 13.4.7
        e.status = status;
        CHECK(is_unsupported(e));
    }
    e.status = 0x01; // only BUSY
    CHECK_FALSE(is_unsupported(e));
    CHECK_FALSE(is_unsupported(error_of(mad::errc::timed_out, route(1))));
}

TEST_CASE("an error without detail accepts context") {
    mad::mad_error e;
    e.message("reading port 3");
    CHECK(to_string(e).starts_with("reading port 3 ["));
}

// ---- paths ----------------------------------------------------------------------------------------------------------

TEST_CASE("packets to one LID have one destination, whatever their service level or queue pair") {
    IBPath path;
    path.DLID = iba::lid{7};
    const u64 key = destination_key(any_path{path});
    path.SL = 3;
    path.dqpn = 0x55;
    path.pkey_index = 2;
    path.MKey = 1;
    CHECK(destination_key(any_path{path}) == key);
    path.DLID = iba::lid{8};
    CHECK(destination_key(any_path{path}) != key);
}

TEST_CASE("every directed route is its own destination, and the bytes after its last hop are ignored") {
    std::map<u64, std::string> seen;
    for (unsigned length = 0; length <= 63; ++length) {
        for (unsigned changed = 0; changed <= length; ++changed) {
            IBDRPath path;
            for (unsigned hop = 1; hop <= length; ++hop) path = path.extended(hop == changed ? 9 : 1);
            const u64 key = destination_key(any_path{path});
            CHECK(key != 0);
            CHECK(seen.emplace(key, to_string(any_path{path})).first->second == to_string(any_path{path}));

            IBDRPath littered = path;
            for (unsigned at = length + 1; at < 64; ++at) littered.drPath[at] = 0x33;
            CHECK(destination_key(any_path{littered}) == key);
        }
    }
}

TEST_CASE("equal hops with another source LID or destination LID are another destination") {
    const u64 key = destination_key(any_path{route(1, 2)});
    IBDRPath from = route(1, 2);
    from.DLID = iba::lid{5};
    IBDRPath to = route(1, 2);
    to.drDLID = iba::lid{5};
    CHECK(destination_key(any_path{from}) != key);
    CHECK(destination_key(any_path{to}) != key);
}
