// SPDX-License-Identifier: MIT
// server_test.cpp - parsing and rejection of requests, responses byte by byte, and the selection of handlers. Offsets
// and codes follow the IBA (13.4.3, 13.4.7, 14.2.1, 15.2.1), and rdma/ib_user_mad.h for umad.
#include "library/coro_rig.hpp"
#include <comad/iba.hpp>
#include <comad/mad/detail/record_table.hpp>
#include <comad/server/agent.hpp>
#include <comad/transports/capture.hpp>

#include <cerrno>
#include <numeric>
#include <optional>
#include <vector>

using namespace comad;
using namespace comad::test;
using iba::Method;
using iba::MgmtClass;
using server::fault;
using server::make_error;
using server::make_reply;
using server::parse_request;
using server::response;

/// An attribute that only this program describes.
struct room_temperature {
    u32 sensor = 0;
    u32 kelvin = 0;
};
template <> struct comad::iba::described<room_temperature> : std::true_type {
    using T = room_temperature;
    static constexpr auto layout = describe<8>("RoomTemperature", "", field<&T::sensor, at{0}, 32>{"sensor"},
                                               field<&T::kelvin, at{4}, 32>{"kelvin"});
};
template <>
struct comad::iba::attribute_of<room_temperature>
    : attribute_traits<0x0123, in_class<MgmtClass{0x0a}, 1, Method::Get>, in_class<MgmtClass{0x0b}, 1, Method::Get>,
                       in_vendor_class<MgmtClass{0x33}, 1, 0x123456, Method::Get>> {};

namespace {

using bytes = std::vector<u8>;

/// Returns a MAD of 256 bytes whose bytes all differ: byte n is n, except in the header.
bytes mad_of(u8 mgmt_class, u8 version, u8 method, u16 attribute, std::size_t size = 256) {
    bytes mad(size);
    std::iota(mad.begin(), mad.end(), u8{0});
    const u8 header[] = {1, mgmt_class, version, method, 0, 0, 0, 0};
    std::copy(std::begin(header), std::end(header), mad.begin());
    if (size < 18) return mad;
    mad[16] = static_cast<u8>(attribute >> 8);
    mad[17] = static_cast<u8>(attribute);
    mad[18] = mad[19] = 0;
    return mad;
}
bytes sa_request(u8 method = 0x01, u16 attribute = 0x0011, std::size_t size = 256) {
    bytes mad = mad_of(0x03, 2, method, attribute, size);
    for (std::size_t i = 24; i < 36; ++i) mad[i] = 0;
    mad[24] = 1; // RMPPVersion
    return mad;
}
bytes as_bytes(const std::optional<server::mad_bytes>& mad) {
    REQUIRE(mad);
    return {mad->begin(), mad->end()};
}

std::optional<fault> fault_of(const bytes& message) {
    const auto r = parse_request(message, {});
    if (r) return std::nullopt;
    return r.error();
}

/// Delivers requests as a device does, and keeps what is sent.
class served_transport final : public mad::transport {
public:
    struct sent_packet {
        bytes mad;
        mad::any_path path;
        u32 agent;
        bool expects_reply;
    };
    int native_handle() const noexcept override { return -1; }
    mad::transport_limits limits() const noexcept override { return {.kernel_rmpp = kernel_rmpp}; }
    int serve(const mad::registration& what) noexcept override {
        registered.push_back(what);
        return refusal;
    }
    mad::send_result send(const mad::send_request& r) noexcept override {
        if (blocks) return {mad::send_state::would_block};
        sent.push_back({{r.mad, r.mad + r.size}, *r.path, r.agent, r.expects_reply});
        return {};
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (incoming.empty()) return {};
        mad::received r = incoming.front().second;
        const bytes& message = incoming.front().first;
        r.state = mad::receive_state::message;
        r.full_size = message.size();
        r.mad = buffer.first(std::min(buffer.size(), message.size()));
        std::copy_n(message.begin(), r.mad.size(), buffer.begin());
        if (r.mad.size() == message.size()) incoming.erase(incoming.begin());
        return r;
    }
    std::optional<mad::time_point> next_event() const noexcept override { return std::nullopt; }

