// SPDX-License-Identifier: MIT
// error.hpp - the error and result types of the verbs wrappers, and the base class that owns the objects of libibverbs.
#pragma once
#include <comad/iba/detail/error.hpp>

#include <boost/outcome/basic_result.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace comad::verbs {

/// The failure of a call, or a completion or an event that reports a failure.
struct error {
    std::string text;          ///< one line without a full stop: what failed, why, and what to do
    int sys_errno = 0;         ///< errno of the call; 0: no call failed
    std::size_t bad_index = 0; ///< for a list of work requests: index of the first one that was not posted
};
/// Returns an error whose text is `what` and the meaning of `sys_errno`.
error failed(std::string what, int sys_errno);

/// Prints one line about the error to stderr and calls std::terminate(). It is called if a program reads the value of
/// a failed result.
[[noreturn]] void bad_result_access(const error&) noexcept;

/// A value or an error. It never throws. Reading a missing value prints the error and terminates the program.
template <class T> using result = boost::outcome_v2::basic_result<T, error, iba::terminate_with_message>;
/// The value of a successful result<void>: `return success();`
using iba::success;

/// Shared ownership of a libibverbs object. Copies share the object, and objects created from it keep it alive, so
/// objects are always destroyed in the correct order.
/// Threads: several threads may use an object at the same time only if libibverbs allows it.
template <class T> class owned {
public:
    /// Returns the libibverbs object, for functions that have no wrapper.
    T* get() const noexcept { return handle_.get(); }

protected:
    explicit owned(std::shared_ptr<T> handle) noexcept : handle_(std::move(handle)) {}
    const std::shared_ptr<T>& handle() const noexcept { return handle_; }

private:
    std::shared_ptr<T> handle_;
};

/// Takes ownership of `raw`, which `destroy` releases, and keeps its `parents` alive until then.
template <class T, class... Parents> std::shared_ptr<T> own(T* raw, int (*destroy)(T*), Parents... parents) {
    return std::shared_ptr<T>(raw, [destroy, parents...](T* last) { destroy(last); });
}

} // namespace comad::verbs

/// Formats the text of an error. It accepts the format specification of a string.
template <> struct fmt::formatter<comad::verbs::error> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::verbs::error& e, format_context& context) const {
        return format_text(e.text, context);
    }
};
