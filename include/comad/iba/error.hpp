// SPDX-License-Identifier: MIT
// error.hpp - why bytes, a value or a text do not fit a structure, as a value. Knows no structure and no MAD.
#pragma once
#include <comad/iba/types.hpp>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>

#include <string>

namespace comad::iba {

/// What is wrong.
enum class errc : u8 {
    too_short,    ///< fewer bytes than the structure has
    out_of_range, ///< a value has more bits than its field, a text or list more elements
    unknown_name, ///< no field, or no element, has this name
    unreadable,   ///< a text that is no value of the field's kind, or no JSON
};

/// One failure, told in one line without a full stop: `SMPPortInfo.LMC is 9, but has 3 bits`.
struct error {
    errc code;
    std::string text;
};

/// A value or the error. Never throws; asking for what is not there terminates.
template <class T> using result = boost::outcome_v2::basic_result<T, error, boost::outcome_v2::policy::terminate>;

} // namespace comad::iba
