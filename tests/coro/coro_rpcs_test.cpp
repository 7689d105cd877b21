// SPDX-License-Identifier: MIT
// coro_rpcs_test.cpp - every RPC function: its request byte by byte, the result of its reply, and tables as replies.
// Also replies with BUSY, and blocking RPCs.
#include "library/coro_rig.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba.hpp>

#include <cstring>
#include <map>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::with_header;
using iba::sa::NodeRecord;

namespace {

/// The first bytes of a request, in the order of the wire (IBA 13.4.3).
struct request_header {
    unsigned mgmt_class, class_version, method, attributeID, attributeModifier = 0;
    friend bool operator==(const request_header&, const request_header&) = default;
};
std::ostream& operator<<(std::ostream& out, const request_header& a) {
    return out << a.mgmt_class << '.' << a.class_version << ' ' << a.method << ' ' << a.attributeID << " modifier "
               << a.attributeModifier;
}
request_header header_in(const packet& p) {
    return {p.bytes[1], p.bytes[2], p.bytes[3], static_cast<unsigned>(p.bytes[16] << 8 | p.bytes[17]),
            iba::load_be<u32>(p.bytes.data() + 20)};
}

/// Returns the request with the method of its response (IBA 13.4.5, 15.2.2). The response to GetTable is an RMPP
/// transfer of one segment without records.
std::vector<u8> echo(const packet& p) {
    std::vector<u8> bytes(p.bytes.begin(), p.bytes.end());
    bytes[3] = p.bytes[3] == 0x02 ? 0x81 : p.bytes[3] == 0x13 ? 0x92 : static_cast<u8>(p.bytes[3] | 0x80);
    if (p.bytes[1] == 0x81) bytes[4] |= 0x80; // D: returning (IBA 14.2.1.2)
    if (bytes[3] == 0x92 || bytes[3] == 0x94) {
        bytes[24] = bytes[25] = 1; // RMPPVersion, DATA
        bytes[26] = 0x07;          // Active, First, Last
        bytes[35] = 20;            // PayloadLength: only the header of the SA (IBA 13.6.2.3)
    }
    return bytes;
}
fate echoed(const packet& p) { return {{}, {arrival{round_trip, echo(p)}}}; }

mad::IBPath lid_path(u16 lid) {
    mad::IBPath path;
    path.DLID = iba::lid{lid};
    return path;
}

/// A value of a type whose bytes all differ from each other and from zero.
template <class T> T sample() {
    std::array<u8, iba::wire_size<T>> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<u8>(i + 1);
    T value;
    iba::decode(value, bytes.data());
    return value;
}

} // namespace

TEST_CASE("each RPC sends the class, version, method and attribute of the IBA") {
    rig r(echoed);
    coro::MADSchedule& s = r.schedule;
    const mad::IBPath to = lid_path(7);
    const auto last = [&] { return header_in(r.net.taken().back()); };
    REQUIRE(sync_wait(s, s.SubnGet<smp::NodeInfo>(to)));
    CHECK(last() == request_header{0x01, 1, 0x01, 0x11});
    REQUIRE(sync_wait(s, s.SubnSet(smp::PortInfo{}, to)));
    CHECK(last() == request_header{0x01, 1, 0x02, 0x15});
    REQUIRE(sync_wait(s, s.SubnGet<smp::NodeInfo>(route(1))));
    CHECK(last() == request_header{0x81, 1, 0x01, 0x11});
    REQUIRE(sync_wait(s, s.PerformanceGet<iba::pm::PortCounters>(to)));
    CHECK(last() == request_header{0x04, 1, 0x01, 0x12});
    REQUIRE(sync_wait(s, s.PerformanceSet(iba::pm::PortCounters{}, to)));
    CHECK(last() == request_header{0x04, 1, 0x02, 0x12});
    REQUIRE(sync_wait(s, s.SubnAdmGet<NodeRecord>()));
    CHECK(last() == request_header{0x03, 2, 0x01, 0x11});
    REQUIRE(sync_wait(s, s.SubnAdmGetTable<NodeRecord>()));
    CHECK(last() == request_header{0x03, 2, 0x12, 0x11});
    REQUIRE(sync_wait(s, s.SubnAdmSet(iba::query<iba::sa::ServiceRecord>{})));
    CHECK(last() == request_header{0x03, 2, 0x02, 0x31});
    REQUIRE(sync_wait(s, s.SubnAdmDelete(iba::query<iba::sa::ServiceRecord>{})));
    CHECK(last() == request_header{0x03, 2, 0x15, 0x31});
    REQUIRE(sync_wait(s, s.SubnAdmGetMulti({})));
    CHECK(last() == request_header{0x03, 2, 0x14, 0x3a});
    REQUIRE(sync_wait(s, s.SubnAdmGetTraceTable({})));
    CHECK(last() == request_header{0x03, 2, 0x13, 0x39});
    REQUIRE(sync_wait(s, s.VendGet<iba::vend::MlxGeneralInfo>(to)));
    CHECK(last() == request_header{0x0a, 1, 0x01, 0x17});
    REQUIRE(sync_wait(s, s.VendGet<iba::vend::OFASysStatPing>(to)));
    CHECK(last() == request_header{0x33, 1, 0x01, 0x10});
    CHECK((std::vector<u8>(r.net.taken().back().bytes.begin() + 37, r.net.taken().back().bytes.begin() + 40)) ==
          std::vector<u8>{0x00, 0x14, 0x05}); // OUI of the OpenFabrics Alliance
    REQUIRE(sync_wait(s, s.BMGet<iba::ClassPortInfo>(to)));
    CHECK(last() == request_header{0x05, 1, 0x01, 0x01});
    REQUIRE(sync_wait(s, s.DevMgtSet(iba::ClassPortInfo{}, to)));
    CHECK(last() == request_header{0x06, 1, 0x02, 0x01});
    REQUIRE(sync_wait(s, s.CommMgtSet(iba::ClassPortInfo{}, to)));
    CHECK(last() == request_header{0x07, 2, 0x02, 0x01});
    REQUIRE(sync_wait(s, s.CongestionControlSet(iba::cc::CongestionKeyInfo{}, to)));
    CHECK(last() == request_header{0x21, 2, 0x02, 0x12});
    REQUIRE(sync_wait(s, s.DevMgtGet<iba::dm::IOUnitInfo>(to)));
    CHECK(last() == request_header{0x06, 1, 0x01, 0x10});
    REQUIRE(sync_wait(s, s.CommMgtGet<iba::ClassPortInfo>(to)));
    CHECK(last() == request_header{0x07, 2, 0x01, 0x01});
    REQUIRE(sync_wait(s, s.CommMgtSend(iba::cm::REQ{}, to)));
    CHECK(last() == request_header{0x07, 2, 0x03, 0x10});
    REQUIRE(sync_wait(s, s.SNMPGet<iba::ClassPortInfo>(to)));
    CHECK(last() == request_header{0x08, 1, 0x01, 0x01});
    REQUIRE(sync_wait(s, s.SNMPSend(iba::snmp::PDUInfo{}, to)));
    CHECK(last() == request_header{0x08, 1, 0x03, 0x11});
    REQUIRE(sync_wait(s, s.CongestionControlGet<iba::cc::CongestionInfo>(to)));
    CHECK(last() == request_header{0x21, 2, 0x01, 0x11});
    REQUIRE(sync_wait(s, s.Trap(smp::NoticeTrap{}, to)));
    CHECK(last() == request_header{0x01, 1, 0x05, 0x02});
    REQUIRE(sync_wait(s, s.TrapRepress(smp::NoticeTrap{}, to)));
    CHECK(last() == request_header{0x01, 1, 0x07, 0x02});
    REQUIRE(sync_wait(s, s.Report(iba::Notice{}, to)));
    CHECK(last() == request_header{0x03, 2, 0x06, 0x02});
}