    bool kernel_rmpp = false, blocks = false;
    int refusal = 0;
    std::vector<mad::registration> registered;
    std::vector<std::pair<bytes, mad::received>> incoming;
    std::vector<sent_packet> sent;
};

} // namespace

TEST_CASE("parse_request returns the fields of a request") {
    const bytes mad = sa_request();
    mad::source_address source;
    source.SLID = iba::lid{9};
    const auto r = parse_request(mad, source);
    REQUIRE(r);
    CHECK(r.value().header.method == Method::Get);
    CHECK(r.value().header.transactionID == 0x08090a0b0c0d0e0f);
    CHECK(r.value().header.attributeModifier == 0x14151617);
    CHECK(r.value().attribute == &iba::info_of<iba::sa::NodeRecord>);
    CHECK(r.value().data.data() == mad.data() + 56);
    CHECK(r.value().data.size() == 200);
    CHECK(r.value().component_mask() == 0x3031323334353637);
    CHECK(r.value().source.SLID == iba::lid{9});
    CHECK(r.value().payload<iba::sa::NodeRecord>().LID == iba::lid{0x3839});

    const bytes vendor = mad_of(0x32, 1, 1, 0x0010);
    CHECK(parse_request(vendor, {}, server::unknown_attributes::passed).value().OUI() == 0x252627);
    CHECK(parse_request(vendor, {}, server::unknown_attributes::passed).value().component_mask() == 0);
    CHECK(parse_request(mad_of(0x01, 1, 1, 0x0011), {}).value().data.data()[0] == 64);
}

TEST_CASE("each invalid request gets the status of its fault or no reply") {
    CHECK_FALSE(fault_of(sa_request()));
    const auto check_fault = [](const bytes& message, fault f, unsigned status) {
        CHECK(fault_of(message) == f);
        CHECK(server::status_of(f) == status);
    };
    check_fault({}, fault::too_short, 0);
    check_fault(sa_request(0x01, 0x11, 36), fault::wrong_length, 0);
    bytes header_only = sa_request();
    header_only.resize(24);
    check_fault(header_only, fault::too_short, 0);
    header_only.resize(25);
    check_fault(header_only, fault::wrong_length, 0);

    bytes wrong = sa_request();
    wrong[0] = 2;
    check_fault(wrong, fault::base_version, 0x04);
    check_fault(mad_of(0x03, 1, 1, 0x11), fault::class_version, 0x04);
    check_fault(mad_of(0x04, 2, 1, 0x12), fault::class_version, 0x04);
    check_fault(mad_of(0x02, 1, 1, 0x11), fault::unknown_class, 0x08);
    check_fault(mad_of(0x99, 1, 1, 0x11), fault::unknown_class, 0x08);
    check_fault(mad_of(0x04, 1, 1, 0x12, 257), fault::wrong_length, 0);
    check_fault(mad_of(0x04, 1, 1, 0x12, 255), fault::wrong_length, 0);
    check_fault(mad_of(0x04, 1, 1, 0x7777), fault::unknown_attribute, 0x0c);
    check_fault(mad_of(0x81, 1, 1, 0xff11), fault::unknown_attribute, 0x0c);

    check_fault(sa_request(0x81), fault::no_request, 0);              // GetResp
    check_fault(mad_of(0x01, 1, 0x07, 0x0002), fault::no_request, 0); // TrapRepress
    CHECK_FALSE(fault_of(mad_of(0x01, 1, 0x05, 0x0002)));             // Trap

    // A message that RMPP reassembled can have any length, but contains its attribute.
    bytes multi = sa_request(0x14, 0x003a, 56 + 40 + 16);
    check_fault(multi, fault::wrong_length, 0);
    multi[26] |= 1; // Active
    CHECK_FALSE(fault_of(multi));
    multi.resize(56 + 39);
    check_fault(multi, fault::undecodable, 0x1c);
    multi.resize(55);
    check_fault(multi, fault::wrong_length, 0);
}

