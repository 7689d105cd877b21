// SPDX-License-Identifier: MIT
// ibsendtrap.cpp - ibsendtrap: sends the subnet manager a trap about an event that did not happen. Names and values as in
// infiniband-diags.
#include "comad.hpp"
#include "command.hpp"
#include "session/queries.hpp"
#include "session/read_back.hpp"
#include "text/json.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

using iba::NoticeType;
using iba::TrapNumber;

/// The port that sends the trap.
struct sender {
    smp::NodeInfo node;
    smp::PortInfo port;
    iba::lid LID;
    u8 error_port; ///< port that the trap reports
};

template <iba::wire Details>
iba::Notice notice_of(const sender& from, NoticeType type, TrapNumber number, const Details& details) {
    iba::Notice n;
    n.isGeneric = true;
    n.noticeType = type;
    n.nodeType = static_cast<iba::ProducerType>(from.node.nodeType);
    n.trapNumber = number;
    n.issuerLID = from.LID;
    n.dataDetails = iba::encode(details);
    return n;
}

// ---- notices of the traps (IBA 14.2.5.1) ---------------------------------------------------------------------------------

constexpr u64 some_key = 0x1234567812345678;

iba::NoticeTrap144 local_change(const sender& from) {
    iba::NoticeTrap144 d;
    d.lidAddr = from.LID;
    d.otherLocalChanges = true;
    d.capabilityMask = from.port.capabilityMask;
    return d;
}

iba::Notice node_desc_change(const sender& from) {
    auto d = local_change(from);
    d.nodeDescriptionChange = true;
    return notice_of(from, NoticeType::Informational, TrapNumber::LocalChange, d);
}

iba::Notice link_speed_enabled_change(const sender& from) {
    auto d = local_change(from);
    d.linkSpeedEnabledChange = true;
    return notice_of(from, NoticeType::Informational, TrapNumber::LocalChange, d);
}

iba::Notice local_link_integrity(const sender& from) {
    iba::NoticeTrap129 d;
    d.lidAddr = from.LID;
    d.portNum = from.error_port;
    return notice_of(from, NoticeType::Urgent, TrapNumber::LinkIntegrityThreshold, d);
}

/// Reports the present systemImageGUID as the new one, because the subnet manager may use the reported value.
iba::Notice sys_image_guid_change(const sender& from) {
    iba::NoticeTrap145 d;
    d.lidAddr = from.LID;
    d.systemImageGUID = from.node.systemImageGUID;
    return notice_of(from, NoticeType::Informational, TrapNumber::SystemImageGUIDChange, d);
}

iba::NoticeTrap256 bad_m_key(const sender& from) {
    iba::NoticeTrap256 d;
    d.lidAddr = from.LID;
    d.drSLID = iba::lid{0xffff};
    d.method = value(iba::Method::Get);
    d.attributeID = iba::attribute_id<smp::PortInfo>;
    d.attributeModifier = 0x12;
    d.MKey = some_key;
    return d;
}

iba::Notice mkey_lid(const sender& from) {
    return notice_of(from, NoticeType::Security, TrapNumber::BadMKey, bad_m_key(from));
}

iba::Notice mkey_dr(const sender& from) {
    auto d = bad_m_key(from);
    d.drNotice = true;
    d.drHopCount = 4;
    d.drNoticeReturnPath0 = 5;
    d.drNoticeReturnPath1 = 6;
    d.drNoticeReturnPath2 = 7;
    d.drNoticeReturnPath3 = 8;
    return notice_of(from, NoticeType::Security, TrapNumber::BadMKey, d);
}

iba::Notice bad_key(const sender& from, TrapNumber number) {
    iba::NoticeTrap257 d;
    d.lidAddr1 = iba::lid{1};
    d.lidAddr2 = iba::lid{2};
    d.key = 0x12345678;
    d.qp1 = 0x010101;
    d.qp2 = 0x020202;
    d.gidAddr1 = iba::gid(0xf8c0000000000001, iba::guid{0x1111222233334444});
    d.gidAddr2 = iba::gid(0xf8c0000000000001, iba::guid{0x5678567812341234});
    return notice_of(from, NoticeType::Security, number, d);
}

