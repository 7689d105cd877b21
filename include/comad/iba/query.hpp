// SPDX-License-Identifier: MIT
// query.hpp - what an SA query asks for: a record and the mask of the components that count. Knows no record and sends
// none.
#pragma once
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/fields.hpp>

#include <cassert>
#include <string_view>

namespace comad::iba {

/// A record and its component mask, which is never set apart from a value:
///
///     auto q = query<NodeRecord>{}.where<&NodeRecord::LID>(lid{9});
///     q.where<&NodeRecord::nodeInfo, &NodeInfo::nodeType>(NodeType::Switch);
template <wire R> class query {
public:
    /// Asks for records whose member has this value; for a structure, whose fields all have these.
    template <auto Member> query& where(const detail::value_of<Member>& wanted) {
        value_.*Member = wanted;
        mask_ |= mask_of<Member>;
        return *this;
    }
    /// The same with a member of the structure in a member.
    template <auto Member, auto Inner> query& where(const detail::value_of<Inner>& wanted) {
        value_.*Member.*Inner = wanted;
        mask_ |= mask_of<Member, Inner>;
        return *this;
    }
    /// The same with one element of an array. Precondition: there is this element.
    template <auto Member> query& where(unsigned element, const detail::element_of<detail::value_of<Member>>& wanted) {
        assert(element < (value_.*Member).size());
        (value_.*Member)[element] = wanted;
        mask_ |= mask_of_element<Member>(element);
        return *this;
    }
    template <auto Member, auto Inner>
    query& where(unsigned element, const detail::element_of<detail::value_of<Inner>>& wanted) {
        assert(element < (value_.*Member.*Inner).size());
        (value_.*Member.*Inner)[element] = wanted;
        mask_ |= mask_of_element<Member, Inner>(element);
        return *this;
    }
    /// The same by name and text: set("nodeInfo.nodeType", "Switch"). Changes nothing on an error.
    /// Errors: as set_field() and component_mask().
    result<void> set(std::string_view name, std::string_view text) {
        const auto bits = iba::component_mask(info_of<R>, name);
        if (!bits) return bits.error();
        if (auto done = set_field(value_, name, text); !done) return done;
        mask_ |= bits.value();
        return boost::outcome_v2::success();
    }

    const R& value() const noexcept { return value_; }
    u64 component_mask() const noexcept { return mask_; }

private:
    R value_{};
    u64 mask_ = 0;
};

} // namespace comad::iba