TEST_CASE("the reply method is the method that the IBA defines") {
    const auto answer_to = [](u8 method) -> std::optional<unsigned> {
        const auto reply = make_reply(mad_of(0x06, 1, method, 0x0001), {}, 0);
        if (!reply) return std::nullopt;
        return (*reply)[3];
    };
    CHECK(answer_to(0x01) == 0x81u); // Get
    CHECK(answer_to(0x02) == 0x81u); // Set
    CHECK(answer_to(0x05) == 0x07u); // Trap
    CHECK(answer_to(0x06) == 0x86u); // Report
    CHECK(answer_to(0x12) == 0x92u); // GetTable
    CHECK(answer_to(0x13) == 0x92u); // GetTraceTable
    CHECK(answer_to(0x14) == 0x94u); // GetMulti
    CHECK(answer_to(0x15) == 0x95u); // Delete
    for (const u8 method : {0x03, 0x07, 0x81, 0x86, 0x92, 0x94, 0x95}) {
        CHECK_FALSE(answer_to(method));
        CHECK_FALSE(make_error(mad_of(0x06, 1, method, 0x0001), 0x0c));
        CHECK(server::make_long_reply(sa_request(method), {}).empty());
    }
    // A Trap that was rejected is repeated until a manager understands it.
    CHECK_FALSE(make_error(mad_of(0x01, 1, 0x05, 0x0002), 0x0c));
    CHECK(make_error(mad_of(0x01, 1, 0x06, 0x0002), 0x0c));
    // Baseboard management replies with Sends that have a bit set in the modifier.
    bytes bm = mad_of(0x05, 1, 0x01, 0x0010);
    bm[23] = 1;
    CHECK_FALSE(make_error(bm, 0x0c));
}

TEST_CASE("a reply is the request with another method, status and payload") {
    const bytes request = mad_of(0x04, 1, 0x02, 0x0012);
    const bytes payload(44, 0xee);
    bytes wanted = request;
    wanted[3] = 0x81;
    wanted[20] = 0xca;
    wanted[21] = 0xfe;
    wanted[22] = 0;
    wanted[23] = 1;
    std::fill(wanted.begin() + 64, wanted.end(), u8{0});
    std::fill_n(wanted.begin() + 64, 44, u8{0xee});
    CHECK(as_bytes(make_reply(request, payload, 0xcafe0001)) == wanted);

    wanted = request;
    wanted[3] = 0x81;
    wanted[4] = 0x00;
    wanted[5] = 0x1c;
    CHECK(as_bytes(make_error(request, 0x1c)) == wanted);
}

TEST_CASE("an error reply contains the supported versions") {
    bytes request = mad_of(0x04, 3, 0x01, 0x0012);
    request[0] = 2;
    const bytes reply = as_bytes(make_error(request, 0x04));
    CHECK(reply[0] == 1);
    CHECK(reply[2] == 3); // the requester matches responses by this version
    CHECK(reply[5] == 4);
}

TEST_CASE("the reply to an SMP does not contain the M_Key") {
    const bytes request = mad_of(0x01, 1, 0x01, 0x0011);
    bytes wanted = request;
    wanted[3] = 0x81;
    std::fill_n(wanted.begin() + 24, 8, u8{0});
    CHECK(as_bytes(make_error(request, 0)) == wanted);
}

TEST_CASE("the reply to a directed route sets D bit and hop pointer and keeps both paths") {
    bytes request = mad_of(0x81, 1, 0x01, 0x0011);
    request[6] = 2; // hop pointer
    request[7] = 2; // hop count
    const bytes payload(40, 0xee);
    bytes wanted = request;
    wanted[3] = 0x81;
    wanted[4] = 0x80;
    wanted[6] = 3;
    std::fill_n(wanted.begin() + 24, 8, u8{0}); // M_Key
    std::fill(wanted.begin() + 64, wanted.begin() + 128, u8{0});
    std::fill_n(wanted.begin() + 64, 40, u8{0xee});
    const u32 modifier = 0x14151617;
    CHECK(as_bytes(make_reply(request, payload, modifier)) == wanted);

    const bytes error = as_bytes(make_error(request, 0x0c));
    CHECK(error[4] == 0x80);
    CHECK(error[5] == 0x0c);
    CHECK(std::equal(error.begin() + 64, error.end(), request.begin() + 64));
}

