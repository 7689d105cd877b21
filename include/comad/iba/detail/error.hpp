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

/// Prints the error on stderr, in one line, and calls std::terminate(): a program accessed the value of a failed result.
[[noreturn]] void bad_result_access(const error&) noexcept;
/// The same for a program that accessed the error of a successful result.
[[noreturn]] void bad_error_access() noexcept;

/// The Outcome policy of our results: a wrong access ends the program with a message that contains the error, if there is one.
struct terminate_with_message : boost::outcome_v2::policy::base {
    template <class Result> static constexpr void wide_value_check(Result&& r) noexcept {
        if (!base::_has_value(std::forward<Result>(r))) bad_result_access(base::_error(std::forward<Result>(r)));
    }
    template <class Result> static constexpr void wide_error_check(Result&& r) noexcept {
        if (!base::_has_error(std::forward<Result>(r))) bad_error_access();
    }
};

/// A value or an error. It never throws. An access to the one that is absent ends the program, with a message on stderr.
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
