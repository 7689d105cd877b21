// SPDX-License-Identifier: MIT
// thrown.hpp - returns the message of the exception that a function throws.
#pragma once
#include <exception>
#include <string>

template <class F> std::string message_of(F&& function) {
    try {
        function();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "nothing was thrown";
}
