// SPDX-License-Identifier: MIT
// query.hpp - the contents of an SA query: a record, and the mask of the components that must match. It does not send
// queries, and does not depend on any record.
#pragma once
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/fields.hpp>

#include <cassert>
#include <string_view>

namespace comad::iba {

/// A record and its component mask. Every component in the mask has a value:
///
///     auto q = query<NodeRecord>{}.where<&NodeRecord::LID>(lid{9});
///     q.where<&NodeRecord::nodeInfo, &NodeInfo::nodeType>(NodeType::Switch);
///
///     auto q = query<NodeRecord>{}.where<&NodeRecord::LID>(lid{9});
///     q.where<&NodeRecord::nodeInfo, &NodeInfo::nodeType>(NodeType::Switch);
template <wire R> class query {
public:
    /// Selects records whose member has this value; for a structure, records in which all of its fields match.
    template <auto Member> query& where(const detail::value_of<Member>& wanted) {
        value_.*Member = wanted;
        mask_ |= mask_of<Member>;
        return *this;
    }
    /// Selects records by a member of a nested structure.
    template <auto Member, auto Inner> query& where(const detail::value_of<Inner>& wanted) {
        value_.*Member.*Inner = wanted;
        mask_ |= mask_of<Member, Inner>;
        return *this;
    }
    /// Selects records by one element of an array. Precondition: the array has this element.
    template <auto Member> query& where(unsigned element, const detail::element_of<detail::value_of<Member>>& wanted) {
        assert(element < (value_.*Member).size());
        (value_.*Member)[element] = wanted;
        mask_ |= mask_of_element<Member>(element);
        return *this;
    }
    /// Selects records by one element of an array in a nested structure. Precondition: the array has this element.
    template <auto Member, auto Inner>
    query& where(unsigned element, const detail::element_of<detail::value_of<Inner>>& wanted) {
        assert(element < (value_.*Member.*Inner).size());
        (value_.*Member.*Inner)[element] = wanted;
        mask_ |= mask_of_element<Member, Inner>(element);
        return *this;
    }
    /// Selects records by name and text: set("nodeInfo.nodeType", "Switch"). An error changes nothing.
    /// Errors: as set_field() and component_mask().
    result<void> set(std::string_view name, std::string_view text) {
        const auto bits = iba::component_mask(info_of<R>, name);
        if (!bits) return bits.error();
        if (auto done = set_field(value_, name, text); !done) return done;
        mask_ |= bits.value();
        return boost::outcome_v2::success();
    }

    /// Returns the record with the values to compare.
    const R& value() const noexcept { return value_; }
    /// Returns the mask of the components to compare.
    u64 component_mask() const noexcept { return mask_; }

private:
    R value_{};
    u64 mask_ = 0;
};

} // namespace comad::iba