TEST_CASE("an RPC of any class ends with a reply or a typed error for any input, and the next RPC is unaffected") {
    // Changes one thing in a correct reply. Byte positions are those of IBA 13.4.3.
    using damage = void (*)(std::vector<u8>&);
    struct wrong {
        const char* what;
        damage done;
        std::vector<errc> codes; ///< reported error codes
    };
    const wrong ways[] = {
        {"empty", [](std::vector<u8>& b) { b.clear(); }, {errc::timed_out}},
        {"half a header", [](std::vector<u8>& b) { b.resize(12); }, {errc::timed_out}},
        {"a header alone", [](std::vector<u8>& b) { b.resize(24); }, {errc::timed_out, errc::malformed_reply}},
        {"a byte less", [](std::vector<u8>& b) { b.pop_back(); }, {errc::timed_out, errc::malformed_reply}},
        {"another class", [](std::vector<u8>& b) { b[1] = 0x09; }, {errc::timed_out}},
        {"another method", [](std::vector<u8>& b) { b[3] = 0x9f; }, {errc::timed_out}},
        {"another attribute", [](std::vector<u8>& b) { b[16] ^= 0x40; }, {errc::timed_out}},
        {"another base version", [](std::vector<u8>& b) { b[0] = 0x80; }, {errc::timed_out}},
        {"a status", [](std::vector<u8>& b) { b[5] = 0x1c; }, {errc::status}},
        {"a status of the class", [](std::vector<u8>& b) { b[4] = 0x03; }, {errc::class_status}},
        {"a redirection to nowhere",
         [](std::vector<u8>& b) {
             b[5] = 0x02;
             std::fill(b.begin() + 40, b.end(), u8{0});
         },
         {errc::status}},
    };
    const mad::IBPath to = lid_path(7);
    using error_code = std::optional<errc>;
    const auto code = [](const auto& result) { return result ? error_code{} : error_code{result.error().code}; };
    using rpc_call = std::function<error_code(coro::MADSchedule&)>;
    const auto call = [&](auto rpc) -> rpc_call {
        return [=](coro::MADSchedule& s) { return code(sync_wait(s, rpc(s))); };
    };
    const std::vector<std::pair<const char*, rpc_call>> rpcs{
        {"SubnGet", call([=](auto& s) { return s.template SubnGet<smp::NodeInfo>(to); })},
        {"SubnSet", call([=](auto& s) { return s.SubnSet(smp::PortInfo{}, to); })},
        {"PerformanceGet", call([=](auto& s) { return s.template PerformanceGet<iba::pm::PortCounters>(to); })},
        {"SubnAdmGet", call([](auto& s) { return s.template SubnAdmGet<NodeRecord>(); })},
        {"SubnAdmDelete", call([](auto& s) { return s.SubnAdmDelete(iba::query<iba::sa::ServiceRecord>{}); })},
        {"VendGet", call([=](auto& s) { return s.template VendGet<iba::vend::MlxGeneralInfo>(to); })},
        {"VendGet with an OUI", call([=](auto& s) { return s.template VendGet<iba::vend::OFASysStatPing>(to); })},
        {"BMGet", call([=](auto& s) { return s.template BMGet<iba::ClassPortInfo>(to); })},
        {"DevMgtGet", call([=](auto& s) { return s.template DevMgtGet<iba::dm::IOUnitInfo>(to); })},
        {"CommMgtGet", call([=](auto& s) { return s.template CommMgtGet<iba::ClassPortInfo>(to); })},
        {"SNMPGet", call([=](auto& s) { return s.template SNMPGet<iba::ClassPortInfo>(to); })},
        {"CongestionControlGet",
         call([=](auto& s) { return s.template CongestionControlGet<iba::cc::CongestionInfo>(to); })},
        {"Report", call([=](auto& s) { return s.Report(iba::Notice{}, to); })},
    };
    for (const wrong& way : ways) {
        const wrong* now = &way; // the script reads this
        rig r([&](const packet& p) {
            std::vector<u8> bytes = echo(p);
            if (now) now->done(bytes);
            return fate{{}, {arrival{round_trip, bytes}}};
        });
        for (const auto& [name, run] : rpcs) {
            CAPTURE(way.what, name);
            now = &way;
            const error_code reported = run(r.schedule);
            REQUIRE(reported);
            CHECK(std::count(way.codes.begin(), way.codes.end(), *reported) == 1);
            CHECK(r.schedule.in_flight() == 0);
            now = nullptr;
            CHECK(run(r.schedule) == error_code{});
        }
    }
}

