// SPDX-License-Identifier: MIT
// congestion_sets.cpp - parses the values of ibccconfig within the limits of their fields (IBA A10.4.3), and writes and verifies one
// attribute.
#include "commands/writing/congestion_sets.hpp"

#include "comad.hpp"
#include "session/read_back.hpp"
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/compare_structures.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/fields.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ibtool {
namespace {

using value_words = std::vector<std::string>;

// ---- one attribute -------------------------------------------------------------------------------------------------------

/// Changes a structure that was read into the structure to write.
template <class T> using changing = std::function<void(T&)>;

std::string format_field(const iba::record_info& info, std::span<const u8> bytes, const std::string& field) {
    if (iba::is_key(iba::find_field(info, field).value())) return "<not displayed>";
    return iba::get_field(info, bytes, field).value();
}

/// Returns the fields that differ. Ignores controlMap, which is not a state: it selects what a Set changes.
template <class T> std::vector<field_change> changes_between(const T& before, const T& after) {
    const auto was = iba::encode(before), is = iba::encode(after);
    std::vector<field_change> all;
    for (const std::string& field : iba::differences(before, after))
        if (field != "controlMap")
            all.push_back({field, format_field(iba::info_of<T>, was, field), format_field(iba::info_of<T>, is, field)});
    return all;
}

/// Puts the CC_Key that a port has after a Set into the path.
void take_key(mad::IBPath& path, const cc::CongestionKeyInfo& set) { path.CCKey = set.CCKey; }
template <class T> void take_key(mad::IBPath&, const T&) {}

template <class T> query_task<T> read_setting(session& in, mad::IBPath path, u32 modifier) {
    co_return co_await in.schedule().CongestionControlGet<T>(path, modifier);
}

/// Reads the attribute back with the CC_Key that the port has after the Set. If the Set got no reply and the port does not reply to the
/// new key, reads with the old one.
template <class T>
query_task<T> read_setting_after(session& in, mad::IBPath before, mad::IBPath after, u32 modifier,
                                 bool is_Set_answered) {
    const std::function<query_task<T>()> reads = [&] { return read_setting<T>(in, after, modifier); };
    auto reading = read_back<T>(in, reads);
    auto read = co_await std::move(reading);
    if (read || is_Set_answered || before == after) co_return read;
    const std::function<query_task<T>()> reads_as_before = [&] { return read_setting<T>(in, before, modifier); };
    auto reading_as_before = read_back<T>(in, reads_as_before);
    co_return co_await std::move(reading_as_before);
}

template <class T>
query_task<congestion_outcome> change(session& in, mad::IBPath path, u32 modifier, changing<T> apply, bool dry_run) {
    BOOST_OUTCOME_CO_TRY(const auto before, co_await in.schedule().CongestionControlGet<T>(path, modifier));
    T wanted = before;
    apply(wanted);
    congestion_outcome outcome;
    outcome.changes = changes_between(before, wanted);
    if (dry_run) co_return outcome;
    auto reply = co_await in.schedule().CongestionControlSet<T>(wanted, path, modifier);
    const mad::mad_error* const failure = reply ? nullptr : &reply.error();
    if (failure && !mad::may_have_acted(*failure)) co_return std::move(reply.error());
    mad::IBPath path_after = path;
    take_key(path_after, wanted);
    auto reading = read_setting_after<T>(in, path, path_after, modifier, !failure);
    const auto now = co_await std::move(reading);
    if (!now) {
        outcome.not_taken.push_back(unknown_change({}, decisive(failure, now.error())));
        outcome.is_known = false;
        co_return outcome;
    }
    std::vector<field_change> changed = changes_between(before, now.value());
    std::erase_if(changed, [&](const field_change& c) {
        return std::ranges::find(outcome.changes, c.field, &field_change::field) == outcome.changes.end();
    });
    T expected = now.value();
    apply(expected);
    for (const field_change& c : changes_between(expected, now.value()))
        outcome.not_taken.push_back(
            not_set({}, fmt::format("{} is {}, but {} was requested", c.field, c.after, c.before), failure));
    outcome.changes = std::move(changed);
    co_return outcome;
}

/// Returns the Set that changes one attribute with `apply`.
template <class T> congestion_set set_of(std::string_view name, changing<T> apply, u32 modifier = 0) {
    return {.name = name, .set = [=](session& in, mad::IBPath to, bool dry_run) {
                return change<T>(in, to, modifier, apply, dry_run);
            }};
}

// ---- values --------------------------------------------------------------------------------------------------------------

/// Reads the values of an operation in order. Throws usage_error if there are too many or too few.
class value_reader {
public:
    value_reader(std::string_view operation, const value_words& values, std::size_t least, std::size_t most)
        : values_(values) {
        if (values.size() >= least && values.size() <= most) return;
        throw usage_error(fmt::format("{} takes {} values, but got {}; expected {}", operation,
                                      least == most ? fmt::to_string(least) : fmt::format("{} to {}", least, most),
                                      values.size(), ibccconfig_values(operation)));
    }

    const std::string& word() { return values_[next_++]; }
    bool has_more() const { return next_ < values_.size(); }
    template <class Number = u32> Number number(const char* what, u32 most) {
        return static_cast<Number>(read_number(word(), what, most));
    }
    u64 key() {
        const auto number = iba::parse_number(word());
        if (!number || number->is_larger) throw usage_error("the CC_Key must be a 64-bit number");
        return number->value;
    }
    /// Parses a mask of 256 bits in hex, with or without 0x. The last digit contains the last bits.
    std::array<u8, 32> mask(const char* what);
    /// Parses `SHIFT:MULTIPLIER`.
    cc::CongestionControlTableEntry delay(const char* what);

    static std::string_view ibccconfig_values(std::string_view operation);

private:
    const value_words& values_;
    std::size_t next_ = 0;
};

/// The values that an operation takes, for messages.
struct operation_values {
    std::string_view name, values;
};
constexpr operation_values values_of_operations[] = {
    {"CongestionKeyInfo", "CCKEY PROTECTBIT LEASEPERIOD VIOLATIONS"},
    {"SwitchCongestionSetting",
     "CONTROLMAP VICTIMMASK CREDITMASK THRESHOLD PACKETSIZE CSTHRESHOLD CSRETURNDELAY MARKINGRATE"},
    {"SwitchPortCongestionSetting", "PORT VALID CONTROLTYPE THRESHOLD PACKETSIZE MARKINGRATE"},
    {"CACongestionSetting", "PORTCONTROL CONTROLMAP CCTITIMER CCTIINCREASE TRIGGERTHRESHOLD CCTIMIN"},
    {"CongestionControlTable", "CCTILIMIT BLOCK SHIFT:MULTIPLIER ... (up to 64)"},
};

std::string_view value_reader::ibccconfig_values(std::string_view operation) {
    return std::ranges::find(values_of_operations, operation, &operation_values::name)->values;
}

std::array<u8, 32> value_reader::mask(const char* what) {
    const std::string& given = word();
    std::string_view digits = given;
    if (iba::begins_hex(digits)) digits.remove_prefix(2);
    std::array<u8, 32> bytes{};
    const bool is_hex = digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
    if (digits.empty() || !is_hex || digits.size() > 2 * bytes.size())
        throw usage_error(fmt::format("{} is {}, expected up to 64 hex digits", what, iba::as_given(given)));
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const char digit = digits[digits.size() - 1 - i];
        const auto number = iba::parse_digits(std::string_view(&digit, 1), 16).value().value;
        bytes[bytes.size() - 1 - i / 2] |= static_cast<u8>(number << i % 2 * 4);
    }
    return bytes;
}

cc::CongestionControlTableEntry value_reader::delay(const char* what) {
    constexpr u32 highest_shift = 3, highest_multiplier = 0x3fff;
    const std::string& given = word();
    const std::size_t colon = given.find(':');
    if (colon == given.npos)
        throw usage_error(fmt::format("{} is {}, expected SHIFT:MULTIPLIER", what, iba::as_given(given)));
    const u32 shift = read_number(given.substr(0, colon), "the shift", highest_shift);
    const u32 multiplier = read_number(given.substr(colon + 1), "the multiplier", highest_multiplier);
    return {static_cast<u8>(shift), static_cast<u16>(multiplier)};
}

// ---- operations ------------------------------------------------------------------------------------------------------------

congestion_set read_key_info(std::string_view name, const value_words& values) {
    value_reader v(name, values, 4, 4);
    cc::CongestionKeyInfo given;
    given.CCKey = v.key();
    given.CCKeyProtectBit = v.number("the protect bit", 1) != 0;
    given.CCKeyLeasePeriod = v.number<u16>("the lease period", 0xffff);
    const u32 violations = v.number("the number of violations", 0xffff);
    return set_of<cc::CongestionKeyInfo>(name, [=](cc::CongestionKeyInfo& k) {
        k.CCKey = given.CCKey;
        k.CCKeyProtectBit = given.CCKeyProtectBit;
        k.CCKeyLeasePeriod = given.CCKeyLeasePeriod;
        if (violations == 0) k.CCKeyViolations = 0; // the node ignores any other value
    });
}

congestion_set read_switch_setting(std::string_view name, const value_words& values) {
    constexpr u32 victim_mask = 1 << 0, credit_mask = 1 << 1, threshold = 1 << 2, starvation = 1 << 3, rate = 1 << 4;
    value_reader v(name, values, 8, 8);
    cc::SwitchCongestionSetting given;
    given.controlMap = v.number("the control map", 0xffffffff);
    given.victimMask = v.mask("the victim mask");
    given.creditMask = v.mask("the credit mask");
    given.threshold = v.number<u8>("the threshold", 15);
    given.packetSize = v.number<u8>("the packet size", 255);
    given.CSThreshold = v.number<u8>("the threshold of credit starvation", 15);
    const auto delay = v.delay("the return delay");
    given.CSReturnDelay = static_cast<u16>(delay.CCTShift << 14 | delay.CCTMultiplier);
    given.markingRate = v.number<u16>("the marking rate", 0xffff);
    congestion_set what = set_of<cc::SwitchCongestionSetting>(name, [given](cc::SwitchCongestionSetting& s) {
        s.controlMap = given.controlMap;
        if (given.controlMap & victim_mask) s.victimMask = given.victimMask;
        if (given.controlMap & credit_mask) s.creditMask = given.creditMask;
        if (given.controlMap & threshold) {
            s.threshold = given.threshold;
            s.packetSize = given.packetSize;
        }
        if (given.controlMap & starvation) {
            s.CSThreshold = given.CSThreshold;
            s.CSReturnDelay = given.CSReturnDelay;
        }
        if (given.controlMap & rate) s.markingRate = given.markingRate;
    });
    what.is_of_switches = true;
    return what;
}

/// Changes the settings of one switch port. Checks the port number first: a switch accepts elements of ports that it does not have.
query_task<congestion_outcome> change_port(session& in, mad::IBPath to, unsigned port,
                                           cc::SwitchPortCongestionSettingElement wanted, bool dry_run) {
    using cc::SwitchPortCongestionSetting;
    constexpr unsigned per_block = std::tuple_size_v<decltype(SwitchPortCongestionSetting::element)>;
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<iba::smp::NodeInfo>(to));
    if (node.nodeType != iba::NodeType::Switch)
        throw std::runtime_error(
            fmt::format("LID {} is not a switch; only switches have SwitchPortCongestionSetting", value(to.DLID)));
    if (port > node.numPorts) {
        congestion_outcome refused;
        refused.not_taken.push_back(of_write(failure_at(
            {}, fmt::format("not changed: the switch has no port {}; its highest port is {}", port, node.numPorts))));
        co_return refused;
    }
    changing<SwitchPortCongestionSetting> apply = [=](SwitchPortCongestionSetting& s) {
        s.element[port % per_block] = wanted;
    };
    co_return co_await change<SwitchPortCongestionSetting>(in, to, port / per_block, std::move(apply), dry_run);
}

