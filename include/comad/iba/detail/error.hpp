// SPDX-License-Identifier: MIT
// error.hpp - errors as values: why bytes, a value or a text do not fit a structure.
#pragma once
#include <comad/iba/types.hpp>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/base.hpp>

#include <string>
#include <utility>

namespace comad::iba {

/// The kind of error.
enum class errc : u8 {
    too_short,    ///< fewer bytes than the structure has
    out_of_range, ///< a value has more bits than its field, or a text or list has more elements than its field
    unknown_name, ///< no field or element has this name
    unreadable,   ///< a text that is not a value of the field, or not JSON
};

/// One error, with a message of one line without a full stop: `SMPPortInfo.LMC is 9, but has 3 bits`.
struct error {
    errc code;
    std::string text;
};

/// Prints the error on stderr, in one line, and calls std::terminate(): a program accessed the value of a failed result.
[[noreturn]] void bad_result_access(const error&) noexcept;
/// Prints a message on stderr and calls std::terminate(): a program accessed the error of a successful result.
[[noreturn]] void bad_error_access() noexcept;

/// The Outcome policy of our results: a wrong access ends the program with a message that contains the error, if there
/// is one.
struct terminate_with_message : boost::outcome_v2::policy::base {
    template <class Result> static constexpr void wide_value_check(Result&& r) noexcept {
        if (!base::_has_value(std::forward<Result>(r))) bad_result_access(base::_error(std::forward<Result>(r)));
    }
    template <class Result> static constexpr void wide_error_check(Result&& r) noexcept {
        if (!base::_has_error(std::forward<Result>(r))) bad_error_access();
    }
};

/// A value or an error. It never throws. Accessing the absent one of the two ends the program with a message on
/// stderr.
template <class T> using result = boost::outcome_v2::basic_result<T, error, terminate_with_message>;
/// Returned by functions with a result<void>: `return success();`
using boost::outcome_v2::success;

} // namespace comad::iba

/// Formats the text of the error; takes the format specification of a string.
template <> struct fmt::formatter<comad::iba::error> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::iba::error& e, format_context& context) const {
        return format_text(e.text, context);
    }
};