TEST_CASE("a request without a reply is sent once and completes without waiting") {
    rig r(silence);
    const iba::cm::REQ request = sample<iba::cm::REQ>();
    auto sent = sync_wait(r.schedule, r.schedule.CommMgtSend(request, lid_path(7)));
    REQUIRE(sent);
    CHECK(sent.value() == request);
    REQUIRE(r.net.taken().size() == 1);
    CHECK_FALSE(r.net.taken()[0].expects_reply);
    CHECK(r.net.now() == mad::time_point{});
}

TEST_CASE("the payload of request and reply is at the offset of its class") {
    rig r(echoed);
    const auto check = [&](const auto& payload, auto rpc, std::size_t begin) {
        using T = std::decay_t<decltype(payload)>;
        auto reply = sync_wait(r.schedule, std::move(rpc));
        REQUIRE(reply);
        CHECK(reply.value() == payload);
        const auto bytes = iba::encode(payload);
        CHECK(std::memcmp(r.net.taken().back().bytes.data() + begin, bytes.data(), iba::wire_size<T>) == 0);
    };
    coro::MADSchedule& s = r.schedule;
    const mad::IBPath to = lid_path(7);
    const auto port_info = sample<smp::PortInfo>();
    check(port_info, s.SubnSet(port_info, to), 64);
    const auto counters = sample<iba::pm::PortCounters>();
    check(counters, s.PerformanceSet(counters, to), 64);
    const auto ping = sample<iba::vend::OFASysStatPing>();
    check(ping, s.VendGet(ping, to), 40);
    const auto key = sample<iba::cc::CongestionKeyInfo>();
    check(key, s.CongestionControlSet(key, to), 64);
    const auto unit = sample<iba::Notice>();
    check(unit, s.Report(unit, to), 56);
}

TEST_CASE("an SA request has its component mask and uses the SA path") {
    rig r(echoed);
    r.schedule.set_sa_path(lid_path(0x1234));
    const auto query = iba::query<NodeRecord>{}.where<&NodeRecord::LID>(iba::lid{9});
    auto reply = sync_wait(r.schedule, r.schedule.SubnAdmGet(query));
    REQUIRE(reply);
    CHECK(reply.value().LID == iba::lid{9});
    const packet& p = r.net.taken()[0];
    CHECK(p.bytes[55] == 0x01); // bit 0 of 64
    CHECK(p.bytes[57] == 9);
    auto with = sync_wait(r.schedule, r.schedule.SubnAdmGet<NodeRecord, with_header>(query));
    REQUIRE(with);
    CHECK(mad::headers_of(with.value().path).DLID == iba::lid{0x1234});
    CHECK(with.value().header.mgmtClass == iba::MgmtClass::SubnAdm);
}

// ---- tables --------------------------------------------------------------------------------------------------------