TEST_CASE("an SA reply keeps the component mask, clears the SM_Key and has the record length") {
    bytes request = sa_request();
    for (std::size_t i = 25; i < 36; ++i) request[i] = 0xff; // RMPP fields, which a single MAD does not use
    const bytes payload(108, 0xee);
    bytes wanted = request;
    wanted[3] = 0x81;
    wanted[25] = 0;
    wanted[26] = 0xf8; // RRespTime stays
    std::fill(wanted.begin() + 27, wanted.begin() + 44, u8{0});
    wanted[44] = 0;
    wanted[45] = 14; // 112 bytes
    std::fill(wanted.begin() + 56, wanted.end(), u8{0});
    std::fill_n(wanted.begin() + 56, 108, u8{0xee});
    CHECK(as_bytes(make_reply(request, payload, 0x14151617)) == wanted);

    const bytes error = as_bytes(make_error(request, 0, 3));
    CHECK(error[4] == 3);
    CHECK(error[5] == 0);
    CHECK(error[45] == 0);
}

TEST_CASE("table records start at multiples of 8 bytes without unnecessary padding") {
    const auto [size, stride] =
        GENERATE(std::pair<std::size_t, std::size_t>{8, 8}, std::pair<std::size_t, std::size_t>{68, 72},
                 std::pair<std::size_t, std::size_t>{72, 72}, std::pair<std::size_t, std::size_t>{108, 112},
                 std::pair<std::size_t, std::size_t>{28, 32}, std::pair<std::size_t, std::size_t>{1, 8});
    const std::size_t count = GENERATE(0u, 1u, 2u, 3u, 1000u);
    CAPTURE(size, count);
    bytes records(size * count);
    for (std::size_t i = 0; i < records.size(); ++i) records[i] = static_cast<u8>(i * 7 + i / 256 + 1);
    const bytes message = server::make_table_reply(sa_request(0x12), records, size);
    REQUIRE(message.size() == 56 + stride * count);
    CHECK(message[3] == 0x92);
    CHECK(message[24] == 1); // RMPPVersion
    CHECK(message[25] == 1); // DATA
    const std::size_t segments = count == 0 ? 1 : (stride * count + 199) / 200;
    CHECK((message[26] & 7) == (segments == 1 ? 7 : 3)); // Active, First, and Last if there is only one
    CHECK(iba::load_be<u32>(message.data() + 28) == 1);  // the first segment
    CHECK(iba::load_be<u32>(message.data() + 32) == stride * count + 20 * segments);
    CHECK(iba::load_be<u64>(message.data() + 36) == 0); // SM_Key
    CHECK(iba::load_be<u16>(message.data() + 44) == (count ? stride / 8 : 0));
    bool all_equal = true;
    for (std::size_t r = 0; r < count; ++r) {
        const u8* at = message.data() + 56 + r * stride;
        all_equal = all_equal && std::equal(at, at + size, records.data() + r * size);
        for (std::size_t i = size; i < stride; ++i) all_equal = all_equal && at[i] == 0;
    }
    CHECK(all_equal);
    const auto view = mad::record_table::of(message, size);
    REQUIRE(view);
    CHECK(view.value().size() == count);
}

TEST_CASE("a long reply of a vendor class numbers its own segments") {
    bytes request = mad_of(0x30, 1, 0x01, 0x0010);
    const bytes message = server::make_long_reply(request, bytes(217, 0xee));
    REQUIRE(message.size() == 40 + 217);
    CHECK(iba::load_be<u32>(message.data() + 32) == 217 + 2 * 4);
    CHECK(iba::load_be<u32>(message.data() + 36) == iba::load_be<u32>(request.data() + 36)); // OUI
}

