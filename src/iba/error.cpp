// SPDX-License-Identifier: MIT
// error.cpp - the messages of programs that end because they accessed a value or an error that a result does not have.
#include <comad/iba/detail/error.hpp>

#include <cstdio>
#include <exception>

namespace comad::iba {

void bad_result_access(const error& e) noexcept {
    std::fprintf(stderr, "comad: the value of a failed result was accessed: %s\n", e.text.c_str());
    std::terminate();
}

void bad_error_access() noexcept {
    std::fputs("comad: the error of a successful result was accessed\n", stderr);
    std::terminate();
}

} // namespace comad::iba
