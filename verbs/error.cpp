// SPDX-License-Identifier: MIT
// error.cpp - makes the texts of verbs errors.
#include <comad/verbs/detail/error.hpp>

#include <fmt/format.h>

#include <system_error>

namespace comad::verbs {

error failed(std::string what, int sys_errno) {
    return {fmt::format("{}: {}", what, std::generic_category().message(sys_errno)), sys_errno};
}

void bad_result_access(const error& e) noexcept { iba::bad_result_access({iba::errc::unreadable, e.text}); }

} // namespace comad::verbs
