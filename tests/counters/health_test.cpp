// SPDX-License-Identifier: MIT
// health_test.cpp - health rules at their exact limits, and valid and invalid files of rules. All numbers were
// calculated by hand.
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include <comad/counters/health.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdlib.h>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::counters;
using namespace std::chrono_literals;
using discovery::port_ref;
using iba::pm::PortCountersExt;
using iba::pm::PortExtendedSpeedsCounters;
using iba::pm::PortExtendedSpeedsCountersRSFEC;
using iba::smp::PortInfo;
using rule = health_finding::rule;

namespace {

constexpr port_ref here{0, 1}, there{1, 1};

/// A cable between two hosts at 4X QDR, the best speed that both support: 4e10 bits per second.
struct cable {
    cable() {
        s.nodes.resize(2);
        for (discovery::node& n : s.nodes) {
            n.info.nodeType = iba::NodeType::CA;
            n.ports.resize(2);
            PortInfo& p = n.ports[1].info.emplace();
            p.portState = iba::PortState::Active;
            p.linkWidthSupported = 3; // 1x, 4x
            p.linkWidthActive = iba::LinkWidth::w4x;
            p.linkSpeedSupported = 7; // up to QDR
            p.linkSpeedActive = iba::LinkSpeed::QDR;
        }
        s.nodes[0].ports[1].peer = there;
        s.nodes[1].ports[1].peer = here;
    }
    PortInfo& end(unsigned n) { return *s.nodes[n].ports[1].info; }

    discovery::subnet s;
};

constexpr capabilities all{true, true, true, true, true, true, true};

sweep seen(const PortCountersExt& values, mad::duration at, std::vector<port_detail> details = {}) {
    sweep one;
    one.begin = one.end = mad::time_point(at);
    one.ports.push_back({here, true, {mad::time_point(at), {}}, std::move(details)});
    one.ports[0].counters.counters.take(values, all);
    return one;
}

/// Returns rules with a single limit, for one counter.
health_rules only(counter c, limits most, mad::duration per = 1h) {
    health_rules rules;
    rules.of(c) = {per, most};
    return rules;
}

/// Returns the severity if the receive errors grew by `more` in that time. There is at most one finding.
severity of_growth(const health_rules& rules, u64 more, mad::duration between) {
    PortCountersExt before, after;
    before.portRcvErrors = 1000;
    after.portRcvErrors = 1000 + more;
    const auto findings = evaluate(rules, cable().s, seen(before, 7s), seen(after, 7s + between));
    REQUIRE(findings.size() <= 1);
    return findings.empty() ? severity::ok : findings[0].how_bad;
}

} // namespace

TEST_CASE("a counter may grow up to the limit of its rule and no more in any interval") {
    const health_rules hourly = only(counter::portRcvErrors, {.warning = 10, .error = 20, .critical = 40});
    CHECK(of_growth(hourly, 0, 1h) == severity::ok);
    CHECK(of_growth(hourly, 10, 1h) == severity::ok);
    CHECK(of_growth(hourly, 11, 1h) == severity::warning);
    CHECK(of_growth(hourly, 20, 1h) == severity::warning);
    CHECK(of_growth(hourly, 21, 1h) == severity::error);
    CHECK(of_growth(hourly, 40, 1h) == severity::error);
    CHECK(of_growth(hourly, 41, 1h) == severity::critical);
    // Half of the time allows half of the growth. A second is a 3,600th of an hour.
    CHECK(of_growth(hourly, 5, 30min) == severity::ok);
    CHECK(of_growth(hourly, 6, 30min) == severity::warning);
    CHECK(of_growth(hourly, 20, 2h) == severity::ok);
    CHECK(of_growth(hourly, 1, 1s) == severity::critical);
    CHECK(of_growth(only(counter::portRcvErrors, {.warning = 2, .error = {}, .critical = {}}, 1s), 20, 10s) ==
          severity::ok);
    CHECK(of_growth(only(counter::portRcvErrors, {.warning = 2, .error = {}, .critical = {}}, 1s), 21, 10s) ==
          severity::warning);
    // Two readings at the same time show no growth.
    CHECK(of_growth(hourly, 1000, 0s) == severity::ok);
    CHECK(of_growth(health_rules(), 1000, 1s) == severity::ok);
}

