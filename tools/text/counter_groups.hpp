// SPDX-License-Identifier: MIT
// counter_groups.hpp - the performance attributes as infiniband-diags' perfquery shows them: their names and text, the counters in a
// payload, sums, and the selection for a Set. Derived from the field tables and from counters::counter. Sends nothing.
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

/// An attribute that contains counters of a port. Payloads have their wire format.
struct counter_group {
    std::string_view name; ///< `PortRcvErrorDetails`
    comad::u16 attributeID;
    const comad::iba::record_info& info;
    std::string_view special_heading{}; ///< heading, if it is not the default one

    /// Returns what infiniband-diags print above the counters: `PortRcvErrorDetails counters`.
    std::string heading() const {
        return special_heading.empty() ? std::string(name) + " counters" : std::string(special_heading);
    }
    /// Returns dotted lines as libibmad prints them, with the counters that the PMA supports.
    std::string text(std::span<const comad::u8> bytes, const comad::iba::ClassPortInfo&) const;
};

namespace detail {
template <class T> constexpr counter_group make_group() {
    namespace pm = comad::iba::pm;
    using comad::counters::attribute_name;
    counter_group g{attribute_name<T>, comad::iba::attribute_id<T>, comad::iba::info_of<T>};
    if (std::is_same_v<T, pm::PortCounters>) g.special_heading = "Port counters";
    if (std::is_same_v<T, pm::PortCountersExt>) {
        g.name = "PortCountersExtended";
        g.special_heading = "Port extended counters";
    }
    if (std::is_same_v<T, pm::PortExtendedSpeedsCountersRSFEC>) {
        g.name = attribute_name<pm::PortExtendedSpeedsCounters>; // the two share an attribute ID
        g.special_heading = "PortExtendedSpeedsCounters with RS-FEC Active counters";
    }
    if (std::is_same_v<T, pm::PortSamplesCtl>) g.name = g.special_heading = "PortSamplesControl";
    return g;
}
} // namespace detail

/// The group of a structure: `group_of<comad::iba::pm::PortRcvErrorDetails>`. Each group is one object with a unique address.
template <class T> inline constexpr counter_group group_of = detail::make_group<T>();

/// Returns the group of an attribute, without RS-FEC. Null if the attribute is not a group, or if its counters cannot be cleared.
const counter_group* find_counter_group(comad::u16 attributeID) noexcept;

/// Returns the counters of the group that the PMA does not support, by IBA name. Their values in a payload have no meaning.
std::vector<std::string_view> missing_counters(const counter_group&, const comad::iba::ClassPortInfo&);

/// The value of a counter in a payload.
struct group_counter {
    std::string name; ///< `portVLXmitWait[3]`
    comad::u64 value = 0;
    comad::u64 highest = 0; ///< the largest value of its field
};
/// Returns the counters in a payload that the PMA supports.
std::vector<group_counter> counters_in(const counter_group&, const comad::iba::ClassPortInfo&,
                                       std::span<const comad::u8> bytes);

/// Adds each counter to `sum`; a sum stops at the largest value of its field. Other fields of `sum` keep their values.
void add_counters(const counter_group&, std::span<comad::u8> sum, std::span<const comad::u8> more);

/// Returns the counters that a Set clears: counterSelect, and above it counterSelect2. Selects only counters that the PMA supports; 0:
/// there are none. Precondition: the group is that of PortCounters or of PortCountersExtended.
comad::u64 selection(const counter_group&, const comad::iba::ClassPortInfo&, comad::counters::counter_set which);
/// Returns the selection of all counters, for any group.
comad::u64 all_counters(const counter_group&, const comad::iba::ClassPortInfo&);

/// Returns the counters of counters_in() that a Set with `select` clears.
std::vector<group_counter> selected_counters(const counter_group&, const comad::iba::ClassPortInfo&,
                                             std::span<const comad::u8> bytes, comad::u64 select);

/// Returns the payload of a Set that clears the selected counters of a port.
/// Throws std::runtime_error if the group does not have such counters.
std::vector<comad::u8> clearing(const counter_group&, comad::u8 port, comad::u64 select);

/// Writes a number to a field. Precondition: the group has this field.
void set_number(const counter_group&, std::span<comad::u8> bytes, std::string_view field, comad::u64 number);

} // namespace ibtool
