// SPDX-License-Identifier: MIT
// error.hpp - why bytes, a value or a text do not fit a structure, as a value. Knows no structure and no MAD.
#pragma once
#include <comad/iba/types.hpp>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/base.hpp>

#include <string>
#include <utility>

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

/// One line of it on stderr, and std::terminate(): a program has asked a failure for its value.
[[noreturn]] void end_for_lack_of_value(const error&) noexcept;
/// As well for who asks a success for its error.
[[noreturn]] void end_for_lack_of_error() noexcept;

/// The policy of our results (Outcome's): whoever asks for what is not there learns on stderr what there is instead.
struct terminate_with_message : boost::outcome_v2::policy::base {
    template <class Result> static constexpr void wide_value_check(Result&& r) noexcept {
        if (!base::_has_value(std::forward<Result>(r))) end_for_lack_of_value(base::_error(std::forward<Result>(r)));
    }
    template <class Result> static constexpr void wide_error_check(Result&& r) noexcept {
        if (!base::_has_error(std::forward<Result>(r))) end_for_lack_of_error();
    }
};

/// A value or the error. Never throws; asking for what is not there ends the program, and says what was there.
template <class T> using result = boost::outcome_v2::basic_result<T, error, terminate_with_message>;
/// Of a result<void>: `return success();`
using boost::outcome_v2::success;

} // namespace comad::iba

/// The text of the error; takes the format specification of a string.
template <> struct fmt::formatter<comad::iba::error> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::iba::error& e, format_context& context) const {
        return format_text(e.text, context);
    }
};