TEST_CASE("a finding names location, rule, measured value and limit") {
    PortCountersExt before, after;
    after.linkDownedCounter = 3;
    const health_rules rules = only(counter::linkDownedCounter, {.warning = {}, .error = 0, .critical = 10});
    const auto findings = evaluate(rules, cable().s, seen(before, 1s), seen(after, 1s + 30min));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0] == health_finding{.how_bad = severity::error,
                                        .where = here,
                                        .why = rule::growth,
                                        .measured = 6,
                                        .limit = 0,
                                        .counter = "linkDownedCounter",
                                        .counted = 3,
                                        .between = 30min,
                                        .per = 1h,
                                        .is_at_least = false});
}

TEST_CASE("a cleared or saturating counter gives a lower bound, and a saturated counter gives no value") {
    health_rules rules = only(counter::symbolErrorCounter, {.warning = 0, .error = {}, .critical = {}});
    rules.pegged = severity::error;
    const auto evaluated = [&](u16 then, u16 now) {
        iba::pm::PortCounters before, after; // symbol errors have 16 bits
        before.symbolErrorCounter = then;
        after.symbolErrorCounter = now;
        sweep first = seen({}, 0s), second = seen({}, 1h);
        for (auto& [s, values] : {std::pair{&first, before}, {&second, after}}) {
            s->ports[0].counters.counters = {};
            s->ports[0].counters.counters.take(values, all);
        }
        return evaluate(rules, cable().s, first, second);
    };
    const auto cleared = evaluated(500, 7);
    REQUIRE(cleared.size() == 1);
    CHECK((cleared[0].counted == 7 && cleared[0].is_at_least));
    const auto at_end = evaluated(0xfff0, 0xffff);
    REQUIRE(at_end.size() == 1);
    CHECK((at_end[0].counted == 15 && at_end[0].is_at_least));
    const auto stays = evaluated(0xffff, 0xffff);
    REQUIRE(stays.size() == 1);
    CHECK(stays[0].why == rule::pegged);
    CHECK(stays[0].how_bad == severity::error);
    CHECK(stays[0].measured == 65535);
    CHECK(evaluated(3, 3).empty());
}

TEST_CASE("symbol error rates are relative to the bits that the link transmitted") {
    const auto evaluated = [](u64 errors, mad::duration between, cable c = {}) {
        PortCountersExt before, after;
        after.symbolErrorCounter = errors;
        health_rules rules;
        rules.bit_errors = {.warning = 1e-15, .error = 1e-12, .critical = {}};
        const auto findings = evaluate(rules, c.s, seen(before, 0s), seen(after, between));
        REQUIRE(findings.size() <= 1);
        return findings.empty() ? severity::ok : findings[0].how_bad;
    };
    CHECK(evaluated(0, 25s) == severity::ok);
    CHECK(evaluated(1, 25s) == severity::warning); // 1 in 1e12 bits
    CHECK(evaluated(2, 25s) == severity::error);
    CHECK(evaluated(1, 24s) == severity::error);
    CHECK(evaluated(1, 25000s) == severity::ok); // 1 in 1e15 bits
    CHECK(evaluated(1, 24999s) == severity::warning);
    cable slow; // 1X SDR: 2.5e9 bits per second
    slow.end(0).linkWidthActive = iba::LinkWidth::w1x;
    slow.end(0).linkSpeedActive = iba::LinkSpeed::SDR;
    CHECK(evaluated(1, 400s, slow) == severity::warning);
    CHECK(evaluated(1, 399s, slow) == severity::error);
}

