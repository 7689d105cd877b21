// SPDX-License-Identifier: MIT
// exception_message.hpp - returns the message of the exception that a function throws.
#pragma once
#include <exception>
#include <string>

/// Calls the function. Returns the message of the exception that it throws, or a fixed text if the function throws
/// nothing.
template <class F> std::string message_of(F&& function) {
    try {
        function();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "nothing was thrown";
}
