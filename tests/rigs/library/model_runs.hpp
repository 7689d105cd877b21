// SPDX-License-Identifier: MIT
// model_runs.hpp - how long a model runs beside the code that it is a model of.
#pragma once

#include "support/catch.hpp"
#include <comad/iba/types.hpp>

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>

namespace comad::test {

/// Calls `run(seed)`, which gives the number of steps that it made, with the seeds that failed once and then with 1, 2, 3...
/// until `steps` are made. By hand, through the environment: COMAD_MODEL_SECONDS=3600 goes on so long, with seeds that were never
/// tried; COMAD_MODEL_SEED=17 runs that alone. A failure tells its seed.
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
