// SPDX-License-Identifier: MIT
// combinators.hpp - functions that combine tasks: when_all, when_any, with_timeout and mqueue.
#pragma once
#include <comad/coro/detail/when_all.hpp>
#include <comad/coro/detail/when_any.hpp>
#include <comad/coro/detail/with_timeout.hpp>
#include <comad/coro/mqueue.hpp>