namespace {

/// A reply to GetTable as the kernel delivers it: one SA header, then records of 108 bytes at intervals of 112 bytes.
arrival table_of(const packet& p, std::size_t records, std::size_t attribute_offset = 14) {
    std::vector<u8> bytes = echo(p);
    bytes.resize(56);
    bytes[24] = 1;                                      // RMPPVersion
    bytes[25] = 1;                                      // DATA
    bytes[26] = records * 112 + 56 > 256 ? 0x03 : 0x07; // Active and First; also Last if there is only one segment
    bytes[45] = static_cast<u8>(attribute_offset);
    const auto payload = static_cast<u32>(20 + records * 112);
    for (int i = 0; i < 4; ++i) bytes[32 + i] = static_cast<u8>(payload >> (24 - 8 * i));
    for (std::size_t i = 0; i < records; ++i) {
        std::vector<u8> record(112);
        record[0] = static_cast<u8>(i >> 8); // LID
        record[1] = static_cast<u8>(i);
        bytes.insert(bytes.end(), record.begin(), record.end());
    }
    if (bytes.size() < 256) bytes.resize(256);
    return {round_trip, bytes};
}

/// A transport that keeps a long message until the reader has read all of it, as the kernel does.
class whole_messages final : public mad::transport {
public:
    explicit whole_messages(scripted_transport& inner) : inner_(inner) {}
    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request& r) noexcept override { return inner_.send(r); }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (kept_.empty()) {
            std::vector<u8> room(16 << 20);
            const mad::received r = inner_.receive(room);
            if (r.state != mad::receive_state::message) return r;
            if (mad::headroom + r.full_size <= buffer.size()) return copied(r.mad, buffer, r.full_size);
            kept_.assign(r.mad.begin(), r.mad.end());
        }
        if (buffer.size() < mad::headroom + kept_.size())
            return copied(std::span(kept_).first(256), buffer, kept_.size());
        const mad::received r = copied(kept_, buffer, kept_.size());
        kept_.clear();
        return r;
    }
    mad::transport_limits limits() const noexcept override { return {.kernel_rmpp = true}; }
    std::optional<mad::time_point> next_event() const noexcept override { return inner_.next_event(); }
    void set_now(mad::time_point now) noexcept override { inner_.set_now(now); }

private:
    static mad::received copied(std::span<const u8> from, std::span<u8> buffer, std::size_t full) {
        std::copy(from.begin(), from.end(), buffer.begin() + mad::headroom);
        mad::received r{mad::receive_state::message};
        r.mad = buffer.subspan(mad::headroom, from.size());
        r.full_size = full;
        return r;
    }
    scripted_transport& inner_;
    std::vector<u8> kept_;
};

} // namespace

TEST_CASE("a table RPC returns zero, one or many records of its reply") {
    for (const std::size_t records : {0, 1, 2, 3, 1344}) {
        INFO(records);
        scripted_transport net([&](const packet& p) { return fate{{}, {table_of(p, records)}}; });
        whole_messages whole(net);
        coro::MADSchedule schedule(whole);
        lead_to_sa(schedule);
        auto table = sync_wait(schedule, schedule.SubnAdmGetTable<NodeRecord>());
        REQUIRE(table);
        REQUIRE(table.value().size() == records);
        for (std::size_t i = 0; i < records; ++i)
            if (value(table.value()[i].LID) != i) FAIL_CHECK("record " << i);
        CHECK(schedule.counters().malformed == 0);
    }
}

TEST_CASE("undersized records and truncated tables are errors") {
    rig small([](const packet& p) { return fate{{}, {table_of(p, 1, 13)}}; }); // records at intervals of 104 bytes
    auto table = sync_wait(small.schedule, small.schedule.SubnAdmGetTable<NodeRecord>());
    REQUIRE(!table);
    CHECK(table.error().code == errc::malformed_reply);
    CHECK_THAT(to_string(table.error()), Catch::EndsWith(": AttributeOffset is 104 bytes, but a record has 108 bytes"));

    rig cut([](const packet& p) {
        arrival a = table_of(p, 3);
        a.bytes.resize(256); // only its first segment
        return fate{{}, {a}};
    });
    auto beginning = sync_wait(cut.schedule, cut.schedule.SubnAdmGetTable<NodeRecord>());
    REQUIRE(!beginning);
    CHECK(beginning.error().code == errc::malformed_reply);
    CHECK(cause_text(beginning.error()) ==
          "NodeRecord: malformed reply: the RMPP transfer ended after the first segment, which is not the last one");
}

TEST_CASE("SA requests in flight are limited by schedule_options or the transport, whatever the window") {
    const auto [window, sa_window, expected] =
        GENERATE(table<u16, unsigned, unsigned>({{5, 16, 5}, {0, 16, 16}, {30, 16, 30}, {0, 4096, 40}, {0, 0, 1}}));
    CAPTURE(window, sa_window);
    schedule_options options;
    options.max_outstanding = 64;
    options.sa_outstanding = window;
    unsigned in_flight = 0, most = 0;
    scripted_transport net([&](const packet& p) {
        most = std::max(most, ++in_flight);
        return echoed(p);
    });
    net.sa_window = sa_window;
    net.on_delivery = [&](const arrival&) { --in_flight; };
    coro::MADSchedule schedule(net, options);
    lead_to_sa(schedule);
    const auto many = [](coro::MADSchedule& s) -> generator<task<void>> {
        const auto one = [](coro::MADSchedule& to) -> task<void> {
            [[maybe_unused]] auto record = co_await to.SubnAdmGet<NodeRecord>();
        };
        for (int i = 0; i < 40; ++i) co_yield one(s);
    };
    const auto all = [&](coro::MADSchedule& s) -> task<void> {
        [[maybe_unused]] auto report = co_await s.mqueue(many(s));
    };
    sync_wait(schedule, all(schedule));
    CHECK(net.taken().size() == 40);
    CHECK(most == expected);
}

// ---- BUSY ----------------------------------------------------------------------------------------------------------