congestion_set read_port_setting(std::string_view name, const value_words& values) {
    value_reader v(name, values, 6, 6);
    const u32 port = v.number("the port", 254);
    cc::SwitchPortCongestionSettingElement given;
    given.valid = v.number("the valid bit", 1) != 0;
    given.controlType = v.number("the control type", 1) != 0;
    given.threshold = v.number<u8>("the threshold", 15);
    given.packetSize = v.number<u8>("the packet size", 255);
    given.congParmMarkingRate = v.number<u16>("the marking rate", 0xffff);
    return {.name = name, .is_of_switches = true, .set = [=](session& in, mad::IBPath to, bool dry_run) {
                return change_port(in, to, port, given, dry_run);
            }};
}

congestion_set read_ca_setting(std::string_view name, const value_words& values) {
    value_reader v(name, values, 6, 6);
    const u16 port_control = v.number<u16>("the port control", 0xffff);
    const u16 control_map = v.number<u16>("the control map", 0xffff);
    cc::CACongestionEntry given;
    given.CCTITimer = v.number<u16>("the CCTI timer", 0xffff);
    given.CCTIIncrease = v.number<u8>("the CCTI increase", 255);
    given.triggerThreshold = v.number<u8>("the trigger threshold", 255);
    given.CCTIMin = v.number<u8>("the lowest CCTI", 255);
    congestion_set what = set_of<cc::CACongestionSetting>(name, [=](cc::CACongestionSetting& s) {
        s.portControl = port_control;
        s.controlMap = control_map;
        for (std::size_t SL = 0; SL < s.congestionEntry.size(); ++SL)
            if (control_map >> SL & 1) s.congestionEntry[SL] = given;
    });
    what.is_of_cas = true;
    return what;
}