TEST_CASE("corrected and uncorrected error rates are relative to bits, with and without RS-FEC") {
    health_rules rules;
    rules.raw_bit_errors = {.warning = 5e-5, .error = 2.4e-4, .critical = {}};
    rules.bit_errors = {.warning = 1e-15, .error = 1e-12, .critical = {}};
    const auto evaluated = [&](const port_detail& before, const port_detail& after) {
        return evaluate(rules, cable().s, seen({}, 0s, {before}), seen({}, 1s, {after}));
    };
    const auto RS = [&](u32 mended, u32 lost) {
        PortExtendedSpeedsCountersRSFEC before, after;
        before.portFECCorrectedSymbolCounter = 5;
        before.portFECUncorrectableBlockCounter = 6;
        after.portFECCorrectedSymbolCounter = 5 + mended;
        after.portFECUncorrectableBlockCounter = 6 + lost;
        return evaluated(before, after);
    };
    CHECK(RS(2'000'000, 0).empty()); // in 4e10 bits
    REQUIRE(RS(2'000'001, 0).size() == 1);
    CHECK(RS(2'000'001, 0)[0].how_bad == severity::warning);
    CHECK(RS(2'000'001, 0)[0].why == rule::raw_bit_errors);
    CHECK(RS(2'000'001, 0)[0].counter == "portFECCorrectedSymbolCounter");
    CHECK(RS(9'600'000, 0)[0].how_bad == severity::warning);
    CHECK(RS(9'600'001, 0)[0].how_bad == severity::error);
    REQUIRE(RS(0, 1).size() == 1);
    CHECK(RS(0, 1)[0].how_bad == severity::error);
    CHECK(RS(0, 1)[0].why == rule::bit_errors);
    CHECK(RS(0, 1)[0].counter == "portFECUncorrectableBlockCounter");

    PortExtendedSpeedsCounters before, after;
    after.FECCorrectableBlockCounterLane = {1'000'000, 500'000, 500'000, 1};
    REQUIRE(evaluated(before, after).size() == 1);
    CHECK(evaluated(before, after)[0].counted == 2'000'001);
    CHECK(evaluated(before, after)[0].how_bad == severity::warning);
    after.FECCorrectableBlockCounterLane = {};
    after.FECUncorrectableBlockCounterLane = {0, 0, 0, 2};
    REQUIRE(evaluated(before, after).size() == 1);
    CHECK(evaluated(before, after)[0].why == rule::bit_errors);
    // One lane was cleared, another lane reached its end: the rule uses at least the visible growth.
    before.FECUncorrectableBlockCounterLane = {9};
    after.FECUncorrectableBlockCounterLane = {4};
    CHECK(evaluated(before, after)[0].counted == 4);
    CHECK(evaluated(before, after)[0].is_at_least);
    before.FECUncorrectableBlockCounterLane = {0, 0xfffffffe};
    after.FECUncorrectableBlockCounterLane = {2, 0xffffffff};
    CHECK(evaluated(before, after)[0].counted == 3);
    CHECK(evaluated(before, after)[0].is_at_least);
    // The port started to use RS correction in between. The two readings cannot be compared.
    CHECK(evaluated(before, PortExtendedSpeedsCountersRSFEC{}).empty());
}