TEST_CASE("a request is retried after BUSY with growing back-off, and the late result is normal") {
    std::vector<mad::time_point> sent;
    rig r([&](const packet& p) {
        sent.push_back(p.at);
        fate f = answered(p);
        if (sent.size() <= 4) f.arrivals[0].bytes[5] = 0x01;
        return f;
    });
    const IBDRPath to = route(1);
    auto info =
        sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(to, 0, rpc_options{.timeout = 800ms, .retries = 0}));
    REQUIRE(info);
    CHECK(is_answer(info.value(), to));
    REQUIRE(sent.size() == 5);
    const auto pause = [&](std::size_t i) { return sent[i] - sent[i - 1] - round_trip; };
    for (std::size_t i = 1; i <= 4; ++i) {
        const mad::duration wanted = 100ms * (1 << (i - 1)); // an eighth, a quarter, a half and all of the limit
        CHECK(pause(i) >= wanted);
        CHECK(pause(i) <= wanted + wanted / 16);
    }
    CHECK(r.schedule.counters().busy == 4);
    CHECK(r.schedule.counters().replied == 1);
    CHECK(r.schedule.counters().timed_out == 0);
}

TEST_CASE("a retry after BUSY does not count as one of the attempts after timeouts") {
    unsigned offers = 0;
    rig r([&](const packet& p) {
        fate f = answered(p);
        switch (offers++) {
        case 0: f.arrivals[0].bytes[5] = 0x01; return f;
        case 1: return dropped();
        default: return f;
        }
    });
    CHECK(sync_wait(r.schedule,
                    r.schedule.SubnGet<smp::NodeInfo>(route(1), 0, rpc_options{.timeout = 1ms, .retries = 1})));
    CHECK(offers == 3);
}

// ---- blocking ------------------------------------------------------------------------------------------------------

TEST_CASE("the blocking transactor offers the RPCs and returns their results") {
    scripted_transport net;
    coro::blocking_transactor umad(net);
    const IBDRPath to = route(1, 2);
    auto info = umad.SubnGet<smp::NodeInfo>(to);
    REQUIRE(info);
    CHECK(is_answer(info.value(), to));
    auto whole = umad.SubnGet<smp::NodeInfo, with_header>(to);
    REQUIRE(whole);
    CHECK(whole.value().header.method == iba::Method::GetResp);
    net.set_script(silence);
    auto none = umad.SubnGet<smp::NodeInfo>(to);
    REQUIRE(!none);
    CHECK(none.error().code == errc::timed_out);
}

TEST_CASE("a request built at run time is sent unchanged, and its whole reply is returned") {
    rig r(echoed);
    const mad::any_path to = lid_path(7);
    static constexpr mad::rpc_kind kind{iba::MgmtClass::SubnAdm, 2, iba::Method::Get, 0x11, true};
    std::array<u8, 256> request{};
    mad::write_request(request.data(), kind, to, 0, 0x8000000000000001);
    request[43] = 0x5a; // a byte of the SM_Key
    request[57] = 9;
    auto reply = sync_wait(r.schedule, r.schedule.call_raw({kind, to}, request));
    REQUIRE(reply);
    CHECK(std::equal(request.begin() + 24, request.end(), r.net.taken()[0].bytes.begin() + 24));
    REQUIRE(reply.value().payload.size() == 256);
    CHECK(reply.value().payload[57] == 9);
    CHECK(reply.value().header.method == iba::Method::GetResp);
}

// ---- redirection and ClassPortInfo ------------------------------------------------------------------------------------

namespace {

/// The reply to a GMP, with status REDIRECT or success, and with a ClassPortInfo (IBA 13.4.8.1, 13.5.2).
arrival class_port_info(const packet& p, const iba::ClassPortInfo& info, u8 status) {
    std::vector<u8> bytes = echo(p);
    bytes[5] = status;
    if (status == 0x02) bytes[17] = 0x01; // the attribute is ClassPortInfo, whatever was requested
    iba::encode(info, bytes.data() + 64);
    return {round_trip, bytes};
}

} // namespace

TEST_CASE("an RPC follows a redirection and remembers the target for the class") {
    iba::ClassPortInfo info;
    info.redirectLID = iba::lid{0x21};
    info.redirectQP = 0x123456;
    info.redirectQKey = 0x80010001;
    info.redirectSL = 5;
    const u64 first = mad::destination_key(lid_path(7));
    rig r([&](const packet& p) {
        if (p.destination == first && p.bytes[1] == 0x04) return fate{{}, {class_port_info(p, info, 0x02)}};
        return echoed(p);
    });
    mad::IBPath from_3 = lid_path(7);
    from_3.SLID = iba::lid{3};
    const auto get = [&] { return r.schedule.PerformanceGet<iba::pm::PortCounters, with_header>(from_3); };
    auto counters = sync_wait(r.schedule, get());
    REQUIRE(counters);
    const auto& path = std::get<mad::IBPath>(counters.value().path);
    CHECK(path.DLID == iba::lid{0x21});
    CHECK(path.dqpn == 0x123456);
    CHECK(path.qkey == 0x80010001);
    CHECK(path.SL == 5);
    CHECK(r.net.taken().size() == 2);
    const auto again = sync_wait(r.schedule, get());
    REQUIRE(again);
    CHECK(std::get<mad::IBPath>(again.value().path) == path);
    CHECK(path.SLID == iba::lid{3});
    mad::IBPath from_4 = from_3;
    from_4.SLID = iba::lid{4};
    auto other = sync_wait(r.schedule, r.schedule.PerformanceGet<iba::pm::PortCounters, with_header>(from_4));
    REQUIRE(other);
    CHECK(std::get<mad::IBPath>(other.value().path).SLID == iba::lid{4});
    CHECK(r.net.taken().size() == 4); // sent directly to the redirected address
    REQUIRE(sync_wait(r.schedule, r.schedule.BMGet<iba::ClassPortInfo>(lid_path(7))));
    CHECK(r.net.taken().back().destination == first); // another class was not redirected
}

