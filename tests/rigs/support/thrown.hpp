// SPDX-License-Identifier: MIT
// thrown.hpp - what a function throws, as text.
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
