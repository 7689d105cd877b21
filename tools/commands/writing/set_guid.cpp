// SPDX-License-Identifier: MIT
// set_guid.cpp - set_guid: sets an alias GUID of a port through a record of the SA. Sends no SMPs that write.
#include "comad.hpp"
#include "command.hpp"
#include "session/queries.hpp"
#include "session/read_back.hpp"
#include "text/sa_text.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

using iba::sa::GUIDInfoRecord;
using iba::smp::GUIDInfo;

/// The command line of set_guid.
struct set_guid_settings {
    std::string target, slot, GUID;
    target_options kind;
    bool deletes = false, json = false;
};

constexpr unsigned slots_per_block = std::tuple_size_v<decltype(GUIDInfo::GUIDBlock)>;

/// The change of one slot. A GUID of zero lets the SA choose one, or deletes the slot.
struct guid_change {
    unsigned slot;
    iba::guid GUID;
    bool deletes;
};

iba::guid read_guid(const std::string& text) {
    auto number = iba::parse_guid_number(text);
    if (!number) number = iba::parse_number(text);
    if (number && !number->is_larger) return iba::guid{number->value};
    throw usage_error(
        fmt::format("invalid GUID {}; expected 0002:c903:0000:1491, 0x2c90300001491, or 0 (the SA chooses one)",
                    iba::as_given(text)));
}

guid_change read_change(const set_guid_settings& s) {
    constexpr unsigned highest = 254; // PortInfo.GUIDCap allows at most 255 slots, from 0
    const unsigned slot = read_number(s.slot, "the slot", highest);
    if (slot == 0) throw usage_error("slot 0 holds the port's own GUID, which cannot be changed; use slot 1..254");
    if (s.deletes == !s.GUID.empty())
        throw usage_error(s.deletes ? "--delete takes no GUID" : "no GUID given; 0 lets the SA choose one");
    return {slot, s.deletes ? iba::guid{} : read_guid(s.GUID), s.deletes};
}

comad::coro::task<mad::result<GUIDInfoRecord>> send_change(session& in, iba::query<GUIDInfoRecord> record,
                                                           bool deletes) {
    if (deletes) co_return co_await in.schedule().SubnAdmDelete(record);
    co_return co_await in.schedule().SubnAdmSet(record);
}

/// Returns the table block that the SA holds. Without a record, all slots are empty.
query_task<GUIDInfoRecord> table_at(session& in, iba::query<GUIDInfoRecord> place) {
    auto found = co_await in.schedule().SubnAdmGet(place);
    constexpr comad::u8 no_records = 3; // IBA 15.2.4
    const bool is_none = !found && found.error().code == mad::errc::class_status &&
                         iba::class_status(found.error().status) == no_records;
    if (is_none) co_return GUIDInfoRecord{};
    co_return found;
}

/// Changes one slot, and reads the table back.
query_task<report> make_change(session& in, command_target target, guid_change c, bool json) {
    require_sa(in);
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto port, co_await lid_routed(in, path));
    const iba::lid LID = port.DLID;
    auto place = iba::query<GUIDInfoRecord>{}.where<&GUIDInfoRecord::LID>(LID);
    place.where<&GUIDInfoRecord::blockNum>(static_cast<u8>(c.slot / slots_per_block));
    const unsigned index = c.slot % slots_per_block;
    auto record = place;
    record.where<&GUIDInfoRecord::GUIDInfo, &GUIDInfo::GUIDBlock>(index, c.GUID);

    auto reply = co_await send_change(in, record, c.deletes);
    const mad::mad_error* const failure = reply ? nullptr : &reply.error();
    if (failure && !mad::may_have_acted(*failure)) co_return std::move(reply.error());
    const std::function<query_task<GUIDInfoRecord>()> reads = [&] { return table_at(in, place); };
    auto reading = read_back<GUIDInfoRecord>(in, reads);
    const auto read = co_await std::move(reading);
    const std::string where = fmt::format("slot {} of LID {}", c.slot, value(LID));
    report done;
    if (!read) {
        done.missing.push_back(unknown_change(where, decisive(failure, read.error())));
        co_return done;
    }
    GUIDInfoRecord now = read.value();
    now.LID = LID; // missing if the SA has no record
    now.blockNum = static_cast<u8>(c.slot / slots_per_block);
    const GUIDInfoRecord& shown = reply && now.GUIDInfo == reply.value().GUIDInfo ? reply.value() : now;
    done.text = json ? iba::json(shown) + '\n' : format_saquery(shown);
    // OpenSM does not reject a GUID that another port already has: it leaves the table unchanged.
    const iba::guid has = now.GUIDInfo.GUIDBlock[index];
    const bool is_done = c.deletes || c.GUID == iba::guid{} ? c.deletes == (has == iba::guid{}) : has == c.GUID;
    if (!is_done)
        done.missing.push_back(
            not_set(where,
                    fmt::format("the slot holds {}{}", has,
                                c.deletes ? "" : "; check whether another port already has the requested GUID"),
                    failure));
    co_return done;
}

int run_set_guid(const set_guid_settings& s, const global_options& options) {
    const command_target target = read_target(s.target, s.kind);
    const guid_change c = read_change(s);
    return run_query(options, &target, [&](session& in) { return make_change(in, target, c, s.json); });
}

} // namespace

command set_guid_command() {
    return {
        .name = "set_guid", .group = command_group::writing, .writes = true, .declare = [](arguments& takes) -> action {
            auto s = std::make_shared<set_guid_settings>();
            takes.option("target", s->target).required();
            takes.option("slot", s->slot).required();
            takes.option("guid", s->GUID);
            add_target_options(takes, s->kind);
            takes.flag("--delete", s->deletes);
            takes.flag("--json", s->json);
            return [s](const global_options& options) { return run_set_guid(*s, options); };
        }};
}

} // namespace ibtool