TEST_CASE("the width and speed of a link are compared with the values that both ends support") {
    health_rules rules;
    rules.width = severity::critical;
    rules.speed = severity::warning;
    cable c;
    const auto evaluated = [&] { return evaluate(rules, c.s, seen({}, 0s), seen({}, 1s)); };
    CHECK(evaluated().empty());
    c.end(0).linkWidthActive = iba::LinkWidth::w1x;
    REQUIRE(evaluated().size() == 1);
    CHECK((evaluated()[0].why == rule::width && evaluated()[0].how_bad == severity::critical));
    CHECK((evaluated()[0].measured == 1 && evaluated()[0].limit == 4));
    c.end(0).linkSpeedActive = iba::LinkSpeed::SDR;
    REQUIRE(evaluated().size() == 2);
    CHECK((evaluated()[1].why == rule::speed && evaluated()[1].how_bad == severity::warning));
    CHECK((evaluated()[1].measured == 2.5e9 && evaluated()[1].limit == 10e9));
    c.end(1).linkSpeedSupported = 1; // the neighbor supports no higher speed
    CHECK(evaluated().size() == 2);  // the second finding: the link is faster than its ports support
    c.end(1).linkSpeedActive = iba::LinkSpeed::SDR;
    CHECK(evaluated().size() == 1);
    c.end(0).portState = iba::PortState::Down;
    CHECK(evaluated().empty());
    c.end(0).portState = iba::PortState::Active;
    rules.width = severity::ok;
    CHECK(evaluated().empty());
}

TEST_CASE("QDR between two ends that support FDR10 is too slow") {
    health_rules rules;
    rules.speed = severity::error;
    cable c;
    c.s.nodes[0].ports[1].fdr10_supported = c.s.nodes[1].ports[1].fdr10_supported = true;
    const auto findings = evaluate(rules, c.s, seen({}, 0s), seen({}, 1s));
    REQUIRE(findings.size() == 1);
    CHECK((findings[0].measured == 10e9 && findings[0].limit == 10.3125e9));
    c.s.nodes[0].ports[1].fdr10 = true;
    CHECK(evaluate(rules, c.s, seen({}, 0s), seen({}, 1s)).empty());
}

TEST_CASE("utilization of each direction and congestion are limited as shares, and not limited by default") {
    cable c;
    PortCountersExt before, after;
    after.portXmitData = 1'600'000'000; // 6.4e9 bytes in 2 s, of 8e9
    after.portRcvData = 400'000'000;
    after.portXmitWait = 12'500'000; // ticks of 32 ns: 0.4 s of 2 s
    const sweep first = seen(before, 5s);
    sweep second = seen(after, 7s);
    second.ports[0].tick = u8{31};
    const auto findings = [&](limits utilization, limits congestion) {
        health_rules rules;
        rules.utilization = utilization;
        rules.congestion = congestion;
        return evaluate(rules, c.s, first, second);
    };
    CHECK(evaluate(default_rules(), c.s, first, second).empty());
    CHECK(findings({.warning = 0.81, .error = {}, .critical = {}}, {.warning = 0.21, .error = {}, .critical = {}})
              .empty());
    const auto both =
        findings({.warning = 0.1, .error = 0.79, .critical = {}}, {.warning = 0.1, .error = 0.19, .critical = {}});
    REQUIRE(both.size() == 3);
    CHECK(both[0].how_bad == severity::error);
    CHECK(both[0].why == rule::utilization);
    CHECK(both[0].counter == "portXmitData");
    CHECK(both[0].measured == Approx(0.8));
    CHECK(both[0].limit == 0.79);
    CHECK(both[0].counted == 1'600'000'000);
    CHECK(both[1].how_bad == severity::warning);
    CHECK(both[1].counter == "portRcvData");
    CHECK(both[1].measured == Approx(0.2));
    CHECK(both[2].how_bad == severity::error);
    CHECK(both[2].why == rule::congestion);
    CHECK(both[2].counter == "portXmitWait");
    CHECK(both[2].measured == Approx(0.2));
    CHECK(name_of(both[2].why) == "congestion");
    CHECK(name_of(both[0].why) == "utilization");
    second.ports[0].tick.reset();
    CHECK(findings({}, {.warning = 0, .error = {}, .critical = {}}).empty());
}

TEST_CASE("a port that is missing from one of two sweeps has only findings about its link") {
    cable c;
    c.end(0).linkWidthActive = iba::LinkWidth::w1x;
    PortCountersExt downed;
    downed.linkDownedCounter = 1;
    sweep first = seen({}, 0s), second = seen(downed, 1s);
    CHECK(evaluate(default_rules(), c.s, first, second).size() == 2);
    second.ports[0].valid = false;
    const auto of_link = evaluate(default_rules(), c.s, first, second);
    REQUIRE(of_link.size() == 1);
    CHECK(name_of(of_link[0].why) == "width");
    std::swap(first.ports[0].valid, second.ports[0].valid);
    CHECK(evaluate(default_rules(), c.s, first, second).size() == 1);
}

namespace {

/// A file of rules that exists as long as this object.
class rules_file {
public:
    explicit rules_file(std::string_view text) {
        REQUIRE(::mkdtemp(directory_.data()));
        std::ofstream(name()) << text;
    }
    ~rules_file() { std::filesystem::remove_all(directory_); }
    std::string name() const { return directory_ + "/rules.toml"; }

private:
    std::string directory_ = std::filesystem::temp_directory_path() / "comad-health-XXXXXX";
};

health_rules read(std::string_view text) { return read_health_rules(rules_file(text).name()); }

/// Returns the error message for the text, without the name of the directory.
std::string problem(std::string_view text) {
    const std::string what = message_of([&] { read(text); });
    return what.substr(what.find("rules.toml"));
}

/// Returns the first code block of that kind in docs/reference/health-rules.md.
std::string example() {
    std::ifstream page(COMAD_SOURCE_DIR "/docs/reference/health-rules.md");
    const std::string text(std::istreambuf_iterator<char>(page), {});
    const std::size_t begin = text.find("```toml\n") + 8;
    REQUIRE(begin > 8);
    return text.substr(begin, text.find("```", begin) - begin);
}

} // namespace

TEST_CASE("the rules file in the documentation equals the default rules") {
    CHECK(read_health_rules(rules_file(example()).name(), health_rules()) == default_rules());
    CHECK_FALSE(default_rules() == health_rules());
}

TEST_CASE("the rules file of the service has the default rules in lines that can be uncommented") {
    const std::string file = COMAD_SOURCE_DIR "/packaging/health.toml";
    CHECK(read_health_rules(file) == default_rules());
    std::ifstream lines(file);
    std::string text;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with('#') && !line.starts_with("# ")) text += line.substr(1) + '\n';
    CHECK(read_health_rules(rules_file(text).name(), health_rules()) == default_rules());
}

