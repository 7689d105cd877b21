// SPDX-License-Identifier: MIT
// error_thresholds_test.cpp - the names of counters, compared with libibmad's names, and the lines of a thresholds
// file.
#include "input/error_thresholds.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"

#include <infiniband/mad.h>

#include <sstream>

using namespace comad;
using namespace ibtool;
using counters::counter;

namespace {

/// Returns the message with which a thresholds file is refused.
std::string message(const std::string& file) {
    error_thresholds t;
    std::istringstream in(file);
    return message_of([&] { t.read(in, "f"); });
}

} // namespace

TEST_CASE("error thresholds use libibmad's counter labels") {
    unsigned i = 0;
    for (const int first : {int{IB_PC_EXT_XMT_BYTES_F}, int{IB_PC_EXT_ERR_SYM_F}}) {
        const int last = first == IB_PC_EXT_XMT_BYTES_F ? IB_PC_EXT_RCV_MPKTS_F : IB_PC_EXT_QP1_DROP_F;
        for (int f = first; f <= last; ++f, ++i)
            CHECK(label_of(static_cast<counter>(i)) == mad_field_name(static_cast<MAD_FIELDS>(f)));
    }
    CHECK(i == counters::counter_count);
}

TEST_CASE("a counter is found by its IBA name or libibmad's name in upper and lower case") {
    for (const char* name : {"symbolErrorCounter", "SymbolErrorCounter", "SYMBOLERRORCOUNTER", "symbolerrorcounter"})
        CHECK(find_counter(name) == counter::symbolErrorCounter);
    CHECK(find_counter("VL15Dropped") == counter::VL15Dropped);
    CHECK(find_counter("portxmitdata") == counter::portXmitData);
    for (const char* name : {"", "symbolErrorCounte", "symbolErrorCounters", " symbolErrorCounter"})
        CHECK_FALSE(find_counter(name));
}

TEST_CASE("a thresholds file sets only the thresholds that it contains") {
    error_thresholds t;
    t.set(counter::portRcvErrors, 5);
    t.set(counter::linkDownedCounter, 6);
    std::istringstream in("# Define error thresholds here\n"
                          "\n"
                          "SymbolErrorCounter=10\n"
                          "  portXmitWait = 0x3e8 # ticks\r\n"
                          "#VL15Dropped=100\n"
                          "LinkDownedCounter=7\n"
                          "symbolErrorCounter=11\n"
                          "QP1Dropped=18446744073709551615");
    const std::vector named = t.read(in, "f");
    CHECK(named == std::vector{counter::symbolErrorCounter, counter::portXmitWait, counter::linkDownedCounter,
                               counter::symbolErrorCounter, counter::QP1Dropped});
    CHECK(t[counter::symbolErrorCounter] == 11);
    CHECK(t[counter::portXmitWait] == 1000);
    CHECK(t[counter::linkDownedCounter] == 7);
    CHECK(t[counter::QP1Dropped] == ~0ull);
    CHECK(t[counter::portRcvErrors] == 5);
    CHECK(t[counter::VL15Dropped] == 0);
}

TEST_CASE("a thresholds file accepts the former names of counters") {
    // infiniband-diags' ibqueryerrors -s still accepts these names, because old monitoring scripts use them.
    error_thresholds t;
    std::istringstream in("SymbolErrors=1\nLinkRecovers=2\nLinkDowned=3\nRcvErrors=4\nRcvRemotePhysErrors=5\n"
                          "RcvSwRelayErrors=6\nXmtDiscards=7\nXmtConstraintErrors=8\nRcvConstraintErrors=9\n"
                          "LinkIntegrityErrors=10\nExcBufOverrunErrors=11\nVL15Dropped=12\nxmtwait=13\n");
    using enum counter;
    const std::vector expected{symbolErrorCounter,
                               linkErrorRecoveryCounter,
                               linkDownedCounter,
                               portRcvErrors,
                               portRcvRemotePhysicalErrors,
                               portRcvSwitchRelayErrors,
                               portXmitDiscards,
                               portXmitConstraintErrors,
                               portRcvConstraintErrors,
                               localLinkIntegrityErrors,
                               excessiveBufferOverrunErrors,
                               VL15Dropped,
                               portXmitWait};
    CHECK(t.read(in, "f") == expected);
    for (unsigned i = 0; i < expected.size(); ++i) CHECK(t[expected[i]] == i + 1);
}

TEST_CASE("a line with an unknown counter in a thresholds file is skipped if the caller accepts warnings") {
    error_thresholds t;
    std::istringstream in("SymbolErrorCounters=10\nPortRcvErrors=5\n\nLinkDownd=1\n");
    std::vector<std::string> warnings;
    CHECK(t.read(in, "f", [&](const std::string& w) { warnings.push_back(w); }) == std::vector{counter::portRcvErrors});
    CHECK(warnings ==
          std::vector<std::string>{"f:1: unknown error counter 'SymbolErrorCounters'; similar: SymbolErrorCounter; "
                                   "line ignored",
                                   "f:4: unknown error counter 'LinkDownd'; similar: LinkDownedCounter; line ignored"});
    std::istringstream bad("VL15Dropped=ten\n"); // an invalid number is an error and not a warning
    CHECK(message_of([&] { t.read(bad, "f", [](const std::string&) {}); }) ==
          "f:1: invalid threshold 'ten'; expected a number");
}

TEST_CASE("an invalid thresholds file is refused with the line number") {
    CHECK(message("\nSymbolErrorCounter") == "f:2: expected COUNTER=THRESHOLD, such as SymbolErrorCounter=10");
    CHECK(message("SymbolErrorCounters=10") ==
          "f:1: unknown error counter 'SymbolErrorCounters'; similar: SymbolErrorCounter");
    CHECK(message("PortXmitData=10") == "f:1: unknown error counter 'PortXmitData'; similar: PortXmitWait");
    CHECK_THAT(message("=10"), Catch::StartsWith("f:1: unknown error counter ''; "));
    CHECK_THAT(message("a\x1b=10"), Catch::StartsWith("f:1: unknown error counter 'a\\x1b'; "));
    for (const char* value : {"", "ten", "-1", "10 20", "18446744073709551616"})
        CHECK(message(std::string("VL15Dropped=") + value) ==
              "f:1: invalid threshold '" + std::string(value) + "'; expected a number");
}