TEST_CASE("a reply returns to the source of its request") {
    mad::source_address source;
    source.SLID = iba::lid{9};
    source.SL = 3;
    source.pkey_index = 2;
    source.sqpn = 17;
    source.path_bits = 5;
    const auto plain = server::reply_path(sa_request(), source);
    const auto& p = std::get<mad::IBPath>(plain);
    CHECK(p.DLID == iba::lid{9});
    CHECK(value(p.SLID) == 5);
    CHECK(p.SL == 3);
    CHECK(p.pkey_index == 2);
    CHECK(p.dqpn == 17);
    CHECK_FALSE(p.has_grh);

    source.has_grh = true;
    source.SGID.bytes[15] = 7;
    source.SGID_index = 1;
    source.flow_label = 0x12345;
    source.traffic_class = 4;
    source.hop_limit = 1;
    const auto global = server::reply_path(sa_request(), source);
    const auto& g = std::get<mad::IBPath>(global);
    CHECK(g.has_grh);
    CHECK(g.DGID.bytes[15] == 7);
    CHECK(g.SGID_index == 1);
    CHECK(g.hop_limit == 255);
    CHECK(g.flow_label == 0x12345);
    CHECK(g.traffic_class == 4);

    bytes directed = mad_of(0x81, 1, 0x01, 0x0011);
    directed[7] = 2;
    directed[32] = directed[33] = directed[34] = directed[35] = 0xff;
    source = {};
    source.SLID = iba::permissive_lid;
    const auto route = server::reply_path(directed, source);
    REQUIRE(mad::directed(route));
    CHECK(mad::directed(route)->hopCount == 2);
    CHECK(mad::directed(route)->DLID == iba::permissive_lid);
}

TEST_CASE("a request goes to the first handler that accepts it, or gets the matching error") {
    server::responder answers;
    unsigned gets = 0, sets = 0;
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Get)}, [&](const server::request& r) {
        ++gets;
        if (r.header.attributeModifier == 1) return response::error(server::status::invalid_value);
        if (r.header.attributeModifier == 2) return response::nothing();
        return response::of(r.payload<iba::pm::PortCounters>());
    });
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Get, Method::Set)}, [&](const server::request&) {
        ++sets;
        return response::data({1, 2, 3}).with_modifier(5);
    });
    answers.add(
        {MgmtClass{0x32}, 1, mad::methods(Method::Get), 0x001405},
        [](const server::request&) { return response::echo(); }, server::unknown_attributes::passed);
    const auto status = [&](const bytes& request) -> std::optional<unsigned> {
        const bytes reply = answers.answer(request, {});
        if (reply.empty()) return std::nullopt;
        return reply[4] << 8 | reply[5];
    };
    const auto request_with = [](u8 method, u32 modifier = 0) {
        bytes mad = mad_of(0x04, 1, method, 0x0012);
        iba::store_be<u32>(mad.data() + 20, modifier);
        return mad;
    };
    CHECK(status(request_with(1)) == 0u);
    CHECK(gets == 1);
    CHECK(status(request_with(1, 1)) == 0x1cu);
    CHECK_FALSE(status(request_with(1, 2)));
    const bytes set = answers.answer(request_with(2), {});
    CHECK(sets == 1);
    CHECK(set[3] == 0x81);
    CHECK(set[23] == 5);
    CHECK(set[64] == 1);
    CHECK(set[67] == 0);

    CHECK(status(request_with(6)) == 0x08u);            // no handler for Report
    CHECK_FALSE(status(request_with(3)));               // a Send has no response
    CHECK(status(mad_of(0x06, 1, 1, 0x0001)) == 0x08u); // no server for the class
    CHECK(status(mad_of(0x04, 2, 1, 0x0012)) == 0x04u);
    CHECK(status(mad_of(0x04, 1, 1, 0x7777)) == 0x0cu);
    CHECK_FALSE(status(request_with(0x81)));
    CHECK_FALSE(status({}));

    bytes ping = mad_of(0x32, 1, 1, 0x7777);
    ping[37] = 0x00;
    ping[38] = 0x14;
    ping[39] = 0x05;
    bytes pong = ping;
    pong[3] = 0x81;
    std::fill(pong.begin() + 25, pong.begin() + 36, u8{0});
    pong[26] = ping[26] & 0xf8;
    CHECK(answers.answer(ping, {}) == pong);
    ping[39] = 0x06; // the OUI of another vendor
    CHECK(status(ping) == 0x08u);
    CHECK(gets + sets == 4);
}

