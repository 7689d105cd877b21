// SPDX-License-Identifier: MIT
// wrong_co_return.cpp - tasks that return a value of the wrong type; they must not compile. COMAD_WRONG selects one.
#include <comad/coro/task.hpp>
#include <comad/mad/error.hpp>

#include <string>

#ifndef COMAD_WRONG
#define COMAD_WRONG 0
#endif

namespace coro = comad::coro;
namespace mad = comad::mad;

inline coro::task<mad::result<int>> number() { co_return 1; }
inline coro::task<mad::result<int>> passes_errors_on() {
    BOOST_OUTCOME_CO_TRY(const int one, co_await number());
    co_return one;
}

#if COMAD_WRONG == 1 // the task cannot return the error of CO_TRY
inline coro::task<int> without_result() {
    BOOST_OUTCOME_CO_TRY(const int one, co_await number());
    co_return one;
}
#elif COMAD_WRONG == 2 // the result type differs
inline coro::task<mad::result<int>> other_result() { co_return mad::result<std::string>("one"); }
#endif
