// SPDX-License-Identifier: MIT
// pma.cpp - counters as PMAs tell and set them.
#include "pma.hpp"

#include <comad/iba/class_port_info.hpp>
#include <comad/iba/mask.hpp>
#include <comad/server/class_port_info.hpp>

#include <algorithm>
#include <limits>

namespace comad::transports::sim {
namespace {

using iba::Method;
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;
using server::response;
namespace status = server::status;

constexpr u8 all_ports = 255;

/// A counter of both attributes: the bit that selects it in a Set, and whether that is in counterSelect2.
template <auto Counter, auto Wide> struct counter {
    unsigned bit;
    bool second = false;
};

/// Calls f for every counter of PortCounters (IBA 16.1.3.5).
template <class F> void for_each_counter(F&& f) {
    using C = PortCounters;
    using E = PortCountersExt;
    f(counter<&C::symbolErrorCounter, &E::symbolErrorCounter>{0});
    f(counter<&C::linkErrorRecoveryCounter, &E::linkErrorRecoveryCounter>{1});
    f(counter<&C::linkDownedCounter, &E::linkDownedCounter>{2});
    f(counter<&C::portRcvErrors, &E::portRcvErrors>{3});
    f(counter<&C::portRcvRemotePhysicalErrors, &E::portRcvRemotePhysicalErrors>{4});
    f(counter<&C::portRcvSwitchRelayErrors, &E::portRcvSwitchRelayErrors>{5});
    f(counter<&C::portXmitDiscards, &E::portXmitDiscards>{6});
    f(counter<&C::portXmitConstraintErrors, &E::portXmitConstraintErrors>{7});
    f(counter<&C::portRcvConstraintErrors, &E::portRcvConstraintErrors>{8});
    f(counter<&C::localLinkIntegrityErrors, &E::localLinkIntegrityErrors>{9});
    f(counter<&C::excessiveBufferOverrunErrors, &E::excessiveBufferOverrunErrors>{10});
    f(counter<&C::VL15Dropped, &E::VL15Dropped>{11});
    f(counter<&C::portXmitData, &E::portXmitData>{12});
    f(counter<&C::portRcvData, &E::portRcvData>{13});
    f(counter<&C::portXmitPkts, &E::portXmitPkts>{14});
    f(counter<&C::portRcvPkts, &E::portRcvPkts>{15});
    f(counter<&C::portXmitWait, &E::portXmitWait>{0, true});
}

/// The same of PortCountersExt (IBA 16.1.4.11): the bits count its own fields.
constexpr std::array wide_first{&PortCountersExt::portXmitData,          &PortCountersExt::portRcvData,
                                &PortCountersExt::portXmitPkts,          &PortCountersExt::portRcvPkts,
                                &PortCountersExt::portUnicastXmitPkts,   &PortCountersExt::portUnicastRcvPkts,
                                &PortCountersExt::portMulticastXmitPkts, &PortCountersExt::portMulticastRcvPkts};
constexpr std::array wide_second{&PortCountersExt::symbolErrorCounter,
                                 &PortCountersExt::linkErrorRecoveryCounter,
                                 &PortCountersExt::linkDownedCounter,
                                 &PortCountersExt::portRcvErrors,
                                 &PortCountersExt::portRcvRemotePhysicalErrors,
                                 &PortCountersExt::portRcvSwitchRelayErrors,
                                 &PortCountersExt::portXmitDiscards,
                                 &PortCountersExt::portXmitConstraintErrors,
                                 &PortCountersExt::portRcvConstraintErrors,
                                 &PortCountersExt::localLinkIntegrityErrors,
                                 &PortCountersExt::excessiveBufferOverrunErrors,
                                 &PortCountersExt::VL15Dropped,
                                 &PortCountersExt::portXmitWait,
                                 &PortCountersExt::QP1Dropped};

/// The bits of a counter's row: what it stops at.
template <auto Counter> constexpr u64 highest() noexcept {
    return iba::low_bits(iba::detail::last_row<Counter>().width);
}

PortCounters narrowed(const PortCountersExt& wide) {
    PortCounters narrow;
    for_each_counter([&]<auto Counter, auto Wide>(counter<Counter, Wide>) {
        using value_type = iba::detail::value_of<Counter>;
        narrow.*Counter = static_cast<value_type>(std::min(wide.*Wide, highest<Counter>()));
    });
    return narrow;
}

void set_selected(const PortCounters& wanted, PortCountersExt& wide) {
    for_each_counter([&]<auto Counter, auto Wide>(counter<Counter, Wide> c) {
        const unsigned selected = c.second ? wanted.counterSelect2 : wanted.counterSelect;
        if ((selected >> c.bit & 1) != 0) wide.*Wide = wanted.*Counter;
    });
}

void set_selected(const PortCountersExt& wanted, PortCountersExt& wide) {
    for (unsigned i = 0; i < wide_first.size(); ++i)
        if ((wanted.counterSelect >> i & 1) != 0) wide.*wide_first[i] = wanted.*wide_first[i];
    for (unsigned i = 0; i < wide_second.size(); ++i)
        if ((wanted.counterSelect2 >> i & 1) != 0) wide.*wide_second[i] = wanted.*wide_second[i];
}

PortCountersExt sum(PortCountersExt a, const PortCountersExt& b) noexcept {
    for (const auto member : wide_first) a.*member += b.*member;
    for (const auto member : wide_second) a.*member += b.*member;
    return a;
}

template <class T> T as(const PortCountersExt& wide) {
    if constexpr (std::is_same_v<T, PortCounters>) return narrowed(wide);
    else return wide;
}

template <class T> response answer_counters(counters& of, const node& n, u32 number, const server::request& r) {
    const T wanted = r.payload<T>();
    const bool is_all = wanted.portSelect == all_ports;
    const unsigned first = is_all ? 1 : wanted.portSelect, last = is_all ? n.num_ports() : first;
    if (first == 0 || last > n.num_ports()) return response::error(status::invalid_value);
    PortCountersExt wide;
    for (unsigned p = first; p <= last; ++p) {
        PortCountersExt own = of.read(number, p);
        if (r.header.method == Method::Set) {
            set_selected(wanted, own);
            of.write(number, p, own);
        }
        wide = sum(wide, own);
    }
    T told = as<T>(wide);
    told.portSelect = wanted.portSelect;
    told.counterSelect = wanted.counterSelect;
    told.counterSelect2 = wanted.counterSelect2;
    return response::of(told);
}

response own_class_port_info() {
    iba::ClassPortInfo info = server::class_port_info(1);
    info.capabilityMask = value(iba::PMCapability::IsAllPortSelectSupported) |
                          value(iba::PMCapability::IsExtendedWidthSupported) |
                          value(iba::PMCapability::IsPortCountersXmitWaitSupported);
    info.capabilityMask2 = value(iba::PMCapability2::IsAdditionalPortCountersExtendedSupported);
    return response::of(info);
}

} // namespace

server::response answer_pma(counters& of, const topology& t, u32 node, const server::request& r) {
    const bool is_get = r.header.method == Method::Get;
    switch (r.header.attributeID) {
    case iba::attribute_id<iba::ClassPortInfo>:
        return is_get ? own_class_port_info() : response::error(status::unsupported_attribute);
    case iba::attribute_id<PortCounters>: return answer_counters<PortCounters>(of, t.nodes[node], node, r);
    case iba::attribute_id<PortCountersExt>: return answer_counters<PortCountersExt>(of, t.nodes[node], node, r);
    default: return response::error(status::unsupported_attribute);
    }
}

} // namespace comad::transports::sim