TEST_CASE("a redirection with a GID and without a LID is resolved to a path once") {
    iba::ClassPortInfo info;
    info.redirectGID = iba::gid(iba::link_local_prefix, iba::guid{0x21});
    info.redirectQP = 0x123456;
    info.redirectQKey = 0x80010001;
    rig r([&](const packet& p) {
        return p.destination == mad::destination_key(lid_path(7)) ? fate{{}, {class_port_info(p, info, 0x02)}}
                                                                  : echoed(p);
    });
    /// Resolves one GID to the path of a LID, after a query to LID 1 if `sends_query` is set.
    struct resolver final : coro::path_resolver {
        explicit resolver(coro::MADSchedule& s) : schedule(s) { s.set_path_resolver(this); }
        coro::task<mad::result<mad::IBPath>> resolve_path(mad::IBPath to) override {
            ++request_count;
            if (sends_query) {
                BOOST_OUTCOME_CO_TRYV(co_await schedule.SubnGet<smp::NodeInfo>(lid_path(1)));
            }
            if (to.DGID != iba::gid(iba::link_local_prefix, iba::guid{0x21})) {
                mad::mad_error unknown;
                unknown.code = errc::path_not_found;
                co_return std::move(unknown);
            }
            to.DLID = iba::lid{0x21};
            to.SL = 3;
            co_return to;
        }
        coro::MADSchedule& schedule;
        bool sends_query = true;
        int request_count = 0;
    };
    const auto get = [&] { return r.schedule.PerformanceGet<iba::pm::PortCounters, with_header>(lid_path(7)); };

    SECTION("path known at once or later") {
        resolver ways(r.schedule);
        ways.sends_query = GENERATE(true, false);
        auto counters = sync_wait(r.schedule, get());
        REQUIRE(counters);
        const auto& path = std::get<mad::IBPath>(counters.value().path);
        CHECK(path.DLID == iba::lid{0x21});
        CHECK(path.SL == 3);
        CHECK(path.dqpn == 0x123456);
        CHECK(path.qkey == 0x80010001);
        REQUIRE(sync_wait(r.schedule, get()));
        CHECK(ways.request_count == 1);
    }
    SECTION("no path") {
        info.redirectGID = iba::gid(iba::link_local_prefix, iba::guid{0x22});
        resolver ways(r.schedule);
        ways.sends_query = GENERATE(true, false);
        auto counters = sync_wait(r.schedule, get());
        REQUIRE(!counters);
        CHECK(counters.error().code == errc::path_not_found);
    }
    SECTION("cancellation or destruction during the path query or after it") {
        resolver ways(r.schedule);
        ways.sends_query = GENERATE(true, false);
        r.net.set_script([&](const packet& p) {
            if (p.destination == mad::destination_key(lid_path(7))) return fate{{}, {class_port_info(p, info, 0x02)}};
            return p.destination == mad::destination_key(lid_path(9)) ? echoed(p) : silence(p);
        });
        const bool by_scope = GENERATE(true, false);
        const auto run_all = [&]() -> coro::task<int> {
            std::optional<errc> ended;
            const auto one = [&]() -> coro::task<void> {
                auto counters = co_await get();
                ended = counters.error().code;
            };
            coro::scope children(co_await coro::current_scope{});
            children.spawn(one());
            while (ways.request_count == 0)
                (void)co_await r.schedule.PerformanceGet<iba::pm::PortCounters>(lid_path(9));
            if (!by_scope) co_return -1; // leaving the scope destroys the task
            children.cancel();
            co_await children.join();
            co_return static_cast<int>(ended.value());
        };
        const int result = sync_wait(r.schedule, run_all());
        CHECK(result == (by_scope ? static_cast<int>(errc::cancelled) : -1));
    }
}

TEST_CASE("a redirection loop and a redirection without LID and GID are errors") {
    iba::ClassPortInfo info;
    info.redirectLID = iba::lid{0x21};
    rig circle([&](const packet& p) { return fate{{}, {class_port_info(p, info, 0x02)}}; });
    auto counters = sync_wait(circle.schedule, circle.schedule.PerformanceGet<iba::pm::PortCounters>(lid_path(7)));
    REQUIRE(!counters);
    CHECK(counters.error().code == errc::status);
    CHECK(circle.net.taken().size() == 4);

    rig nowhere([](const packet& p) { return fate{{}, {class_port_info(p, {}, 0x02)}}; });
    auto none = sync_wait(nowhere.schedule, nowhere.schedule.PerformanceGet<iba::pm::PortCounters>(lid_path(7)));
    REQUIRE(!none);
    CHECK(none.error().status == 0x02);
    CHECK(nowhere.net.taken().size() == 1);
}

