// SPDX-License-Identifier: MIT
// ibtool_interrupted_test.cpp - signals interrupt long-running commands on a terminal at any moment. The commands must
// end soon and restore the terminal. COMAD_INTERRUPTIONS=10000 in the environment sets the number of interruptions per
// command, and COMAD_INTERRUPTIONS_SEED selects other moments.
#include "program/ibtool_rig.hpp"
#include "program/terminal.hpp"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <random>
#include <signal.h>

namespace ibtool_interrupted_test {

using namespace ibtool_rig;
using namespace std::chrono_literals;

namespace {

const words subnet{"--fabric", "sim:fattree2,radix=4,sm=1,counters=1,traffic=1000"};
// In this fabric every query takes longer than the test waits.
const words silent{"--fabric", "sim:fattree2,radix=4,sm=1,dead=h-0003 HCA-1,slow=leaf-0002:1000s", "-t", "1000s"};

const std::vector<words> commands{
    words{"sweep", "--every", "20ms", "--json"} + subnet,
    words{"sweep", "--watch", "--every", "20ms"} + subnet,
    words{"sweep", "--every", "20ms", "--listen", "127.0.0.1:0"} + subnet,
    words{"sweep", "--every", "20ms", "--refresh", "20ms", "--csv"} + subnet,
    words{"ibswportwatch", "-p", "20ms", "1", "1"} + subnet,
    words{"ibping", "2"} + subnet,
    words{"ibping", "-f", "2"} + subnet,
    words{"ibping", "-S"} + subnet,
    words{"ibsysstat", "-S"} + subnet,
    words{"bench", "--duration", "100s"} + subnet,
    words{"health", "--for", "100s"} + subnet,
    words{"ibnetdiscover"} + silent,
    words{"iblinkinfo"} + silent,
    words{"ibqueryerrors"} + silent,
    words{"ibchecknet"} + silent,
    words{"smpquery", "nodeinfo", "0,1,3"} + silent,
};

/// Returns the number in an environment variable, or `otherwise` if it is not set.
unsigned number_of(const char* variable, unsigned otherwise) {
    const char* const text = std::getenv(variable);
    return text ? static_cast<unsigned>(std::stoul(text)) : otherwise;
}

/// Returns the problems of a run; empty if there are none.
std::string interrupt(const words& command, unsigned seed) {
    std::minstd_rand random(seed + 1);
    const auto up_to = [&](auto most) { return most * static_cast<long>(random() % 1000) / 1000; };
    terminal t(ibtool(command));
    std::string history;
    const auto fails = [&](const std::string& what) {
        return fmt::format("{}\n  seed {}: {}; after{}; shown: ...{}", fmt::join(command, " "), seed, what, history,
                           t.shown().substr(t.shown().size() - std::min<std::size_t>(t.shown().size(), 200)));
    };
    // Most signals arrive in the first moments, because the program starts within 10 ms.
    const auto pass = [&] {
        const auto length = std::chrono::microseconds(up_to(random() % 4 ? 30'000l : 150'000l));
        history += fmt::format(" {} us", length.count());
        return t.watch(length).has_value();
    };
    for (unsigned others = random() % 3; others > 0; --others) {
        if (pass()) break;
        if (random() % 2) {
            history += " SIGPIPE";
            t.signal(SIGPIPE);
        } else {
            history += " SIGSTOP SIGCONT";
            t.stop_and_continue();
        }
    }
    std::optional<int> status;
    if (!pass()) {
        const int number = random() % 2 ? SIGINT : SIGTERM;
        history += number == SIGINT ? " SIGINT" : " SIGTERM";
        t.signal(number);
    }
    status = t.watch(1s);
    if (!status) return fails("it did not end within a second");
    // The command completed, failed after a timeout or has a partial result, or a signal ended it before it had signal
    // handlers.
    const int good[] = {0, 1, 3, 128 + SIGINT, 128 + SIGTERM, 128 + SIGPIPE};
    if (std::find(std::begin(good), std::end(good), *status) == std::end(good))
        return fails(fmt::format("it ended with {}", *status));
    if (const std::string left = t.difference(); !left.empty()) return fails("the terminal has " + left);
    const std::string& shown = t.shown();
    const bool is_line_done =
        shown.empty() || shown.ends_with("\n") || shown.ends_with("\033[K") || shown.ends_with("\033[J");
    if (*status < 128 && !is_line_done) return fails("it stopped in the middle of a line");
    return {};
}

} // namespace

TEST_CASE("long-running commands end within a second of a signal and restore the terminal") {
    const unsigned times = number_of("COMAD_INTERRUPTIONS", other_program() ? 1 : 4);
    const unsigned seed = number_of("COMAD_INTERRUPTIONS_SEED", 0);
    const unsigned all = times * static_cast<unsigned>(commands.size());
    std::atomic<unsigned> next = 0;
    std::mutex lock;
    words wrong;
    const auto work = [&] {
        for (unsigned i; (i = next++) < all;) {
            std::string problem;
            try {
                problem = interrupt(commands[i % commands.size()], seed + i);
            } catch (const std::exception& e) {
                problem = e.what();
            }
            const std::lock_guard guard(lock);
            if (!problem.empty()) wrong.push_back(std::move(problem));
        }
    };
    {
        std::vector<std::jthread> workers; // the workers mostly wait
        for (unsigned n = 0; n < 6; ++n) workers.emplace_back(work);
    }
    INFO(wrong.size() << " of " << all);
    for (const std::string& problem : wrong) CHECK(problem == "");
    CHECK(wrong.empty());
}

} // namespace ibtool_interrupted_test