TEST_CASE("a rules file changes only the rules that it names") {
    CHECK(read("") == default_rules());
    health_rules expected = default_rules();
    expected.width = severity::ok;
    expected.bit_errors = {.warning = {}, .error = {}, .critical = 1e-9};
    expected.utilization = {.warning = 0.9, .error = {}, .critical = {}};
    expected.congestion = {.warning = 0.1, .error = 0.5, .critical = {}};
    expected.of(counter::VL15Dropped) = {2 * 24h, {.warning = {}, .error = 3, .critical = {}}};
    expected.of(counter::portXmitDiscards) = {};
    expected.of(counter::portXmitWait) = {1500ms, {.warning = 0.5, .error = {}, .critical = {}}};
    CHECK(read("width = 'ok'\n"
               "bit_errors.critical = 1e-9\n"
               "utilization = { warning = 0.9 }\n"
               "congestion = { warning = 0.1, error = 0.5 }\n"
               "[counters]\n"
               "VL15Dropped = { per = '2d', error = 3 }\n"
               "portXmitWait = { per = '1.5s', warning = 0.5 }\n"
               "[counters.portXmitDiscards]\n") == expected);
}

TEST_CASE("an error in a rules file is reported with line, mistake and valid values") {
    CHECK(problem("\nwidht = 'error'\n") == "rules.toml:2: unknown key 'widht' in the rules file; expected width, "
                                            "speed, pegged, bit_errors, raw_bit_errors, "
                                            "utilization, congestion or counters");
    CHECK(problem("speed = 'bad'\n") == R"(rules.toml:1: 'speed' must be "ok", "warning", "error" or "critical")");
    CHECK(problem("speed = 3\n") == R"(rules.toml:1: 'speed' must be "ok", "warning", "error" or "critical")");
    CHECK_THAT(problem("[counters]\n\nsymbolErrors = { warning = 1 }\n"),
               Catch::StartsWith("rules.toml:3: unknown counter 'symbolErrors'; the nearest are "));
    CHECK(problem("[counters.VL15Dropped]\nwarn = 1\n") ==
          "rules.toml:2: unknown key 'warn' in VL15Dropped; expected per, warning, error or critical");
    CHECK(problem("[counters.VL15Dropped]\nerror = -1\n") ==
          "rules.toml:2: 'error' must be a number >= 0 (the highest acceptable value)");
    CHECK(problem("[counters.VL15Dropped]\nerror = 'many'\n") ==
          "rules.toml:2: 'error' must be a number >= 0 (the highest acceptable value)");
    CHECK(problem("[counters.VL15Dropped]\nerror = nan\n") ==
          "rules.toml:2: 'error' must be a number >= 0 (the highest acceptable value)");
    for (const char* time : {"'1'", "'h'", "'0h'", "'1 week'", "'-1h'", "60"}) {
        CAPTURE(time);
        CHECK(problem(std::string("[counters.VL15Dropped]\nerror = 1\nper = ") + time) ==
              R"(rules.toml:3: 'per' must be a time such as "1h": a number and s, min, h or d, at most 366d)");
    }
    CHECK(problem("counters = 1\n") == "rules.toml:1: 'counters' must be a table, such as [counters]");
    CHECK(problem("bit_errors = 1\n") == "rules.toml:1: 'bit_errors' must be a table, such as [bit_errors]");
    CHECK(problem("bit_errors = { per = 1 }\n") ==
          "rules.toml:1: unknown key 'per' in bit_errors; expected warning, error or critical");
    CHECK_THAT(problem("width = 'ok'\nspeed =\n"),
               Catch::StartsWith("rules.toml:2: ") && Catch::EndsWith("; the file must be TOML"));
    CHECK(problem("width = 'ok'\nspeed =\n").find('\n') == std::string::npos);
    CHECK_THAT(message_of([] { read_health_rules("/nonexistent/rules.toml"); }),
               Catch::Equals("cannot read '/nonexistent/rules.toml': No such file or directory"));
}

