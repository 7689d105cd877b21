// SPDX-License-Identifier: MIT
// ibccquery_text_test.cpp - the text of congestion control compared with libibmad's dump functions on random bytes,
// composed as in infiniband-diags' ibccquery.
#include "support/catch.hpp"
#include "text/ibccquery_text.hpp"
#include <comad/iba/detail/codec.hpp>

#include <infiniband/mad.h>

#include <array>
#include <random>

namespace congestion_text_test {

using namespace comad;
using namespace ibtool;
namespace cc = comad::iba::cc;

namespace {

using buffer = std::array<u8, 256>;
using dumper = void(char*, int, void*, int);

/// Returns random bytes, which a seed makes reproducible.
buffer random_bytes(unsigned seed) {
    std::mt19937 random(seed);
    buffer bytes;
    for (u8& b : bytes) b = static_cast<u8>(random());
    return bytes;
}

/// Returns libibmad's text for the bytes from an offset on.
std::string dumped(dumper* dump, const buffer& bytes, std::size_t at = 0) {
    buffer rest{};
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), rest.begin());
    std::array<char, 4096> text{};
    dump(text.data(), text.size(), rest.data(), static_cast<int>(rest.size()));
    return text.data();
}

/// Returns the structure in these bytes.
template <class T> T decoded(const buffer& bytes) {
    T value;
    iba::decode(value, bytes.data());
    return value;
}

/// Returns a line with a label and a number in libibmad's format.
std::string numbered(const std::string& label, unsigned number) {
    return label + ":" + std::string(32 - label.size(), '.') + std::to_string(number) + "\n";
}

} // namespace

TEST_CASE("congestion control attributes print the lines of libibmad's dump functions") {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        const buffer b = random_bytes(seed);
        CHECK(format_congestion(decoded<iba::ClassPortInfo>(b)) == dumped(mad_dump_classportinfo, b));
        CHECK(format_congestion(decoded<cc::CongestionInfo>(b)) == dumped(mad_dump_cc_congestioninfo, b));
        CHECK(format_congestion(decoded<cc::CongestionKeyInfo>(b)) == dumped(mad_dump_cc_congestionkeyinfo, b));
        CHECK(format_congestion(decoded<cc::SwitchCongestionSetting>(b)) ==
              dumped(mad_dump_cc_switchcongestionsetting, b));
        const auto element = decoded<cc::SwitchPortCongestionSettingElement>(b);
        const std::string its_lines = dumped(mad_dump_cc_switchportcongestionsettingelement, b);
        CHECK(format_congestion(element) == its_lines);
        CHECK(format_port_setting(seed, element) == numbered("Port", seed) + its_lines + "\n");
        CHECK(format_congestion(decoded<cc::TimeStamp>(b)) == dumped(mad_dump_cc_timestamp, b));
        CHECK(format_table_limit(decoded<cc::CongestionControlTable>(b)) ==
              dumped(mad_dump_cc_congestioncontroltable, b) + "\n");
        CHECK(format_table_entry(seed, decoded<cc::CongestionControlTableEntry>(b)) ==
              numbered("Entry", seed) + dumped(mad_dump_cc_congestioncontroltableentry, b) + "\n");

        std::string setting = dumped(mad_dump_cc_cacongestionsetting, b) + "\n";
        for (unsigned SL = 0; SL < 16; ++SL)
            setting += numbered("SL", SL) + dumped(mad_dump_cc_cacongestionentry, b, 4 + 8 * SL) + "\n";
        CHECK(format_congestion(decoded<cc::CACongestionSetting>(b)) == setting);
    }
}

TEST_CASE("a congestion log omits empty entries, and a switch log prints libibmad's lines") {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        buffer b = random_bytes(seed);
        const std::size_t empty = seed % 15;
        std::fill_n(b.begin() + static_cast<std::ptrdiff_t>(40 + 12 * empty), 12, u8{0});
        std::string log = dumped(mad_dump_cc_congestionlog, b) + dumped(mad_dump_cc_congestionlogswitch, b) + "\n";
        for (std::size_t e = 0; e < 15; ++e)
            if (e != empty) log += dumped(mad_dump_cc_congestionlogentryswitch, b, 40 + 12 * e) + "\n";
        CHECK(format_congestion(decoded<cc::CongestionLogSwitch>(b)) == log);

        // libibmad reads the events at wrong offsets.
        const std::string head = dumped(mad_dump_cc_congestionlog, b) + dumped(mad_dump_cc_congestionlogca, b) + "\n";
        CHECK(format_congestion(decoded<cc::CongestionLogCA>(b)).starts_with(head));
    }
    cc::CongestionLogCA log;
    log.logType = 2;
    log.congestionLogEvent[12] = {1, 0, 2, 3, 4, iba::lid{5}, 0, 6};
    const std::string text = format_congestion(log);
    CHECK(text.substr(text.find("Local")) == "Local_QP_CN_Entry:...............1\n"
                                             "SL_CN_Entry:.....................3\n"
                                             "Service_Type_CN_Entry:...........0x04\n"
                                             "Remote_QP_Number_CN_Entry:.......2\n"
                                             "Remote_LID_CN_Entry:.............5\n"
                                             "Timestamp_CN_Entry:..............6\n\n");
}

} // namespace congestion_text_test