congestion_set read_table(std::string_view name, const value_words& values) {
    constexpr unsigned per_block = std::tuple_size_v<decltype(cc::CongestionControlTable::entry)>;
    value_reader v(name, values, 2, 2 + per_block);
    const u16 limit = v.number<u16>("the limit", 0xffff);
    const u32 block = v.number("the block", 0xffff / per_block);
    std::vector<cc::CongestionControlTableEntry> entries;
    while (v.has_more()) entries.push_back(v.delay("an entry"));
    if (limit != 0 && limit + 1u != block * per_block + entries.size())
        throw usage_error(fmt::format("the limit is {}, but the last given entry has the number {}; they must be equal",
                                      limit, static_cast<long>(block * per_block + entries.size()) - 1));
    congestion_set what = set_of<cc::CongestionControlTable>(
        name,
        [=](cc::CongestionControlTable& t) {
            t.CCTILimit = limit;
            std::ranges::copy(entries, t.entry.begin());
        },
        block);
    what.is_of_cas = true;
    return what;
}

} // namespace

congestion_set read_congestion_set(std::string_view name, const value_words& values) {
    if (name == "CongestionKeyInfo") return read_key_info(name, values);
    if (name == "SwitchCongestionSetting") return read_switch_setting(name, values);
    if (name == "SwitchPortCongestionSetting") return read_port_setting(name, values);
    if (name == "CACongestionSetting") return read_ca_setting(name, values);
    return read_table(name, values);
}

std::string text_of(const std::string& place, const congestion_set& what, const congestion_outcome& o, bool dry_run) {
    std::vector<std::string> changes;
    for (const field_change& c : o.changes) changes.push_back(fmt::format("{} {} -> {}", c.field, c.before, c.after));
    std::string end = fmt::format("{}", fmt::join(changes, ", "));
    if (!o.is_known) end = "unknown";
    else if (changes.empty()) end = dry_run ? "nothing would change" : "nothing changed";
    else if (dry_run) end = "would change " + end;
    return fmt::format("{}: {}: {}\n", place, what.name, end);
}

nlohmann::ordered_json json_of(const congestion_set& what, const congestion_outcome& o, bool dry_run) {
    nlohmann::ordered_json changes = nlohmann::ordered_json::array();
    for (const field_change& c : o.changes)
        changes.push_back({{"field", c.field}, {"before", c.before}, {"after", c.after}});
    nlohmann::ordered_json line{{"attribute", what.name}, {"changes", std::move(changes)}, {"dry_run", dry_run}};
    if (!dry_run) line["verified"] = o.not_taken.empty();
    return line;
}

} // namespace ibtool
