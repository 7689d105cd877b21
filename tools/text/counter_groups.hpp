// SPDX-License-Identifier: MIT
// counter_groups.hpp - the attributes of performance management in infiniband-diags' perfquery: their names and text, the counters
// in a payload, sums, and what a Set selects. Derived from the field tables and from counters::counter. Sends nothing.
#pragma once
#include <comad/counters/detail/port_details.hpp>
#include <comad/counters/port_counters.hpp>
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/pm.hpp>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ibtool {

/// An attribute with counters of a port. Payloads are as on the wire.
struct counter_group {
    std::string_view name; ///< `PortRcvErrorDetails`
    comad::u16 attributeID;
    const comad::iba::record_info& info;
    std::string_view special_heading{}; ///< of heading()

    /// What infiniband-diags print above it: `PortRcvErrorDetails counters`.
    std::string heading() const {
        return special_heading.empty() ? std::string(name) + " counters" : std::string(special_heading);
    }
    /// Dotted lines as libibmad's dumpers print them, with the counters that the PMA has.
    std::string text(std::span<const comad::u8> bytes, const comad::iba::ClassPortInfo&) const;
};

/// The name of a structure's attribute: the structure's, without the PM in front.
template <class T> constexpr std::string_view name_of_group() {
    constexpr std::string_view name = comad::iba::info_of<T>.name;
    return name.substr(name.starts_with("PM") ? 2 : 0);
}

namespace detail {
template <class T> constexpr counter_group make_group() {
    namespace pm = comad::iba::pm;
    counter_group g{name_of_group<T>(), comad::iba::attribute_id<T>, comad::iba::info_of<T>};
    if (std::is_same_v<T, pm::PortCounters>) g.special_heading = "Port counters";
    if (std::is_same_v<T, pm::PortCountersExt>) {
        g.name = "PortCountersExtended";
        g.special_heading = "Port extended counters";
    }
    if (std::is_same_v<T, pm::PortExtendedSpeedsCountersRSFEC>) {
        g.name = name_of_group<pm::PortExtendedSpeedsCounters>(); // the two share an attribute ID
        g.special_heading = "PortExtendedSpeedsCounters with RS-FEC Active counters";
    }
    if (std::is_same_v<T, pm::PortSamplesCtl>) g.name = g.special_heading = "PortSamplesControl";
    return g;
}
} // namespace detail

/// The group of a structure: `group_of<comad::iba::pm::PortRcvErrorDetails>`. Each group is one object with one address.
template <class T> inline constexpr counter_group group_of = detail::make_group<T>();

/// The group of an attribute, without RS-FEC. Null if it has none, or if its group has no counters to clear.
const counter_group* find_counter_group(comad::u16 attributeID) noexcept;

/// The counters of the group that the PMA does not have, by IBA name. Their values in a payload have no meaning.
std::vector<std::string_view> missing_counters(const counter_group&, const comad::iba::ClassPortInfo&);

/// The value of a counter in a payload.
struct group_counter {
    std::string name; ///< `portVLXmitWait[3]`
    comad::u64 value = 0;
    comad::u64 highest = 0; ///< the largest value of its field
};
/// The counters in a payload that the PMA has.
std::vector<group_counter> counters_in(const counter_group&, const comad::iba::ClassPortInfo&,
                                       std::span<const comad::u8> bytes);

/// Adds each counter to `sum`; a sum stops at the largest value of its field. Other fields of `sum` keep their values.
void add_counters(const counter_group&, std::span<comad::u8> sum, std::span<const comad::u8> more);

/// Which counters a Set clears: counterSelect, and above it counterSelect2. Only counters that the PMA has are selected; 0: it has none.
/// Precondition: the group is that of PortCounters or of PortCountersExtended.
comad::u64 selection(const counter_group&, const comad::iba::ClassPortInfo&, comad::counters::counter_set which);
/// The same for all counters, of any group.
comad::u64 all_counters(const counter_group&, const comad::iba::ClassPortInfo&);

/// The counters of counters_in() that a Set with `select` clears.
std::vector<group_counter> selected_counters(const counter_group&, const comad::iba::ClassPortInfo&,
                                             std::span<const comad::u8> bytes, comad::u64 select);

/// The payload of a Set that clears the counters of a port that `select` selects.
/// Throws std::runtime_error if the group has no such counters.
std::vector<comad::u8> clearing(const counter_group&, comad::u8 port, comad::u64 select);

/// Writes a number to a field. Precondition: the group has it.
void set_number(const counter_group&, std::span<comad::u8> bytes, std::string_view field, comad::u64 number);

} // namespace ibtool
