// SPDX-License-Identifier: MIT
// sanitized.hpp - a constant that is true if the program is built with a sanitizer, so that exhaustive tests can take
// fewer steps.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif
