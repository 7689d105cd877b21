// SPDX-License-Identifier: MIT
// records.cpp - fills SA records with the attributes that the SMA returns, and makes link records.
#include "records.hpp"

#include "paths.hpp"

#include <algorithm>
#include <array>

namespace comad::transports::sim {
namespace {

namespace sa = iba::sa;

/// Whether a record of an empty block exists. SAs keep none.
enum class empty_block : u8 { kept, left_out };

/// Offers a record. `r` contains its identifying components; the attributes come from the node's SMA.
template <auto... Attributes, iba::wire R>
void offer(attributes& of, collector& found, const R& r, u32 node, u8 in_port, u32 modifier,
           empty_block empty = empty_block::kept) {
    auto bytes = iba::encode(r);
    constexpr std::size_t head = std::min({iba::offset_of<Attributes>...});
    if (!found.admits(std::span(bytes).first(head))) return;
    bool is_empty = true;
    const auto fill_in = [&](u16 id, std::size_t at, std::size_t size) {
        std::array<u8, 64> attribute;
        if (of.get(node, in_port, id, modifier, attribute) != 0) return false;
        std::copy_n(attribute.begin(), size, bytes.begin() + static_cast<std::ptrdiff_t>(at));
        is_empty = is_empty && std::all_of(attribute.begin(), attribute.end(), [](u8 b) { return b == 0; });
        return true;
    };
    const bool is_there = (fill_in(iba::attribute_id<iba::detail::value_of<Attributes>>, iba::offset_of<Attributes>,
                                   iba::wire_size<iba::detail::value_of<Attributes>>) &&
                           ...);
    if (is_there && !(is_empty && empty == empty_block::left_out)) found.offer(bytes);
}

/// Calls f(LID, node, port) for every port that has a LID; for a switch, this is port 0.
template <class F> void for_each_end_port(attributes& of, F&& f) {
    const topology& t = of.graph();
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        const node& x = t.nodes[n];
        const unsigned last = x.is_switch() ? 0 : x.num_ports();
        for (unsigned p = x.first_port(); p <= last; ++p)
            if (x.ports[p].has_lid()) f(x.ports[p].LID, n, static_cast<u8>(p));
    }
}

/// Calls f(LID, node) for every switch that has a LID.
template <class F> void for_each_switch(attributes& of, F&& f) {
    for_each_end_port(of, [&](iba::lid LID, u32 n, u8) {
        if (of.graph().nodes[n].is_switch()) f(LID, n);
    });
}

/// Calls f(LID, node, port, first) for all ports of every node with a LID; for a switch, the ports from `first` on.
template <class F> void for_each_port(attributes& of, unsigned first, F&& f) {
    for_each_end_port(of, [&](iba::lid LID, u32 n, u8 p) {
        const node& x = of.graph().nodes[n];
        if (!x.is_switch()) return f(LID, n, p);
        for (unsigned i = first; i <= x.num_ports(); ++i) f(LID, n, static_cast<u8>(i));
    });
}

/// Returns the port through which the manager queried the node; for a CA, the port with the LID.
u8 queried_port(attributes& of, u32 n, u8 port) {
    return of.graph().nodes[n].is_switch() ? of.tables().port_from_manager(n) : port;
}

bool is_switch(attributes& of, u32 n) { return of.graph().nodes[n].is_switch(); }

void node_records(attributes& of, collector& found) {
    for_each_end_port(of, [&](iba::lid LID, u32 n, u8 p) {
        sa::NodeRecord r;
        r.LID = LID;
        offer<&sa::NodeRecord::nodeInfo, &sa::NodeRecord::nodeDescription>(of, found, r, n, queried_port(of, n, p), 0);
    });
}

void port_info_records(attributes& of, collector& found) {
    for_each_port(of, 0, [&](iba::lid LID, u32 n, u8 p) {
        sa::PortInfoRecord r;
        r.endportLID = LID;
        r.portNum = p;
        offer<&sa::PortInfoRecord::portInfo>(of, found, r, n, queried_port(of, n, p), p);
    });
}

void sl_to_vl_records(attributes& of, collector& found) {
    for_each_end_port(of, [&](iba::lid LID, u32 n, u8 p) {
        sa::SLToVLMappingTableRecord r;
        r.LID = LID;
        const unsigned last = is_switch(of, n) ? of.graph().nodes[n].num_ports() : 0;
        for (unsigned input = 0; input <= last; ++input) {
            for (unsigned output = 0; output <= last; ++output) {
                r.inputPortNum = static_cast<u8>(input);
                r.outputPortNum = static_cast<u8>(output);
                offer<&sa::SLToVLMappingTableRecord::SLToVLMappingTable>(of, found, r, n, p, input << 8 | output,
                                                                         empty_block::left_out);
            }
        }
    });
}

void switch_info_records(attributes& of, collector& found) {
    for_each_switch(of, [&](iba::lid LID, u32 n) {
        sa::SwitchInfoRecord r;
        r.LID = LID;
        offer<&sa::SwitchInfoRecord::switchInfo>(of, found, r, n, 0, 0);
    });
}

void linear_records(attributes& of, collector& found) {
    for_each_switch(of, [&](iba::lid LID, u32 n) {
        sa::LinearForwardingTableRecord r;
        r.LID = LID;
        for (unsigned block = 0; block <= of.linear_top(n) / 64u; ++block) {
            r.blockNum = static_cast<u16>(block);
            offer<&sa::LinearForwardingTableRecord::linearForwardingTable>(of, found, r, n, 0, block);
        }
    });
}

void multicast_records(attributes& of, collector& found) {
    for_each_switch(of, [&](iba::lid LID, u32 n) {
        sa::MulticastForwardingTableRecord r;
        r.LID = LID;
        for (unsigned position = 0; position * 16 <= of.graph().nodes[n].num_ports(); ++position) {
            for (unsigned block = 0; block < forwarding::multicast_capacity / 32u; ++block) {
                r.position = static_cast<u8>(position);
                r.blockNum = static_cast<u16>(block);
                offer<&sa::MulticastForwardingTableRecord::multicastForwardingTable>(
                    of, found, r, n, 0, position << 28 | block, empty_block::left_out);
            }
        }
    });
}

void sm_info_records(attributes& of, collector& found) {
    for_each_end_port(of, [&](iba::lid LID, u32 n, u8 p) {
        sa::SMInfoRecord r;
        r.LID = LID;
        offer<&sa::SMInfoRecord::SMInfo>(of, found, r, n, p, 0);
    });
}

void guid_info_records(attributes& of, collector& found) {
    for_each_end_port(of, [&](iba::lid LID, u32 n, u8 p) {
        sa::GUIDInfoRecord r;
        r.LID = LID;
        for (unsigned block = 0; block < 32 / 8; ++block) {
            r.blockNum = static_cast<u8>(block);
            offer<&sa::GUIDInfoRecord::GUIDInfo>(of, found, r, n, p, block);
        }
    });
}

void pkey_records(attributes& of, collector& found) {
    for_each_port(of, 0, [&](iba::lid LID, u32 n, u8 p) {
        sa::PKeyTableRecord r;
        r.LID = LID;
        if (is_switch(of, n)) r.portNum = p;
        for (unsigned block = 0; block < 128 / 32; ++block) {
            r.blockNum = static_cast<u16>(block);
            offer<&sa::PKeyTableRecord::PKeyTable>(of, found, r, n, p, u32{r.portNum} << 16 | block,
                                                   empty_block::left_out);
        }
    });
}

void vl_arbitration_records(attributes& of, collector& found) {
    for_each_port(of, 0, [&](iba::lid LID, u32 n, u8 p) {
        sa::VLArbitrationTableRecord r;
        r.LID = LID;
        if (is_switch(of, n)) r.outputPortNum = p;
        for (unsigned block = 1; block <= 4; ++block) {
            r.blockNum = static_cast<u8>(block);
            offer<&sa::VLArbitrationTableRecord::VLArbitrationTable>(of, found, r, n, p, block << 16 | r.outputPortNum,
                                                                     empty_block::left_out);
        }
    });
}

iba::lid lid_of(const node& n, unsigned port) noexcept { return n.ports[n.is_switch() ? 0 : port].LID; }

void link_records(attributes& of, collector& found) {
    const topology& t = of.graph();
    for_each_port(of, 1, [&](iba::lid LID, u32 n, u8 p) {
        const port& from = t.nodes[n].ports[p];
        if (!from.is_up()) return;
        sa::LinkRecord r;
        r.fromLID = LID;
        r.fromPort = p;
        r.toPort = from.peer_port;
        r.toLID = lid_of(t.nodes[from.peer_node], from.peer_port);
        if (value(r.toLID) != 0) found.offer(r);
    });
}

using finder = void (*)(attributes&, collector&);
/// A kind of SA record, with the function that finds its records.
struct kind_of_record {
    u16 attributeID;
    const iba::record_info* info;
    finder find;
};
template <class R> constexpr kind_of_record record_kind(finder find) {
    return {iba::attribute_id<R>, &iba::info_of<R>, find};
}
void none(attributes&, collector&) {} // no random forwarding tables; others are dynamic

const std::array record_kinds{
    record_kind<sa::NodeRecord>(node_records),
    record_kind<sa::PortInfoRecord>(port_info_records),
    record_kind<sa::SLToVLMappingTableRecord>(sl_to_vl_records),
    record_kind<sa::SwitchInfoRecord>(switch_info_records),
    record_kind<sa::LinearForwardingTableRecord>(linear_records),
    record_kind<sa::RandomForwardingTableRecord>(none),
    record_kind<sa::MulticastForwardingTableRecord>(multicast_records),
    record_kind<sa::SMInfoRecord>(sm_info_records),
    record_kind<sa::LinkRecord>(link_records),
    record_kind<sa::GUIDInfoRecord>(guid_info_records),
    record_kind<sa::ServiceRecord>(none),
    record_kind<sa::PKeyTableRecord>(pkey_records),
    record_kind<sa::PathRecord>(path_records),
    record_kind<sa::VLArbitrationTableRecord>(vl_arbitration_records),
    record_kind<sa::MCMemberRecord>(none),
    record_kind<sa::InformInfoRecord>(none),
};

const kind_of_record* find_kind(u16 attributeID) noexcept {
    const auto known = std::find_if(record_kinds.begin(), record_kinds.end(),
                                    [&](const kind_of_record& k) { return k.attributeID == attributeID; });
    return known == record_kinds.end() ? nullptr : &*known;
}

} // namespace

const iba::record_info* record_of(u16 attributeID) noexcept {
    const kind_of_record* known = find_kind(attributeID);
    return known ? known->info : nullptr;
}

refusal find_records(attributes& of, u16 attributeID, collector& found) {
    if (attributeID == iba::attribute_id<sa::PathRecord> && !has_an_end(found)) return refusal::too_few_components;
    find_kind(attributeID)->find(of, found);
    return refusal::none;
}

} // namespace comad::transports::sim
