// SPDX-License-Identifier: MIT
// coro.hpp - tasks, MADSchedule with every RPC, combinators, and the driver that runs a task in the calling thread. Asio programs
// include coro/asio.hpp in addition.
#pragma once
#include <comad/coro/combinators.hpp>
#include <comad/coro/driver.hpp>
#include <comad/coro/event.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/coro/scope.hpp>
#include <comad/coro/task.hpp>
#include <comad/coro/ticker.hpp>
