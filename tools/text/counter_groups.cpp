// SPDX-License-Identifier: MIT
// counter_groups.cpp - lines, sums and selections of counters, derived from the rows of the field tables.
#include "text/counter_groups.hpp"

#include "comad.hpp"
#include "input/error_thresholds.hpp"
#include "text/dotted_lines.hpp"
#include <comad/counters/detail/counter_fields.hpp>
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/fields.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ibtool {

using counters::capabilities;
using counters::counter;
using counters::counter_set;
using iba::ClassPortInfo;

namespace {

bool is_narrow(const counter_group& g) { return &g == &group_of<pm::PortCounters>; }
bool is_wide(const counter_group& g) { return &g == &group_of<pm::PortCountersExt>; }

/// Returns the capabilities of a PMA for a group. A PMA that is queried for PortCountersExtended is expected to support it, even if its
/// ClassPortInfo does not announce this: perfquery -x prints a warning, and sends the query.
capabilities capabilities_for(const counter_group& g, ClassPortInfo info) {
    if (is_wide(g)) info.capabilityMask |= value(iba::PMCapability::IsExtendedWidthSupportedNoIETF);
    return capabilities::of(info);
}

// ---- text ------------------------------------------------------------------------------------------------------------

/// Labels of libibmad that differ from the names of the IBA.
constexpr std::pair<std::string_view, std::string_view> special_labels[] = {
    {"portXmitDataSL", "XmtDataSL"},
    {"portRcvDataSL", "RcvDataSL"},
    {"portSwHOQLimitDiscards", "PortSwHOQLifetimeLimitDiscards"},
    {"portMalformedPacketErrors", "PortMalformedPktErrors"},
    {"FECCorrectableBlockCounterLane", "FECCorrectableBlockCtrLane"},
    {"FECUncorrectableBlockCounterLane", "FECUncorrectableBlockCtrLane"},
    {"FECCorrectableSymbolCounterLane", "FECCorrectableSymbolCtrLane"},
    {"portFECCorrectableBlockCounter", "PortFECCorrectableBlockCtr"},
    {"portFECUncorrectableBlockCounter", "PortFECUncorrectableBlockCtr"},
    {"portFECCorrectedSymbolCounter", "PortFECCorrectedSymbolCtr"},
    {"swPortVLCongestion", "SWPortVLCongestion"},
};

std::string diags_label(std::string_view name) {
    for (const auto& [of_iba, of_libibmad] : special_labels)
        if (name == of_iba) return std::string(of_libibmad);
    return label_of(name);
}

std::string format_samples(const pm::PortSamplesCtl& c) {
    const auto bytes = iba::encode(c);
    dotted_lines l;
    l.hex("OpCode", c.opCode, 1)
        .number("PortSelect", c.portSelect)
        .hex("Tick", c.tick, 1)
        .number("CounterWidth", c.counterWidth)
        .hex("CounterMask0", c.counterMask0, 1)
        .hex("CounterMasks1to9", iba::bits_at(bytes.data(), 37, 27), 4)
        .hex("CounterMasks10to14", iba::bits_at(bytes.data(), 65, 15), 2)
        .number("SampleMechanisms", c.sampleMechanisms)
        .number("SampleStatus", c.sampleStatus)
        .hex("OptionMask", c.optionMask, 8)
        .hex("VendorMask", c.vendorMask, 8)
        .number("SampleStart", c.sampleStart)
        .number("SampleInterval", c.sampleInterval)
        .hex("Tag", c.tag, 2);
    for (unsigned i = 0; i < 15; ++i)
        l.hex(fmt::format("CounterSelect{}", i), iba::bits_at(bytes.data(), 304 + 16 * i, 16), 2);
    return l.hex("SamplesOnlyOptionMask", c.samplesOnlyOptionMask, 8).take();
}

/// Formats the lines of a payload, row by row.
class group_lines {
public:
    group_lines(const counter_group& g, std::span<const u8> bytes, const ClassPortInfo& info)
        : group_(g), bytes_(bytes), present_(present_counters(g, info)) {}

    std::string text() {
        for (const iba::row_info& row : group_.info.rows) {
            if (counters::holds_counters(row)) add_counter(row);
            else if (!row.is_reserved && row.name != "opCode" && !is_late(row)) add_selector(row);
        }
        return lines_.take();
    }

private:
    /// Returns the counters that libibmad prints for PortCounters and PortCountersExtended: more than those that missing_counters()
    /// leaves.
    static counter_set present_counters(const counter_group& g, const ClassPortInfo& info) {
        capabilities can = capabilities_for(g, info);
        if (is_narrow(g)) return narrow_counters(can);
        if (!is_wide(g)) return counter_set::all();
        can.xmit_wait = can.qp1_dropped = true;
        return wide_counters(can);
    }

    /// Returns whether a row is printed late: libibmad prints counterSelect2 of PortCountersExtended directly above the counters that it
    /// selects, if there are any.
    bool is_late(const iba::row_info& row) const { return is_wide(group_) && row.name == "counterSelect2"; }

    void add_counter(const iba::row_info& row) {
        const auto named = is_narrow(group_) || is_wide(group_) ? counters::counter_named(row.name) : std::nullopt;
        const bool is_present = !named || present_.has(*named);
        if (!is_present && is_wide(group_)) return;
        if (is_wide(group_) && named == counter::symbolErrorCounter)
            add_selector(iba::find_field(group_.info, "counterSelect2").value());
        const std::string label = diags_label(row.name);
        for (unsigned i = 0; i < row.count; ++i) {
            const u64 number = is_present ? iba::bits_at(bytes_.data(), row.off + i * row.width, row.width) : 0;
            lines_.number(row.count > 1 ? fmt::format("{}{}", label, i) : label, number);
        }
    }

    void add_selector(const iba::row_info& row) {
        const u64 number = iba::bits_at(bytes_.data(), row.off, row.width);
        if (row.name == "portSelect") lines_.number(diags_label(row.name), number);
        else lines_.hex(diags_label(row.name), number, row.width / 8);
    }

    const counter_group& group_;
    const std::span<const u8> bytes_;
    const counter_set present_;
    dotted_lines lines_;
};

} // namespace

std::string counter_group::text(std::span<const u8> bytes, const ClassPortInfo& of_pma) const {
    if (this != &group_of<pm::PortSamplesCtl>) return group_lines(*this, bytes, of_pma).text();
    pm::PortSamplesCtl control;
    iba::decode(control, bytes.data());
    return format_samples(control);
}

namespace {

template <class... T> const counter_group* find_group(comad::u16 attributeID, const std::tuple<T...>*) noexcept {
    const counter_group* found = nullptr;
    const auto look = [&](const counter_group& g) {
        if (g.attributeID == attributeID) found = &g;
    };
    (look(group_of<T>), ...);
    return found;
}

} // namespace

const counter_group* find_counter_group(comad::u16 attributeID) noexcept {
    for (const counter_group* g : {&group_of<pm::PortCounters>, &group_of<pm::PortCountersExt>})
        if (g->attributeID == attributeID) return g;
    return find_group(attributeID, static_cast<const counters::detail_types*>(nullptr));
}

// ---- fields ----------------------------------------------------------------------------------------------------------

std::vector<std::string_view> missing_counters(const counter_group& g, const ClassPortInfo& info) {
    const capabilities can = capabilities_for(g, info);
    counter_set present;
    if (is_narrow(g)) present = narrow_counters(can);
    else if (is_wide(g)) present = wide_counters(can);
    else return {};
    std::vector<std::string_view> missing;
    counters::for_each_counter([&](counter c) {
        if (!present.has(c) && iba::find_field(g.info, name_of(c))) missing.push_back(name_of(c));
    });
    return missing;
}

std::vector<group_counter> counters_in(const counter_group& g, const ClassPortInfo& info, std::span<const u8> bytes) {
    const std::vector<std::string_view> missing = missing_counters(g, info);
    std::vector<group_counter> all;
    counters::for_each_counter_field(g.info, [&](const counters::counter_field& f) {
        if (std::ranges::find(missing, f.row.name) != missing.end()) return;
        all.push_back({f.name(), iba::bits_at(bytes.data(), f.offset(), f.width()), iba::low_bits(f.width())});
    });
    return all;
}

void add_counters(const counter_group& g, std::span<u8> sum, std::span<const u8> more) {
    counters::for_each_counter_field(g.info, [&](const counters::counter_field& f) {
        const u64 highest = iba::low_bits(f.width());
        const u64 a = iba::bits_at(sum.data(), f.offset(), f.width()),
                  b = iba::bits_at(more.data(), f.offset(), f.width());
        iba::put_bits_at(sum.data(), f.offset(), f.width(), a > highest - b ? highest : a + b);
    });
}

namespace {

template <class T> u64 selection_of(const std::optional<T>& zeros) {
    return zeros ? zeros->counterSelect | u64{zeros->counterSelect2} << 16 : 0;
}

} // namespace

u64 selection(const counter_group& g, const ClassPortInfo& info, counter_set which) {
    constexpr u8 any_port = 0;
    const counters::clearing zeros = clearing_of(which, capabilities_for(g, info), any_port);
    return is_wide(g) ? selection_of(zeros.wide) : selection_of(zeros.narrow);
}

u64 all_counters(const counter_group& g, const ClassPortInfo& info) {
    if (is_narrow(g) || is_wide(g)) return selection(g, info, counter_set::all());
    return iba::low_bits(iba::find_field(g.info, "counterSelect").value().width);
}

std::vector<group_counter> selected_counters(const counter_group& g, const ClassPortInfo& info,
                                             std::span<const u8> bytes, u64 select) {
    constexpr unsigned bits = 64;
    std::vector<group_counter> selected;
    unsigned place = 0; // other groups have one bit for each counter, in order
    for (group_counter& c : counters_in(g, info, bytes)) {
        const auto named = is_narrow(g) || is_wide(g) ? counters::counter_named(c.name) : std::nullopt;
        const u64 bit = named ? selection(g, info, counter_set().add(*named)) : place < bits ? u64{1} << place : 0;
        ++place;
        if (bit & select) selected.push_back(std::move(c));
    }
    return selected;
}

void set_number(const counter_group& g, std::span<u8> bytes, std::string_view field, u64 number) {
    const iba::row_info row = iba::find_field(g.info, field).value();
    iba::put_bits_at(bytes.data(), row.off, row.width, number);
}

std::vector<u8> clearing(const counter_group& g, u8 port, u64 select) {
    std::vector<u8> bytes(g.info.bytes);
    set_number(g, bytes, "portSelect", port);
    u64 left = select;
    for (const char* name : {"counterSelect", "counterSelect2"}) {
        const auto row = iba::find_field(g.info, name);
        if (!row) continue;
        iba::put_bits_at(bytes.data(), row.value().off, row.value().width, left);
        left = row.value().width < 64 ? left >> row.value().width : 0;
    }
    if (left)
        throw std::runtime_error(
            fmt::format("the reset mask {:#x} selects counters that {} does not have", select, g.name));
    return bytes;
}

} // namespace ibtool
