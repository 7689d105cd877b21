// SPDX-License-Identifier: MIT
// model_runs.hpp - runs a reference model together with the code under test, for a number of steps or for a time.
#pragma once

#include "support/catch.hpp"
#include <comad/iba/types.hpp>

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>

namespace comad::test {

/// Calls `run(seed)`, which returns the number of its steps, until `steps` are made. First uses the seeds that failed
/// in the past, and then 1, 2, 3 and so on. COMAD_MODEL_SECONDS=3600 in the environment runs for this time with new
/// random seeds. COMAD_MODEL_SEED=17 runs only this seed. A failure prints its seed.
template <class Run> void run_model(u64 steps, std::initializer_list<u64> failed_once, Run&& run) {
    u64 made = 0;
    const auto run_with = [&](u64 seed) {
        CAPTURE(seed);
        const u64 more = run(seed);
        REQUIRE(more > 0);
        made += more;
    };
    if (const char* only = std::getenv("COMAD_MODEL_SEED")) {
        run_with(std::stoull(only));
    } else if (const char* seconds = std::getenv("COMAD_MODEL_SECONDS")) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::stoll(seconds));
        std::random_device random;
        while (std::chrono::steady_clock::now() < end) run_with(u64{random()} << 32 | random());
        WARN("steps: " << made);
    } else {
        for (u64 failed : failed_once) run_with(failed);
        u64 seed = 0;
        while (made < steps) run_with(++seed);
    }
}

} // namespace comad::test