TEST_CASE("a vendor class handler receives attributes that only its program describes") {
    // The class of Mellanox, for which the library lists other attributes; another class without an OUI; a class with
    // an OUI.
    constexpr u32 OUI = 0x123456;
    const std::pair<u8, std::size_t> classes[] = {{u8{0x0a}, 24}, {u8{0x0b}, 24}, {u8{0x33}, 40}}; // offset of the data
    for (const auto& [mgmt_class, data] : classes) {
        CAPTURE(mgmt_class);
        server::responder answers;
        answers.add({MgmtClass{mgmt_class}, 1, mad::methods(Method::Get), mgmt_class == 0x33 ? OUI : 0},
                    [](const server::request& r) {
                        if (r.header.attributeID != iba::attribute_id<room_temperature>)
                            return response::error(server::status::unsupported_attribute);
                        auto answer = r.payload<room_temperature>();
                        answer.kelvin = answer.sensor + 290;
                        return response::of(answer);
                    });
        bytes request = mad_of(mgmt_class, 1, 1, 0x0123);
        if (mgmt_class == 0x33) std::ranges::copy(bytes{0x12, 0x34, 0x56}, request.begin() + 37);
        iba::store_be<u32>(request.data() + data, 7);
        const bytes reply = answers.answer(request, {});
        REQUIRE(reply.size() == 256);
        CHECK(reply[3] == 0x81);
        CHECK((reply[4] << 8 | reply[5]) == 0);
        CHECK((reply[data + 6] << 8 | reply[data + 7]) == 297);
        request[17] = 0x24; // another attribute
        CHECK(answers.answer(request, {})[5] == 0x0c);
        // If unknown attributes are rejected, the handler does not see them.
        CHECK(parse_request(request, {}, server::unknown_attributes::refused).error() == fault::unknown_attribute);
    }
}

TEST_CASE("traps are repressed and reports acknowledged with their own notice if the handler agrees") {
    server::responder answers;
    std::vector<iba::Notice> got;
    bool accepts = true;
    const auto receive_message = [&](const server::request&, const iba::Notice& notice) {
        got.push_back(notice);
        return accepts;
    };
    answers.on_trap(MgmtClass::SubnLID, 1, receive_message);
    answers.on_report(MgmtClass::SubnAdm, 2, receive_message);
    const auto with_notice = [](bytes mad, std::size_t begin) {
        iba::Notice notice;
        notice.isGeneric = true;
        notice.trapNumber = iba::TrapNumber::LinkStateChange;
        notice.issuerLID = iba::lid{7};
        const auto encoded = iba::encode(notice);
        std::copy(encoded.begin(), encoded.end(), mad.begin() + static_cast<std::ptrdiff_t>(begin));
        return mad;
    };
    const bytes trap = with_notice(mad_of(0x01, 1, 5, 2), 64);
    bytes repress = trap;
    repress[3] = 0x07;
    std::fill_n(repress.begin() + 24, 8, u8{0});
    CHECK(answers.answer(trap, {}) == repress);
    const bytes report = with_notice(sa_request(6, 2), 56);
    const bytes reported = answers.answer(report, {});
    REQUIRE(reported.size() == 256);
    CHECK(reported[3] == 0x86);
    CHECK(std::equal(reported.begin() + 56, reported.end(), report.begin() + 56));
    REQUIRE(got.size() == 2);
    CHECK(got[0].trapNumber == iba::TrapNumber::LinkStateChange);
    CHECK(got[0].issuerGID == iba::gid{}); // an SMP has no space for it
    CHECK(got[1].issuerLID == iba::lid{7});

    accepts = false;
    CHECK(answers.answer(trap, {}).empty());
    CHECK(answers.answer(report, {}).empty());
    CHECK(answers.answer(mad_of(0x01, 1, 5, 0x11), {}).empty()); // not a notice; invalid Traps get no response
}

