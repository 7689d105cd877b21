// SPDX-License-Identifier: MIT
// iba_checked_test.cpp - values that do not fit into a structure are rejected with an error message.
#include "iba_samples.hpp"
#include "support/catch.hpp"
#include <comad/iba/checked_codec.hpp>
#include <comad/iba/detail/compare_structures.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>

#include <array>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::iba;
using namespace comad::test;

namespace {

template <wire T> std::string refusal(const T& value) {
    const auto bytes = encode_checked(value);
    CHECK(!fits(value));
    REQUIRE(!bytes);
    CHECK(bytes.error().code == errc::out_of_range);
    return bytes.error().text;
}

constexpr smp::PortInfo port_with_lmc(u8 LMC) {
    smp::PortInfo port;
    port.LMC = LMC;
    return port;
}
static_assert(fits(port_with_lmc(7)));
static_assert(!fits(port_with_lmc(8)));

} // namespace

TEST_CASE("too few bytes are an error that names the structure and both sizes") {
    const std::vector<u8> bytes(40);
    for (std::size_t size = 0; size < 40; ++size) {
        const std::vector<u8> exact(size); // exact size, for AddressSanitizer
        CHECK(!decode_checked<smp::NodeInfo>(exact));
    }
    CHECK(decode_checked<smp::NodeInfo>(std::span(bytes).first(12)).error().text ==
          "SMPNodeInfo needs 40 bytes, but got only 12");
    CHECK(decode_checked<smp::NodeInfo>(std::span(bytes).first(12)).error().code == errc::too_short);
    CHECK(decode_checked<smp::NodeInfo>(std::span(bytes).first(1)).error().text ==
          "SMPNodeInfo needs 40 bytes, but got only 1");
}

TEST_CASE("a buffer of at least the size of the structure decodes without an error") {
    std::vector<u8> bytes(41);
    bytes[39] = 9;
    bytes[40] = 0xff;
    const auto all = decode_checked<smp::NodeInfo>(bytes);
    REQUIRE(all);
    CHECK(all.value().vendorID == 9);
    REQUIRE(decode_checked<smp::NodeInfo>(std::span(bytes).first(40)));
    CHECK(decode_checked<nothing>({}));
}

TEST_CASE("the checked encoder gives the same bytes for valid values as the unchecked one") {
    smp::PortInfo port = port_with_lmc(7);
    port.reserved_274 = 7;
    port.linkRoundTripLatency = 0xffffff;
    port.portState = PortState{15};
    const auto bytes = encode_checked(port);
    REQUIRE(bytes);
    CHECK(bytes.value() == encode(port));
    CHECK(encode_checked(nothing{}));
    CHECK(encode_checked(wide{}));
}

TEST_CASE("a value wider than its field is an error that names field, value and width") {
    CHECK(refusal(port_with_lmc(9)) == "SMPPortInfo.LMC: value 9 does not fit in 3 bits");
    smp::PortInfo port;
    port.portState = PortState{16};
    CHECK(refusal(port) == "SMPPortInfo.portState: value 16 does not fit in 4 bits");
    port = {};
    port.linkRoundTripLatency = 0x1000000;
    CHECK(refusal(port) == "SMPPortInfo.linkRoundTripLatency: value 16777216 does not fit in 24 bits");
    port = {};
    port.reserved_274 = 8;
    CHECK(refusal(port) == "SMPPortInfo.reserved_274: value 8 does not fit in 3 bits");
    port.LMC = 8;
    CHECK(refusal(port) == "SMPPortInfo.reserved_274: value 8 does not fit in 3 bits"); // the first in wire order
}

TEST_CASE("the error for a value in an array, a nested structure or an inlined header contains its path") {
    mixture m{};
    m.blocks[1].LMC = 8;
    CHECK(refusal(m) == "Mixture.blocks[1].LMC: value 8 does not fit in 3 bits");
    m = {};
    m.nodeInfo.vendorID = 0x1000000;
    CHECK(refusal(m) == "Mixture.nodeInfo.vendorID: value 16777216 does not fit in 24 bits");

    half_bytes map{};
    map.SLtoVL[15] = 16;
    CHECK(refusal(map) == "HalfBytes.SLtoVL[15]: value 16 does not fit in 4 bits");
    map.SLtoVL[3] = 255;
    CHECK(refusal(map) == "HalfBytes.SLtoVL[3]: value 255 does not fit in 4 bits");

    wide w{};
    w.tables[1].entries[2].multiplier = 0x4000;
    CHECK(refusal(w) == "Wide.tables[1].entries[2].multiplier: value 16384 does not fit in 14 bits");

    smp::FormatDirected request;
    request.header.status = 0x8000;
    CHECK(refusal(request) == "SMPFormatDirected.status: value 32768 does not fit in 15 bits");

    sa::Format query; // nested headers: its header contains a header, which has fields of its own table
    query.header.rmpp.RMPPFlags = 8;
    CHECK(refusal(query) == "SAFormat.RMPPFlags: value 8 does not fit in 3 bits");
}

TEST_CASE("differences considers every bit of a GID") {
    wide a{}, b{};
    b.gids[1] = gid(1, guid{0});
    CHECK(differences(a, b) == std::vector<std::string>{"GIDs[1]"});
    b.one = gid(0, guid{1});
    CHECK(differences(a, b) == std::vector<std::string>{"one", "GIDs[1]"});
}