iba::Notice pkey(const sender& from) { return bad_key(from, TrapNumber::BadPKey); }
iba::Notice qkey(const sender& from) { return bad_key(from, TrapNumber::BadQKey); }

/// A trap: its name, and the function that makes its notice.
struct trap {
    std::string_view name;
    iba::Notice (*make)(const sender&);
};
constexpr trap traps[] = {
    {"node_desc_change", node_desc_change},
    {"link_speed_enabled_change", link_speed_enabled_change},
    {"local_link_integrity", local_link_integrity},
    {"sys_image_guid_change", sys_image_guid_change},
    {"mkey_lid", mkey_lid},
    {"mkey_dr", mkey_dr},
    {"pkey", pkey},
    {"qkey", qkey},
};

std::vector<std::string_view> trap_names() {
    std::vector<std::string_view> names;
    for (const trap& t : traps) names.push_back(t.name);
    return names;
}

// ---- the command -----------------------------------------------------------------------------------------------------

/// The command line of ibsendtrap.
struct ibsendtrap_settings {
    std::string name = std::string(traps[0].name), error_port;
    bool json = false;
};

const trap& trap_named(const std::string& name) {
    for (const trap& t : traps)
        if (t.name == name) return t;
    throw usage_error(fmt::format("unknown trap {}; the nearest are {} (see --help for all)", iba::as_given(name),
                                  iba::most_similar(name, trap_names())));
}

query_task<report> send_trap(session& in, const trap& which, u8 error_port, bool json) {
    require_sa(in);
    const mad::any_path ourselves = this_node().path;
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(ourselves));
    BOOST_OUTCOME_CO_TRY(const auto port, co_await in.SubnGet<smp::PortInfo>(ourselves));
    const iba::Notice notice = which.make({node, port, in.local_port().LID, error_port});
    mad::IBPath manager;
    manager.DLID = in.local_port().sa_path.DLID;
    manager.SL = in.local_port().sa_path.SL;
    BOOST_OUTCOME_CO_TRY(const auto path, co_await in.paths().with_keys(manager));
    auto sent = co_await in.schedule().Trap(notice, path);
    if (!sent && !mad::may_have_acted(sent.error())) co_return std::move(sent.error());
    report done;
    if (sent && json) done.text = json_line(structure_json(sent.value()));
    // Waits for a reply to a later query: ibsim drops the packets that a client sent just before it disconnects.
    const auto answered = co_await in.SubnGet<smp::NodeInfo>(ourselves);
    if (sent && answered) co_return done;
    const mad::mad_error& e = sent ? answered.error() : sent.error();
    const std::string what = "it is unknown whether the trap was sent: ";
    done.missing.push_back(of_write(failure_at({}, what + to_string(e), what + plain_text(e))));
    co_return done;
}

int run_ibsendtrap(const ibsendtrap_settings& s, const global_options& options) {
    const trap& which = trap_named(s.name);
    if (!s.error_port.empty() && which.make != local_link_integrity)
        throw usage_error("only local_link_integrity takes a port; for other traps, omit it");
    const unsigned port = s.error_port.empty() ? 1 : read_number(s.error_port, "the port", 254);
    return run_query(options, nullptr,
                     [&](session& in) { return send_trap(in, which, static_cast<u8>(port), s.json); });
}

} // namespace

command ibsendtrap_command() {
    return {.name = "ibsendtrap",
            .group = command_group::writing,
            .no_sa_reason = "a trap is an SMP",
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibsendtrap_settings>();
                takes.option("name", s->name).shows_default();
                takes.option("port", s->error_port);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibsendtrap(*s, options); };
            }};
}

} // namespace ibtool
