// SPDX-License-Identifier: MIT
// pma.cpp - reads and sets counters like PMAs, with one table per attribute and one function for all.
#include "pma.hpp"

#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/detail/pm/select.hpp>
#include <comad/server/detail/class_port_info.hpp>

#include <algorithm>
#include <span>

namespace comad::transports::sim {
namespace {

using iba::attribute_id;
using namespace iba::pm;
using server::response;
namespace status = server::status;
namespace can = pma_ability;

constexpr u8 all_ports = 255;

/// Consecutive fields of one width.
struct numbers {
    u16 off;
    u8 width, count;
};

template <auto First, auto Last = First> consteval numbers numbers_of() {
    constexpr const iba::row_info &first = iba::detail::last_row<First>(), &last = iba::detail::last_row<Last>();
    static_assert(first.width == last.width);
    const unsigned bits = last.off + last.bits() - first.off;
    return {first.off, static_cast<u8>(first.width), static_cast<u8>(bits / first.width)};
}

/// Counters of an attribute: the bit that selects the first one in a Set, its index in the counter_row, and the
/// abilities of a PMA that they need to be other than 0.
struct counters_at {
    numbers where;
    u8 bit, index, needs;
};

template <auto First, auto Last = First> consteval counters_at same(u8 bit, u8 needs = can::none) {
    return {numbers_of<First, Last>(), bit, bit, needs};
}

/// counterSelect2 contains the bits from 16 on.
constexpr u8 second = 16;

// IBA 16.1.3.5: in the order of PortCountersExt, which is their order in the counter_row.
using C = PortCounters;
using E = PortCountersExt;
constexpr std::array narrow = [] {
    std::array<counters_at, 18> all{};
    std::size_t next = 0;
    u8 index = 0;
    for_each_counter([&]<auto Wide, auto Narrow>(counter_pair<Wide, Narrow> pair) {
        using same = counter_pair<Wide, Narrow>;
        u8 needs = can::none;
        if constexpr (std::is_same_v<same, counter_pair<&E::portXmitWait, &C::portXmitWait>>) needs = can::xmit_wait;
        if constexpr (std::is_same_v<same, counter_pair<&E::QP1Dropped, &C::QP1Dropped>>) needs = can::qp1_dropped;
        if constexpr (pair.has_narrow)
            all[next++] = {numbers_of<Narrow>(), static_cast<u8>(pair.narrow_bit), index, needs};
        ++index;
    });
    return all;
}();

// IBA 16.1.4.11
constexpr u8 wide_errors = 8; // index of the first
constexpr std::array wide{
    same<&E::portXmitData, &E::portRcvPkts>(0),
    same<&E::portUnicastXmitPkts, &E::portMulticastRcvPkts>(4, can::unicast),
    counters_at{numbers_of<&E::symbolErrorCounter, &E::VL15Dropped>(), second, wide_errors, can::extended_errors},
    counters_at{numbers_of<&E::portXmitWait>(), second + 12, wide_errors + 12, can::extended_errors | can::xmit_wait},
    counters_at{numbers_of<&E::QP1Dropped>(), second + 13, wide_errors + 13, can::extended_errors | can::qp1_dropped},
};

// The bits are those of ibis; counters that only RS-FEC has follow.
using S = PortExtendedSpeedsCounters;
using R = PortExtendedSpeedsCountersRSFEC;
constexpr std::array extended_speeds{
    same<&S::syncHeaderErrorCounter, &S::unknownBlockCounter>(0),
    same<&S::errorDetectionCounterLane>(2),
    same<&S::FECCorrectableBlockCounterLane, &S::FECUncorrectableBlockCounterLane>(14),
    same<&R::portFECCorrectableBlockCounter, &R::portFECCorrectedSymbolCounter>(38, can::RS_FEC),
};

/// The layout of a counter attribute.
struct attribute {
    u16 attributeID, bytes;
    u16 group; // the attribute that owns the counters
    u8 needs;
    bool is_of_switches, has_opCode;
    numbers select, select2; // width 0: absent
    std::span<const counters_at> fields;
};

template <class T>
consteval attribute describe(std::span<const counters_at> fields, u8 needs = can::groups, u16 group = attribute_id<T>) {
    constexpr bool has_opCode = requires { &T::opCode; };
    attribute a{attribute_id<T>, iba::wire_size<T>, group, needs, false, has_opCode, {}, {}, fields};
    a.select = numbers_of<&T::counterSelect>();
    if constexpr (requires { &T::counterSelect2; }) a.select2 = numbers_of<&T::counterSelect2>();
    return a;
}

/// The fields of an attribute whose counters are selected in order.
template <auto First, auto Last = First> constexpr std::array in_order{same<First, Last>(0)};
template <auto First, auto Last = First> consteval attribute simple() {
    return describe<iba::detail::owner_of<First>>(in_order<First, Last>);
}
consteval attribute of_switches(attribute a) {
    a.is_of_switches = true;
    return a;
}

constexpr std::array attributes_of_counters{
    describe<PortCounters>(narrow, can::none, attribute_id<PortCountersExt>),
    describe<PortCountersExt>(wide, can::extended),
    simple<&PortRcvErrorDetails::portLocalPhysicalErrors, &PortRcvErrorDetails::portLoopingErrors>(),
    simple<&PortXmitDiscardDetails::portInactiveDiscards, &PortXmitDiscardDetails::portSwHOQLimitDiscards>(),
    simple<&PortOpRcvCounters::portOpRcvPkts, &PortOpRcvCounters::portOpRcvData>(),
    simple<&PortFlowCtlCounters::portXmitFlowPkts, &PortFlowCtlCounters::portRcvFlowPkts>(),
    simple<&PortVLOpPackets::portVLOpPackets>(),
    simple<&PortVLOpData::portVLOpData>(),
    simple<&PortVLXmitFlowCtlUpdateErrors::portVLXmitFlowCtlUpdateErrors>(),
    simple<&PortVLXmitWaitCounters::portVLXmitWait>(),
    of_switches(simple<&SwPortVLCongestion::swPortVLCongestion>()),
    simple<&PortRcvConCtrl::portPktRcvFECN, &PortRcvConCtrl::portPktRcvBECN>(),
    simple<&PortSLRcvFECN::portSLRcvFECN>(),
    simple<&PortSLRcvBECN::portSLRcvBECN>(),
    simple<&PortXmitConCtrl::portXmitTimeCong>(),
    simple<&PortVLXmitTimeCong::portVLXmitTimeCong>(),
    simple<&PortXmitDataSL::portXmitDataSL>(),
    simple<&PortRcvDataSL::portRcvDataSL>(),
    describe<PortExtendedSpeedsCountersRSFEC>(extended_speeds),
};

// ---- Bytes -------------------------------------------------------------------------------------------------------------

// The positions of these fields in every counter attribute.
constexpr std::size_t opCode_byte = 0, portSelect_byte = 1;

u64 selected(const attribute& a, const u8* in) noexcept {
    const u64 all = iba::bits_at(in, a.select.off, a.select.width);
    return a.select2.width == 0 ? all : all | iba::bits_at(in, a.select2.off, a.select2.width) << second;
}

void copy(numbers n, const u8* from, u8* to) noexcept {
    if (n.width != 0) iba::put_bits_at(to, n.off, n.width, iba::bits_at(from, n.off, n.width));
}

/// Calls f(offset, width, bit, place) for each counter that the PMA supports.
template <class F> void for_each_counter(const attribute& a, u8 capabilities, F&& f) {
    for (const counters_at& c : a.fields) {
        if ((capabilities & c.needs) != c.needs) continue;
        for (unsigned i = 0; i < c.where.count; ++i)
            f(c.where.off + i * c.where.width, c.where.width, c.bit + i, c.index + i);
    }
}

response answer_counters(const attribute& a, counters& of, const node& n, u32 number, u8 capabilities,
                         mad::time_point now, const server::request& r) {
    const u8* request_data = r.data.data();
    const bool is_all = request_data[portSelect_byte] == all_ports && (capabilities & can::all_ports) != 0;
    const unsigned first = is_all ? 1 : request_data[portSelect_byte], last = is_all ? n.num_ports() : first;
    const bool is_no_port = first == 0 && !n.enhanced_port0; // base port 0 has no counters (IBA 16.1.3.5)
    if (is_no_port || last > n.num_ports() || r.data.size() < a.bytes) return response::error(status::invalid_value);

    const u64 selection = selected(a, request_data);
    counter_row sum{};
    for (unsigned port = first; port <= last; ++port) {
        const counters::group group{number, port, a.group, a.has_opCode ? request_data[opCode_byte] : u8{0}};
        counter_row own = of.read(group, now);
        if (r.header.method == iba::Method::Set) {
            for_each_counter(a, capabilities, [&](unsigned off, unsigned width, unsigned bit, unsigned index) {
                if ((selection >> bit & 1) != 0) own[index] = iba::bits_at(request_data, off, width);
            });
            of.write(group, own, now);
        }
        std::transform(sum.begin(), sum.end(), own.begin(), sum.begin(), std::plus<>());
    }

    std::vector<u8> reply(a.bytes);
    reply[portSelect_byte] = request_data[portSelect_byte];
    if (a.has_opCode) reply[opCode_byte] = request_data[opCode_byte];
    copy(a.select, request_data, reply.data());
    copy(a.select2, request_data, reply.data());
    for_each_counter(a, capabilities, [&](unsigned off, unsigned width, unsigned, unsigned index) {
        iba::put_bits_at(reply.data(), off, width, std::min(sum[index], iba::low_bits(width)));
    });
    return response::data(std::move(reply));
}

response own_class_port_info(u8 capabilities) {
    using enum iba::PMCapability;
    const auto able = [&](u8 wanted) { return (capabilities & wanted) == wanted; };
    iba::ClassPortInfo info = server::class_port_info(1);
    const auto announce = [&](bool is_able, iba::PMCapability bit) {
        if (is_able) info.capabilityMask |= value(bit);
    };
    announce(able(can::all_ports), IsAllPortSelectSupported);
    announce(able(can::extended) && able(can::unicast), IsExtendedWidthSupported);
    announce(able(can::extended) && !able(can::unicast), IsExtendedWidthSupportedNoIETF);
    announce(able(can::xmit_wait), IsPortCountersXmitWaitSupported);
    announce(able(can::groups | can::RS_FEC), IsRSFECModeSupported);
    announce(able(can::qp1_dropped), IsQP1DroppedSupported);
    if (able(can::extended | can::extended_errors))
        info.capabilityMask2 = value(iba::PMCapability2::IsAdditionalPortCountersExtendedSupported);
    return response::of(info);
}

} // namespace

server::response answer_pma(counters& of, const topology& t, const pma& here, mad::time_point now,
                            const server::request& r) {
    const u32 node = here.node;
    const u8 capabilities = here.capabilities;
    auto refused = response::error(status::unsupported_attribute);
    if (r.header.attributeID == attribute_id<iba::ClassPortInfo>)
        return r.header.method == iba::Method::Get ? own_class_port_info(capabilities) : refused;
    const auto found = std::find_if(attributes_of_counters.begin(), attributes_of_counters.end(),
                                    [&](const attribute& a) { return a.attributeID == r.header.attributeID; });
    const sim::node& n = t.nodes[node];
    if (found == attributes_of_counters.end() || (capabilities & found->needs) != found->needs ||
        (found->is_of_switches && !n.is_switch()))
        return refused;
    return answer_counters(*found, of, n, node, capabilities, now, r);
}

} // namespace comad::transports::sim