TEST_CASE("a Set without an explicit timeout uses path lifetime and reported response time") {
    iba::ClassPortInfo info;
    info.respTimeValue = 8;
    rig r([&](const packet& p) { return fate{{}, {class_port_info(p, info, 0)}}; });
    mad::IBPath to = lid_path(7);
    to.packet_life_time = 10;
    to.resp_time = 12;
    const auto formula = [](int life, int response) { // IBA 13.4.6.2
        return mad::duration(4096 * ((u64{1} << (life + 1)) + (u64{1} << response)));
    };
    const iba::pm::PortCounters zeros;
    for (int i = 0; i < 2; ++i) { // the first reply contains no information: it is not a ClassPortInfo
        REQUIRE(sync_wait(r.schedule, r.schedule.PerformanceSet(zeros, to)));
        CHECK(r.net.taken().back().attempt_timeout == formula(10, 12));
    }
    REQUIRE(sync_wait(r.schedule, r.schedule.PerformanceGet<iba::ClassPortInfo>(to)));
    REQUIRE(sync_wait(r.schedule, r.schedule.PerformanceSet(zeros, to)));
    CHECK(r.net.taken().back().attempt_timeout == formula(10, 8));
    REQUIRE(sync_wait(r.schedule, r.schedule.PerformanceSet(zeros, to, 0, rpc_options{7ms})));
    CHECK(r.net.taken().back().attempt_timeout == 7ms);
    REQUIRE(sync_wait(r.schedule, r.schedule.PerformanceGet<iba::pm::PortCounters>(to, 0, rpc_options{7ms})));
    CHECK(r.net.taken().back().attempt_timeout == 7ms);
    to.DLID = iba::lid{8}; // the other targets announced nothing
    REQUIRE(sync_wait(r.schedule, r.schedule.PerformanceSet(zeros, to)));
    CHECK(r.net.taken().back().attempt_timeout == formula(10, 12));
}

// ---- tracing -------------------------------------------------------------------------------------------------------

namespace {

struct recorder final : mad::trace_sink {
    void on_event(const mad::trace_event& e) noexcept override { kinds.push_back(e.what); }
    std::vector<mad::trace_event::kind> kinds;
};

} // namespace

TEST_CASE("GMPs in flight to one destination are limited per class, separately from SMPs") {
    const u16 bound = GENERATE(u16{4}, u16{1}, u16{0});
    coro::schedule_options options{.max_outstanding = 64};
    if (bound != 4) options.gmps_per_destination = bound; // 4 is the default
    rig r([](const packet& p) { return fate{{}, {arrival{1ms, echo(p)}}}; }, options);
    std::map<u8, std::size_t> first; // per class: sent before any reply arrived
    const auto body = [&]() -> coro::task<void> {
        coro::scope all(co_await coro::current_scope{});
        const auto count = [](auto& s, mad::IBPath to) -> coro::task<void> {
            [[maybe_unused]] const auto counters = co_await s.template PerformanceGet<iba::pm::PortCounters>(to);
        };
        const auto look = [](auto& s, mad::IBPath to) -> coro::task<void> {
            [[maybe_unused]] const auto info = co_await s.template SubnGet<smp::NodeInfo>(to);
        };
        for (int i = 0; i < 20; ++i) {
            all.spawn(count(r.schedule, lid_path(7)));
            all.spawn(look(r.schedule, lid_path(7)));
            if (i < 10) all.spawn(count(r.schedule, lid_path(8)));
        }
        for (const packet& p : r.net.taken()) ++first[p.bytes[1]];
        co_await all.join();
    };
    sync_wait(r.schedule, body());
    CHECK(first[0x01] == 1);
    CHECK(first[0x04] == (bound ? 2u * bound : 30u));
    CHECK(r.net.taken().size() == 50);
}

TEST_CASE("a trace sink receives each send, retry, reply, timeout and stray MAD") {
    using kind = mad::trace_event::kind;
    unsigned offers = 0;
    rig r([&](const packet& p) { return offers++ == 1 ? fate{{}, {reply(p), reply(p, 2 * round_trip)}} : dropped(); });
    recorder trace;
    r.schedule.set_trace(&trace);
    REQUIRE(sync_wait(r.schedule,
                      r.schedule.SubnGet<smp::NodeInfo>(route(1), 0, rpc_options{.timeout = 1ms, .retries = 1})));
    REQUIRE(!sync_wait(r.schedule,
                       r.schedule.SubnGet<smp::NodeInfo>(route(1), 0, rpc_options{.timeout = 1ms, .retries = 0})));
    CHECK(trace.kinds ==
          std::vector<kind>{kind::send, kind::retry, kind::reply, kind::send, kind::unexpected, kind::timed_out});
    r.schedule.set_trace(nullptr);
    REQUIRE(!sync_wait(r.schedule,
                       r.schedule.SubnGet<smp::NodeInfo>(route(1), 0, rpc_options{.timeout = 1ms, .retries = 0})));
    CHECK(trace.kinds.size() == 6);
}

