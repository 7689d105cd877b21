// SPDX-License-Identifier: MIT
// error.hpp - what libibverbs refuses, as a value; and how its objects are owned. Knows no object of it.
#pragma once
#include <comad/iba/detail/error.hpp>

#include <boost/outcome/basic_result.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace comad::verbs {

/// One call that failed, or a completion or an event that says that something went wrong.
struct error {
    std::string text;          ///< one line without a full stop: what failed, why, and what to do
    int sys_errno = 0;         ///< of a call; 0: it was none
    std::size_t bad_index = 0; ///< of a list of work requests: the first that was not posted
};
/// `what` could not be done: its text has the meaning of `sys_errno`, too.
error failed(std::string what, int sys_errno);

/// One line of it on stderr, and std::terminate(): a program has asked a failure for its value.
[[noreturn]] void bad_result_access(const error&) noexcept;

/// A value or the error. Never throws; asking for what is not there ends the program, and says what was there.
template <class T> using result = boost::outcome_v2::basic_result<T, error, iba::terminate_with_message>;
/// Of a result<void>: `return success();`
using iba::success;

/// An object of the C library. It is destroyed when nobody has it any more: copies share it, and whatever was made of it keeps
/// it, so that the order of destruction is always right. Not for several threads at a time but where libibverbs allows it.
template <class T> class owned {
public:
    /// The C library's own, for what is not here.
    T* get() const noexcept { return handle_.get(); }

protected:
    explicit owned(std::shared_ptr<T> handle) noexcept : handle_(std::move(handle)) {}
    const std::shared_ptr<T>& handle() const noexcept { return handle_; }

private:
    std::shared_ptr<T> handle_;
};

/// Owns `raw`, which `destroy` ends, and keeps `parents`, which it was made of, until then.
template <class T, class... Parents> std::shared_ptr<T> own(T* raw, int (*destroy)(T*), Parents... parents) {
    return std::shared_ptr<T>(raw, [destroy, parents...](T* last) { destroy(last); });
}

} // namespace comad::verbs

/// The text of the error; takes the format specification of a string.
template <> struct fmt::formatter<comad::verbs::error> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::verbs::error& e, format_context& context) const {
        return format_text(e.text, context);
    }
};