TEST_CASE("requests and replies are traced") {
    struct sink final : mad::trace_sink {
        std::vector<mad::trace_event::kind> kinds;
        std::vector<std::string> lines;
        mad::simple_tracer tracer{[this](const std::string& line) { lines.push_back(line); }};
        void on_event(const mad::trace_event& e) noexcept override {
            kinds.push_back(e.what);
            tracer.on_event(e);
        }
    } got;
    server::responder answers;
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Get)},
                [](const server::request&) { return response::error(0x1c); });
    answers.set_trace(&got);
    mad::source_address source;
    source.SLID = iba::lid{9};
    answers.answer(mad_of(0x04, 1, 1, 0x12), source);
    answers.answer(mad_of(0x04, 1, 3, 0x12), source);
    using kind = mad::trace_event::kind;
    CHECK(got.kinds == std::vector{kind::request, kind::response, kind::request});
    REQUIRE(got.lines.size() == 3);
    CHECK(got.lines[0] == "RPC MAD_METHOD_GET(1) PMFormat(4.1) PMPortCounters(18) received from 'Lid 9' len 256.");
    CHECK(got.lines[1] == "RPC MAD_METHOD_GET_RESP(129) PMFormat(4.1) PMPortCounters(18) reply to 'Path 0 -> 9 SL=0 "
                          "PKey=0xffff DQPN=0'");
}