TEST_CASE("tracers print lines identical to those of python-rdma") {
    std::vector<std::string> lines;
    const auto keep = [&](const std::string& line) { lines.push_back(line); };
    unsigned offers = 0;
    rig r([&](const packet& p) { return offers++ == 1 ? answered(p) : dropped(); });
    mad::simple_tracer simple(keep);
    r.schedule.set_trace(&simple);
    const std::string rpc = "RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPNodeInfo(17) ";
    REQUIRE(sync_wait(r.schedule,
                      r.schedule.SubnGet<smp::NodeInfo>(route(1), 0, rpc_options{.timeout = 1ms, .retries = 1})));
    REQUIRE(!sync_wait(r.schedule,
                       r.schedule.SubnGet<smp::NodeInfo>(route(1, 2), 0, rpc_options{.timeout = 1ms, .retries = 0})));
    CHECK(lines == std::vector<std::string>{rpc + "retry to 'DR Path (0, 1)'.",
                                            rpc + "completed to 'DR Path (0, 1)' len 256.",
                                            rpc + "TIMED OUT to 'DR Path (0, 1, 2)'."});
    lines.clear();
    mad::dumper_tracer dumper(keep);
    r.schedule.set_trace(&dumper);
    offers = 1;
    REQUIRE(sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(route(1))));
    REQUIRE(lines.size() > 100); // one line for almost each word of the request and the reply
    CHECK(lines[1] == "Request MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPNodeInfo(17)");
    CHECK(lines[2].starts_with("  0 01810101 baseVersion=1,mgmtClass=129"));
    CHECK(std::find(lines.begin(), lines.end(),
                    "Reply MAD_METHOD_GET_RESP(129) SMPFormatDirected(129.1) SMPNodeInfo(17)") != lines.end());
}

TEST_CASE("describe_mad identifies a vendor attribute by OUI and attribute ID") {
    const auto text_of = [](u32 OUI) {
        std::array<u8, mad::mad_size> mad{};
        mad[0] = 1;
        mad[1] = 0x33; // a vendor class with an OUI (IBA 16.5)
        mad[2] = 1;
        mad[3] = 1;
        mad[17] = 0x10;
        for (unsigned i = 0; i < 3; ++i) mad[37 + i] = static_cast<u8>(OUI >> (16 - 8 * i));
        return mad::describe_mad(mad);
    };
    CHECK_THAT(text_of(0x001405), Catch::EndsWith(" OFASysStatPing(16)")); // the OpenFabrics Alliance
    CHECK_THAT(text_of(0x0002c9), Catch::EndsWith(" ?\?(16)"));
}

// ---- errors in full ------------------------------------------------------------------------------------------------

TEST_CASE("an error prints the details of the requested level") {
    rig r([](const packet& p) {
        fate f = echoed(p);
        f.arrivals[0].bytes[4] = 0x03; // ERR_NO_RECORDS
        return f;
    });
    auto record = sync_wait(r.schedule, r.schedule.SubnAdmGet<NodeRecord>({}, lid_path(7)));
    REQUIRE(!record);
    mad::mad_error& e = record.error();
    const std::string rpc = "RPC MAD_METHOD_GET(1) SAFormat(3.2) SANodeRecord(17) got class specific error "
                            "MAD_STATUS_SA_NO_RECORDS(3) from 'Path 0 -> 7 SL=0 PKey=0xffff DQPN=1'";
    CHECK(dump(e, 0) == "E: " + rpc + "\n");
    e.message("no such node");
    e.message("query failed");
    CHECK(dump(e, 0) == "E: query failed [" + rpc + "]\n");
    CHECK(dump(e, 1) == "E: query failed\nE: +no such node\nE: +" + rpc + "\nE: +MAD path was IBPath(DLID=7)\n");
    const std::string all = dump(e, 2, "D: ");
    CHECK(all.find("\nD: +Request Packet SAFormat\nD:   0 01030201 ") != std::string::npos);
    CHECK(all.find("\nD: +Reply Packet SAFormat\nD:   0 01030281 ") != std::string::npos);
}

TEST_CASE("an SA Get uses timeout and retries of its path instead of measured times") {
    rig r(silence);
    mad::IBPath SA;
    SA.DLID = iba::lid{1};
    SA.packet_life_time = 14;
    r.schedule.set_sa_path(SA);
    iba::query<NodeRecord> query;
    query.where<&NodeRecord::LID>(iba::lid{3});
    REQUIRE(!sync_wait(r.schedule, r.schedule.SubnAdmGet(query)));
    REQUIRE(!r.net.taken().empty());
    CHECK(r.net.taken()[0].attempt_timeout == mad::mad_timeout(mad::any_path(SA)));
    CHECK(r.net.taken().size() == 1u + coro::schedule_options::usual_retries);
}

TEST_CASE("a timeout after a redirection counts for the new target and shortens its time limit") {
    iba::ClassPortInfo info;
    info.redirectLID = iba::lid{0x21};
    info.redirectQP = 1;
    info.redirectQKey = 0x80010000;
    rig r([&](const packet& p) {
        if (p.destination == mad::destination_key(lid_path(7))) return fate{{}, {class_port_info(p, info, 0x02)}};
        return silence(p);
    });
    const auto wait_for = [&](u16 lid) {
        const mad::time_point begin = r.net.now();
        REQUIRE(!sync_wait(r.schedule, r.schedule.PerformanceGet<iba::pm::PortCounters>(lid_path(lid))));
        return r.net.now() - begin;
    };
    const mad::duration first = wait_for(7);
    CHECK(wait_for(0x21) < first / 2);
}
