// SPDX-License-Identifier: MIT
// samples.cpp - samples counters over an interval as PMAs do. Calculates the values when they are read.
#include "samples.hpp"

#include "rates.hpp"

#include <algorithm>
#include <optional>

namespace comad::transports::sim {
namespace {

using iba::attribute_id;
using iba::low_bits;
using namespace iba::pm;
using server::response;
namespace status = server::status;

constexpr u8 width_of_counters = 4; // 16 + 4 * 4 bits
constexpr std::size_t counters_of_mechanism = 5;
constexpr u8 samples_mandatory_quantities = 1;

unsigned mechanisms_of(const node& n) noexcept { return n.is_switch() ? 2 : 1; }

/// Returns the properties of a mechanism, which a Set does not change.
PortSamplesCtl properties_of(const node& n, u8 tick) noexcept {
    PortSamplesCtl c;
    c.tick = tick;
    c.counterWidth = width_of_counters;
    for (std::size_t i = 0; i < counters_of_mechanism; ++i) c.*counter_masks[i] = samples_mandatory_quantities;
    c.sampleMechanisms = static_cast<u8>(mechanisms_of(n) - 1);
    return c;
}

/// Returns the length of ticks at a port; see is_tick_of_link(). A port without a link counts bytes of one lane at 2.5 Gb/s.
mad::duration length_of(u32 ticks, const node& n, unsigned port, u8 tick) noexcept {
    const link_codes link = n.ports[port].active;
    const double rate = data_bits_per_second(link), bytes = (tick + 1.0) * (is_tick_of_link(n) ? 1 : lanes_of(link));
    const double seconds = rate > 0 ? ticks * bytes * 8 / rate : ticks * (tick + 1.0) * 4e-9;
    return mad::duration(static_cast<mad::duration::rep>(seconds * 1e9 + 0.5));
}

/// Returns the position of a quantity in the row of PortCountersExt (pma.cpp); nullopt: nothing is counted.
std::optional<std::size_t> place_of(u16 select) noexcept {
    constexpr std::array<std::size_t, sampled_quantities.size()> places{0, 1, 2, 3, 20};
    if (select == 0 || select > places.size()) return std::nullopt;
    return places[select - 1u];
}

/// Returns the counts of a reply with counters of this width. They stop at their largest value.
template <class Counter>
void put_counts(std::array<Counter, sample_counters>& out, const auto& counted, unsigned bits) noexcept {
    for (std::size_t i = 0; i < counters_of_mechanism; ++i)
        out[i] = static_cast<Counter>(std::min(counted[i], iba::low_bits(bits)));
}

} // namespace

bool samples::has(u16 attributeID) noexcept {
    return attributeID == attribute_id<PortSamplesCtl> || attributeID == attribute_id<PortSamplesRes> ||
           attributeID == attribute_id<PortSamplesResExt>;
}

SampleStatus samples::mechanism::status() const noexcept {
    return has_ended ? SampleStatus::done : has_begun ? SampleStatus::running : SampleStatus::delayed;
}

samples::values samples::read(const mechanism& m, u32 node, mad::time_point when) const {
    const counter_row row = counters_.counted({node, m.port, attribute_id<PortCountersExt>}, when);
    values all{};
    for (std::size_t i = 0; i < counters_of_mechanism; ++i)
        if (const auto place = place_of(m.control.*counter_selects[i])) all[i] = row[*place];
    return all;
}

void samples::advance(mechanism& m, u32 node, mad::time_point now) const {
    if (!m.has_begun && now >= m.begin) {
        m.has_begun = true;
        m.at_begin = read(m, node, m.begin);
    }
    if (!m.has_begun || m.has_ended || now < m.end) return;
    m.has_ended = true;
    m.counted = read(m, node, m.end);
    // If the link went down after the end of the sample, but before this request, the value at the end is too low.
    for (std::size_t i = 0; i < m.counted.size(); ++i) m.counted[i] -= std::min(m.at_begin[i], m.counted[i]);
}

response samples::control(mechanism& m, const pma& here, mad::time_point now, const server::request& r) const {
    const sim::node& n = topology_.nodes[here.node];
    PortSamplesCtl wanted;
    if (r.data.size() < iba::wire_size<PortSamplesCtl>) return response::error(status::invalid_value);
    iba::decode(wanted, r.data.data());
    // The properties can be read for all ports at once, but a sample is one of a port.
    constexpr u8 all_ports_selected = 255;
    const bool is_set = r.header.method == iba::Method::Set;
    const bool is_all = wanted.portSelect == all_ports_selected && (here.capabilities & pma_ability::all_ports) != 0;
    const bool is_no_port = wanted.portSelect > n.num_ports() || (wanted.portSelect == 0 && !n.enhanced_port0);
    if (is_no_port && (is_set || !is_all)) return response::error(status::invalid_value);
    PortSamplesCtl reply = properties_of(n, here.tick);
    if (is_set && m.status() == SampleStatus::done) {
        m.control = wanted;
        m.port = wanted.portSelect;
        m.begin = now + length_of(wanted.sampleStart, n, m.port, here.tick);
        m.end = m.begin + length_of(wanted.sampleInterval, n, m.port, here.tick);
        m.has_begun = m.has_ended = false;
        m.counted = {};
        advance(m, here.node, now);
    }
    reply.opCode = wanted.opCode;
    reply.portSelect = wanted.portSelect;
    reply.sampleStatus = static_cast<u8>(m.status());
    reply.sampleStart = m.control.sampleStart;
    reply.sampleInterval = m.control.sampleInterval;
    reply.tag = m.control.tag;
    for (std::size_t i = 0; i < counters_of_mechanism; ++i) {
        const auto select = counter_selects[i];
        if (place_of(m.control.*select)) reply.*select = m.control.*select;
    }
    return response::of(reply);
}

response samples::answer(const pma& here, unsigned port, mad::time_point now, const server::request& r) {
    const sim::node& n = topology_.nodes[here.node];
    const u32 number = r.header.attributeModifier;
    if (number >= mechanisms_of(n)) return response::error(status::invalid_value);
    mechanism& m = mechanisms_[{here.node, n.is_switch() ? 0 : port, number}];
    advance(m, here.node, now);
    if (r.header.attributeID == attribute_id<PortSamplesCtl>) return control(m, here, now, r);
    const bool is_extended = r.header.attributeID == attribute_id<PortSamplesResExt>;
    if (is_extended && (here.capabilities & pma_ability::extended) == 0)
        return response::error(status::unsupported_attribute);
    if (r.header.method != iba::Method::Get) return response::error(status::unsupported_attribute);
    if (!is_extended) {
        PortSamplesRes reply{.tag = m.control.tag, .sampleStatus = static_cast<u8>(m.status())};
        put_counts(reply.counter, m.counted, bits_of_width(width_of_counters));
        return response::of(reply);
    }
    PortSamplesResExt reply{.tag = m.control.tag, .sampleStatus = static_cast<u8>(m.status()), .extendedWidth = 2};
    put_counts(reply.counter, m.counted, 64);
    return response::of(reply);
}

} // namespace comad::transports::sim