TEST_CASE("size and nesting depth of a rules file are limited before the file is parsed") {
    std::string key = "a";
    for (int i = 0; i < 200'000; ++i) key += ".a";
    for (const std::string& deep : {key + " = 1\n", "[" + key + "]\n", "a = { " + key + " = 1 }\n"}) {
        CHECK(problem("# a comment\n" + deep) ==
              "rules.toml:2: keys are nested too deeply; a line must have at most 64 dots");
    }
    std::string deepest = "a";
    for (int i = 0; i < 64; ++i) deepest += ".a";
    CHECK_THAT(problem(deepest + " = 1\n"), !Catch::Contains("nested too deeply"));
    CHECK_THAT(problem(deepest + ".a = 1\n"), Catch::Contains("nested too deeply"));
    CHECK_THAT(problem("a = " + std::string(200'000, '[')), Catch::EndsWith("; the file must be TOML"));
    std::string many_comments;
    for (int i = 0; i < 2000; ++i) many_comments += std::string(999, '#') + "\n";
    CHECK(problem(many_comments) == "rules.toml: the rules file is too large; must be at most 1048576 bytes");
    FILE* const endless = ::popen("yes", "r");
    REQUIRE(endless);
    CHECK_THAT(message_of([&] { iba::text_in(::fileno(endless)); }),
               Catch::Equals("it is larger than the maximum of 256 MiB"));
    ::pclose(endless);
    CHECK_THAT(message_of([] { read_health_rules("/"); }), Catch::Equals("cannot read '/': Is a directory"));
    CHECK_THAT(message_of([] { read_health_rules("/dev/zero"); }),
               Catch::Equals("cannot read '/dev/zero': it is a binary file, but must be a text file"));
    CHECK_THAT(message_of([] { read_health_rules("/proc/self/mem"); }),
               Catch::Equals("cannot read '/proc/self/mem': Input/output error"));
}

namespace {

/// Returns a subnet with three cables: node 0 to node 3, node 1 to node 2, and a port of node 4 without a known neighbor.
discovery::subnet three_cables() {
    discovery::subnet s;
    s.nodes.resize(5);
    for (discovery::node& n : s.nodes) n.ports.resize(2);
    const auto connect = [&](u32 a, u32 b) {
        s.nodes[a].ports[1].peer = {b, 1};
        s.nodes[b].ports[1].peer = {a, 1};
    };
    connect(0, 3);
    connect(1, 2);
    return s;
}

health_finding growth_at(u32 node, severity how_bad, double measured, double limit) {
    return {.how_bad = how_bad, .where = {node, 1}, .why = rule::growth, .measured = measured, .limit = limit};
}

std::vector<u32> first_ends(const std::vector<cable_findings>& cables) {
    std::vector<u32> nodes;
    for (const cable_findings& c : cables) nodes.push_back(c.a.node);
    return nodes;
}

} // namespace

TEST_CASE("findings at both ends of a cable belong to the cable, and the worst one is first") {
    const discovery::subnet s = three_cables();
    const health_finding low = growth_at(0, severity::warning, 20, 10), high = growth_at(3, severity::warning, 90, 10),
                         worst = growth_at(3, severity::error, 11, 10);
    const auto cables = by_cable(s, {low, high, worst});
    REQUIRE(cables.size() == 1);
    CHECK(cables[0] == cable_findings{{0, 1}, {3, 1}, severity::error, {worst, high, low}});
    CHECK(by_cable(s, {}).empty());
    const auto alone = by_cable(s, {growth_at(4, severity::warning, 2, 1)});
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].a == port_ref{4, 1});
    CHECK_FALSE(alone[0].b);
}

TEST_CASE(
    "cables are sorted by severity, then by the excess of their worst finding, then by their number of findings") {
    const discovery::subnet s = three_cables();
    const auto order = [&](std::vector<health_finding> findings) {
        return first_ends(by_cable(s, std::move(findings)));
    };
    CHECK(order({growth_at(0, severity::warning, 900, 1), growth_at(2, severity::error, 2, 1)}) ==
          std::vector<u32>{1, 0});
    CHECK(order({growth_at(0, severity::error, 20, 10), growth_at(1, severity::error, 5, 1)}) ==
          std::vector<u32>{1, 0});
    CHECK(order({growth_at(0, severity::error, 5, 1), growth_at(1, severity::error, 5, 1),
                 growth_at(2, severity::warning, 5, 1)}) == std::vector<u32>{1, 0});
    CHECK(order({growth_at(4, severity::error, 5, 1), growth_at(2, severity::error, 5, 1),
                 growth_at(3, severity::error, 5, 1)}) == std::vector<u32>{0, 1, 4});
}

TEST_CASE("the excess of a finding is the ratio of the measured value and its limit") {
    const auto excess = [](rule why, double measured, double limit) {
        return excess_of({.how_bad = severity::error, .where = here, .why = why, .measured = measured, .limit = limit});
    };
    CHECK(excess(rule::growth, 50, 10) == 5);
    CHECK(excess(rule::bit_errors, 3e-12, 1e-12) == Approx(3));
    CHECK(excess(rule::growth, 1, 0) == std::numeric_limits<double>::infinity());
    CHECK(excess(rule::width, 1, 4) == 4);
    CHECK(excess(rule::speed, 25e9, 10e9) == 2.5); // the neighbor is slower
    CHECK(excess(rule::pegged, 255, 255) == 1);
}