TEST_CASE("an agent serves requests while its schedule runs RPCs") {
    served_transport port;
    server::responder answers;
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Get)},
                [](const server::request&) { return response::data({42}); });
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Set)},
                [](const server::request&) { return response::data({43}); });
    answers.add({MgmtClass::SubnAdm, 2, mad::methods(Method::GetTable), 0, true},
                [](const server::request&) { return response::table(bytes(1000, 1), 8); });
    answers.add({MgmtClass::SubnAdm, 2, mad::methods(Method::Get), 0, true},
                [](const server::request&) { return response::table(bytes(8, 1), 8); });
    server::agent agent(port, answers);
    REQUIRE(port.registered.size() == 2);
    CHECK(port.registered[0].methods == 0b110);
    CHECK(port.registered[1].rmpp);
    CHECK(port.registered[1].methods == (1u << 0x12 | 1u << 1));

    MADSchedule schedule(port);
    schedule.set_server(&agent);
    const auto deliver = [&](const bytes& message, u32 status = 0) {
        mad::received r;
        r.status = status;
        r.source.SLID = iba::lid{9};
        r.source.agent = 6;
        port.incoming.push_back({message, r});
        schedule.receive(1);
        schedule.settle();
    };
    deliver(mad_of(0x04, 1, 1, 0x12));
    REQUIRE(port.sent.size() == 1);
    CHECK(port.sent[0].agent == 6);
    CHECK_FALSE(port.sent[0].expects_reply);
    CHECK(port.sent[0].mad[64] == 42);
    CHECK(mad::headers_of(port.sent[0].path).DLID == iba::lid{9});

    SECTION("schedule without RPCs") {
        for (const u8 method : {1, 2}) port.incoming.push_back({mad_of(0x04, 1, method, 0x12), mad::received{}});
        coro::run_until(schedule, [&] { return port.sent.size() == 3; });
        CHECK(port.sent[2].mad[64] == 43);
        CHECK_FALSE(schedule.idle());
        CHECK_THROWS_AS(coro::run_until(schedule, [] { return false; }),
                        std::logic_error); // in virtual time no request would ever arrive
    }
    SECTION("responses, send reports and packets that are not MADs go to the engine") {
        deliver(mad_of(0x04, 1, 0x81, 0x12));
        deliver(mad_of(0x04, 1, 0x07, 0x12));
        deliver(bytes(24), ETIMEDOUT);
        deliver(bytes(10));
        CHECK(agent.counters().requests == 1);
        CHECK(schedule.counters().stale == 2);
        CHECK(schedule.counters().expired_reports == 1);
        CHECK(schedule.counters().malformed == 1);
    }
    SECTION("requests without a server count as stale") {
        schedule.set_server(nullptr);
        deliver(mad_of(0x04, 1, 1, 0x12));
        CHECK(schedule.counters().stale == 1);
        CHECK(port.sent.size() == 1);
    }
    SECTION("blocked replies are sent later in order") {
        port.blocks = true;
        deliver(mad_of(0x04, 1, 1, 0x12));
        deliver(mad_of(0x04, 1, 2, 0x12));
        CHECK(agent.waiting() == 2);
        port.blocks = false;
        schedule.settle();
        REQUIRE(port.sent.size() == 3);
        CHECK(port.sent[1].mad[64] == 42);
        CHECK(port.sent[2].mad[64] == 43);
        CHECK(agent.counters().replies == 3);
    }
    SECTION("limited queue of blocked replies") {
        port.blocks = true;
        for (std::size_t i = 0; i < server::agent::most_waiting + 3; ++i) deliver(mad_of(0x04, 1, 1, 0x12));
        CHECK(agent.waiting() == server::agent::most_waiting);
        CHECK(agent.counters().overflowed == 3);
    }
    SECTION("long reply only over a transport with RMPP") {
        deliver(sa_request(0x12, 0x20));
        CHECK(agent.counters().unsent == 1);
        CHECK(port.sent.size() == 1);
        deliver(sa_request(0x01, 0x20)); // one segment is one MAD
        REQUIRE(port.sent.size() == 2);
        CHECK(port.sent[1].mad.size() == 256);
        port.kernel_rmpp = true;
        deliver(sa_request(0x12, 0x20));
        deliver(sa_request(0x01, 0x20)); // its length gives the size of the data
        REQUIRE(port.sent.size() == 4);
        CHECK(port.sent[2].mad.size() == 56 + 1000);
        CHECK(port.sent[3].mad.size() == 56 + 8);
    }
}

TEST_CASE("an agent works over a capture that records both directions") {
    served_transport port;
    std::vector<u8> methods;
    transports::capture_transport capture(port,
                                          [&](const transports::captured_mad& c) { methods.push_back(c.mad[3]); });
    server::responder answers;
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Get)},
                [](const server::request&) { return response::echo(); });
    server::agent agent(capture, answers);
    CHECK(port.registered.size() == 1);
    MADSchedule schedule(capture);
    schedule.set_server(&agent);
    port.incoming.push_back({mad_of(0x04, 1, 1, 0x12), mad::received{}});
    coro::run_until(schedule, [&] { return !port.sent.empty(); });
    CHECK(methods == std::vector<u8>{0x01, 0x81});
}

TEST_CASE("an agent reports a transport that delivers no requests") {
    served_transport port;
    port.refusal = EINVAL;
    server::responder answers;
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Get)},
                [](const server::request&) { return response::nothing(); });
    CHECK_THROWS_WITH(server::agent(port, answers), Catch::Contains("management class 0x04"));
    scripted_transport mute;
    CHECK_THROWS_AS(server::agent(mute, answers), std::system_error);
}

TEST_CASE("a send report of a server reply does not end a request with an equal transaction ID") {
    const auto also_reports = [](const packet& p) {
        fate f = answered(p);
        arrival reported = report(p, 1us);
        reported.bytes[3] = 0x92;
        f.arrivals.push_back(reported);
        return f;
    };
    rig r(also_reports);
    auto info = sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(route(1), 0, {.timeout = 1s, .retries = 0}));
    CHECK(info.has_value());
    CHECK(r.schedule.counters().expired_reports == 1);
}
