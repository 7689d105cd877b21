// SPDX-License-Identifier: MIT
// exporter_alerts_test.cpp - each alert of packaging/monitoring/alerts.yml with a fault of realistic length. The code
// of the exporter sweeps a simulated fabric in virtual time, and a real promtool evaluates the alerts over the
// resulting pages.
#include "commands/counters/sweep_outputs.hpp"
#include "program/ibtool_rig.hpp"
#include "session/sweep_loop.hpp"
#include <comad/counters/health.hpp>
#include <comad/discovery/formats/subnet_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace exporter_alerts_test {

using namespace ibtool;
using namespace std::chrono_literals;
using ibtool_rig::directory;
using nlohmann::json;

namespace {

/// Topology with two leaves, two cables between the leaves, and three hosts. The exporter and the subnet manager run on
/// h-1.
const char topology[] = R"(caguid=0x1
Ca 1 "H-1" # "h-1 HCA-1"
[1] "S-10"[1] # "x" 4xQDR

caguid=0x2
Ca 1 "H-2" # "h-2 HCA-1"
[1] "S-10"[2] # "x" 4xQDR

caguid=0x3
Ca 1 "H-3" # "h-3 HCA-1"
[1] "S-20"[1] # "x" 4xQDR

switchguid=0x10(10)
Switch 8 "S-10" # "leaf-1"
[1] "H-1"[1] # "x" 4xQDR
[2] "H-2"[1] # "x" 4xQDR
[7] "S-20"[7] # "x" 4xQDR
[8] "S-20"[8] # "x" 4xQDR

switchguid=0x20(20)
Switch 8 "S-20" # "leaf-2"
[1] "H-3"[1] # "x" 4xQDR
[7] "S-10"[7] # "x" 4xQDR
[8] "S-10"[8] # "x" 4xQDR
)";

constexpr auto scrapes_apart = 30s;

/// A part of the test that lasts some minutes, with its faults.
struct phase {
    enum class exporter { sweeps, stuck, device_lost, not_running };
    int minutes;
    std::string faults = {}; ///< faults of the simulator; times count from the start of the phase
    exporter what = exporter::sweeps;
};

/// The labels with which an alert names its ports and nodes, in addition to the labels of all series.
using labels = std::map<std::string, std::string>;
/// An alert as it fires: its labels and its summary.
struct alert {
    labels names;
    std::string summary;
};

/// One test of an alert: the phases and the expected times.
struct row {
    std::string name, title;
    std::vector<phase> phases;
    std::vector<alert> fired;     ///< exactly the alerts that fire between `from` and `until`
    int from, until;              ///< first and last minute at which the alert fires
    int quiet_before, quiet_from; ///< no alert up to `quiet_before`, and no alert from `quiet_from` on
    bool is_known_before = false; ///< whether a file declares the whole fabric as expected
};

/// Returns the labels with which an alert names a cable.
labels cable(const char* a, const char* node, const char* port, const char* b, const char* peer,
             const char* peer_port) {
    const auto GUID = [](const char* digits) { return fmt::format("0000:0000:0000:{:0>4}", digits); };
    return {{"node_guid", GUID(a)},      {"node", node},      {"port", port},
            {"peer_node_guid", GUID(b)}, {"peer_node", peer}, {"peer_port", peer_port}};
}
const labels between_leaves = cable("10", "leaf-1", "7", "20", "leaf-2", "7");
/// Returns the labels of both sets.
labels with(labels all, const labels& more) {
    all.insert(more.begin(), more.end());
    return all;
}
/// Returns the labels except those with these names.
labels without(labels all, const std::set<std::string>& names) {
    std::erase_if(all, [&](const auto& one) { return names.contains(one.first); });
    return all;
}

const std::string cut = "cut=leaf-1/7@600s,restore=leaf-1/7@2700s";
/// Simulator options with which the cable at port 7 is the only bad cable.
const std::string bad_cable = "errors=0.2:2,seed=12";

/// Returns at least one row for each alert.
std::vector<row> rows() {
    using enum phase::exporter;
    const labels error{{"severity", "error"}}, warning{{"severity", "warning"}}, critical{{"severity", "critical"}};
    const labels host = without(with(cable("3", "h-3 HCA-1", "", "20", "leaf-2", "1"), error), {"port"});
    const std::string the_cable = "the link between leaf-1/7 and leaf-2/7";
    const phase bad{70, bad_cable};
    std::vector<row> all{
        {"InfinibandExporterDown",
         "the exporter does not run",
         {{10}, {20, {}, not_running}, {10}},
         {{critical, "cannot scrape x: the exporter is not running, or its device was never ready; check the service, "
                     "then its page /health"}},
         13,
         29,
         10,
         31},
        {"InfinibandDeviceLost",
         "the device is lost",
         {{10}, {20, {}, device_lost}, {10}},
         {{critical, "the device of x is disconnected; check its page /health"}},
         13,
         29,
         10,
         31},
        {"InfinibandSweepsStopped",
         "sweeps stop",
         {{10}, {20, {}, stuck}, {10}},
         {{critical, "x responds, but has not completed a sweep for 5 minutes; check its page /health"}},
         17,
         29,
         10,
         32},
        {"InfinibandSubnetMissing",
         "the exporter's own cable is pulled",
         {{10}, {20, "cut=h-1 HCA-1/1@0s"}, {10}},
         {{critical, "x finds fewer than half of the known nodes; check its own port and cable first"}},
         13,
         29,
         10,
         31},
        {"InfinibandPortMissing",
         "a host dies",
         {{70, "kill=h-3 HCA-1@600s,revive=h-3 HCA-1@3300s"}},
         {{host, "h-3 HCA-1 at leaf-2/1 is missing, or its counters cannot be read"}},
         16,
         54,
         10,
         58},
        {"InfinibandPortMissing",
         "a host is dead from the beginning and expected by a file",
         {{40, "dead=h-3 HCA-1,revive=h-3 HCA-1@1800s"}},
         {{host, "h-3 HCA-1 at leaf-2/1 is missing, or its counters cannot be read"}},
         7,
         29,
         4,
         33,
         true},
        {"InfinibandLinkDown",
         "a cable is pulled",
         {{60, cut}},
         {{with(between_leaves, error), the_cable + " is down"}},
         17,
         44,
         10,
         48},
        {"InfinibandDiscoveryProblem",
         "a host that nobody knows is dead from the beginning",
         {{40, "dead=h-3 HCA-1,revive=h-3 HCA-1@1800s"}},
         {{with(warning,
                {{"node_guid", "0000:0000:0000:0020"}, {"node", "leaf-2"}, {"port", "1"}, {"kind", "timeout"}}),
           "a discovery reports a failure at leaf-2/1: timeout"}},
         12,
         29,
         9,
         33},
        {"InfinibandPortUnhealthy",
         "a link is too narrow",
         {{10}, {40, "link=leaf-1/7:1xQDR"}, {15}},
         {{with(with(between_leaves, error), {{"rule", "width"}}), "leaf-1/7 or leaf-2/7 violates the rule width"}},
         13,
         49,
         10,
         57},
        {"InfinibandPortUnhealthy",
         "a cable has bit errors",
         {{10}, bad, {15}},
         {{with(with(between_leaves, error), {{"rule", "bit_errors"}, {"counter", "symbolErrorCounter"}}),
           "leaf-1/7 or leaf-2/7 violates the rule bit_errors for symbolErrorCounter"}},
         13,
         79,
         10,
         87},
        {"InfinibandCounterPegged",
         "a counter of four bits counts to its end",
         {{10}, {45, "pma=basic," + bad_cable}, {10}},
         {{without(with(between_leaves, with(warning, {{"counter", "localLinkIntegrityErrors"}})), {"peer_node_guid"}),
           "localLinkIntegrityErrors of leaf-1/7, cabled to leaf-2/7, is saturated; clear it"},
          {without(with(cable("20", "leaf-2", "7", "10", "leaf-1", "7"),
                        with(warning, {{"counter", "localLinkIntegrityErrors"}})),
                   {"peer_node_guid"}),
           "localLinkIntegrityErrors of leaf-2/7, cabled to leaf-1/7, is saturated; clear it"}},
         46,
         54,
         30,
         57},
        {"InfinibandLinkDowned",
         "a cable is pulled and put back",
         {{85, "cut=leaf-1/7@600s,restore=leaf-1/7@720s"}},
         {{with(between_leaves, error), the_cable + " went down in the last hour"}},
         13,
         69,
         9,
         73},
        {"InfinibandLinkErrorRecoveries",
         "a cable is bad",
         {{10}, bad, {65}},
         {{with(between_leaves, warning), the_cable + " recovers from errors repeatedly"}},
         20,
         79,
         10,
         142},
        {"InfinibandReceiveErrors",
         "a cable is bad",
         {{10}, bad, {65}},
         {{with(between_leaves, warning), "packets arrive with errors over " + the_cable}},
         13,
         79,
         10,
         142},
        {"InfinibandDiscards",
         "a cable is bad",
         {{10}, bad, {65}},
         {{with(between_leaves, warning), "packets for " + the_cable + " are discarded"}},
         20,
         79,
         10,
         142},
    };
    return all;
}

/// Returns the path of the alert rules.
std::string alerts_file() { return std::string(COMAD_SOURCE_DIR) + "/packaging/monitoring/alerts.yml"; }

/// Returns the first group of each match in a text.
std::set<std::string> words_of(const std::string& text, const std::regex& what) {
    std::set<std::string> all;
    for (std::sregex_iterator i(text.begin(), text.end(), what), end; i != end; ++i) all.insert((*i)[1]);
    return all;
}

/// The series that the alerts use, collected at consecutive scrapes.
class scraped {
public:
    explicit scraped(const std::string& alerts) : requested_(words_of(alerts, std::regex("\\b(infiniband_\\w+)"))) {}

    void add(const std::string& page) {
        add_value("up{job=\"infiniband\",instance=\"x\"}", "1");
        std::istringstream lines(page);
        for (std::string line; std::getline(lines, line);) {
            if (line.empty() || line[0] == '#') continue;
            const std::size_t end = line.rfind(' '), name = line.find_first_of("{ ");
            if (!requested_.contains(line.substr(0, name))) continue;
            const std::string own = line[name] == '{' ? line.substr(name + 1, end - name - 2) : std::string();
            add_value(fmt::format("{}{{job=\"infiniband\",instance=\"x\"{}{}}}", line.substr(0, name),
                                  own.empty() ? "" : ",", own),
                      line.substr(end + 1));
        }
        end_scrape();
    }
    void add_failure() {
        add_value("up{job=\"infiniband\",instance=\"x\"}", "0");
        end_scrape();
    }
    json series() const {
        json all = json::array();
        for (const auto& [name, one] : series_) all.push_back({{"series", name}, {"values", one.values}});
        return all;
    }
    /// Returns true if a scrape contained a series twice, which Prometheus refuses.
    bool has_twice() const { return has_twice_; }

private:
    struct values_of {
        std::string values;
        bool is_there = false; // whether the current scrape contains the series
        bool was_there = false;
    };
    void add_value(const std::string& name, const std::string& value) {
        values_of& one = series_[name];
        if (one.values.empty() && scrapes_ > 0) one.values = fmt::format("_x{} ", scrapes_ - 1);
        has_twice_ |= one.is_there;
        one.values += value + ' ';
        one.is_there = true;
    }
    /// Marks series that the latest scrape no longer contains as stale, as Prometheus does.
    void end_scrape() {
        for (auto& [name, one] : series_) {
            if (!one.is_there) one.values += one.was_there ? "stale " : "_ ";
            one.was_there = std::exchange(one.is_there, false);
        }
        ++scrapes_;
    }
    const std::set<std::string> requested_;
    std::map<std::string, values_of> series_;
    std::size_t scrapes_ = 0;
    bool has_twice_ = false;
};

/// Runs the exporter without its HTTP server through all phases.
void run_phases(const row& r, const std::string& topology_file, scraped& to) {
    output_config where;
    where.form = sweep_form::none;
    where.keeps_trying = true;
    where.rules = std::make_shared<const comad::counters::health_rules>(
        comad::counters::read_health_rules(std::string(COMAD_SOURCE_DIR) + "/packaging/health.toml"));
    if (r.is_known_before)
        where.expected = {std::make_shared<const comad::discovery::subnet>(
            comad::discovery::read_topology_file(topology, "known").found)};
    sweep_outputs out(where);
    boost::asio::io_context io;
    out.open(io.get_executor(), {});
    const auto names = std::make_shared<const comad::discovery::node_names>();
    for (const phase& p : r.phases) {
        const auto scrapes = static_cast<std::size_t>(p.minutes * 60s / scrapes_apart);
        const disconnect lost{"umad0", "gone"};
        if (p.what == phase::exporter::device_lost) out.note_lost(0, lost);
        if (p.what != phase::exporter::sweeps) {
            for (std::size_t i = 0; i < scrapes; ++i)
                if (p.what == phase::exporter::not_running) to.add_failure();
                else to.add(out.page());
            if (p.what == phase::exporter::device_lost) out.note_back(0, lost, 0);
            continue;
        }
        global_options o;
        o.fabric = fmt::format("sim:{},at=h-1 HCA-1,sm=1,time=virtual{}{}", topology_file, p.faults.empty() ? "" : ",",
                               p.faults);
        sweep_config config;
        config.every = scrapes_apart;
        config.count = scrapes;
        config.refresh = 60s;
        config.details = comad::counters::health_details();
        session in(o);
        REQUIRE(in.is_virtual());
        const sweep_listener listener{
            [&](const comad::counters::sweep_view& v, const comad::counters::sweep_totals& totals) {
                out.write(0, v, totals);
                to.add(out.page());
            },
            [](const std::string&) {},
            [](const std::string&) {},
        };
        sweep_loop all(in, config, names, listener);
        in.run(all.run());
    }
}

/// Returns promtool's expectation for an alert at a minute.
json expectation(const row& r, int minute, bool fires) {
    json all = json::array();
    for (const alert& a : r.fired) {
        if (!fires) break;
        const labels names = with(a.names, {{"instance", "x"}, {"job", "infiniband"}});
        all.push_back({{"exp_labels", names}, {"exp_annotations", {{"summary", a.summary}}}});
    }
    return {{"eval_time", fmt::format("{}m", minute)}, {"alertname", r.name}, {"exp_alerts", all}};
}

} // namespace

TEST_CASE("each alert names both cable ends, fires during a fault and ends after the fault") {
    const directory files;
    const std::string alerts = ibtool_rig::read_file(alerts_file());
    const std::string topology_file = files.write("fabric.topo", topology);
    json tests = json::array();
    std::set<std::string> covered;
    for (const row& r : rows()) {
        CAPTURE(r.name, r.title);
        covered.insert(r.name);
        scraped pages(alerts);
        run_phases(r, topology_file, pages);
        CHECK_FALSE(pages.has_twice());
        int minutes = 0;
        for (const phase& p : r.phases) minutes += p.minutes;
        json expected = json::array();
        for (int m : {1, r.quiet_before}) expected.push_back(expectation(r, m, false));
        for (int m : {r.from, (r.from + r.until) / 2, r.until}) expected.push_back(expectation(r, m, true));
        for (int m : {r.quiet_from, minutes - 1}) expected.push_back(expectation(r, m, false));
        tests.push_back({{"name", r.name + ": " + r.title},
                         {"interval", "30s"},
                         {"input_series", pages.series()},
                         {"alert_rule_test", expected}});
    }
    // Every alert must have a row, because otherwise no test shows that the alert works.
    CHECK(covered == words_of(alerts, std::regex("- alert: (\\w+)")));

    const json all{{"rule_files", {alerts_file()}}, {"evaluation_interval", "30s"}, {"tests", tests}};
    const std::string file = files.write("tests.yml", all.dump());
    const process_result r = run_process({"promtool", "test", "rules", file});
    INFO(r.out << r.err);
    CHECK(r.status == 0);
}

TEST_CASE("a healthy subnet and a subnet that loses a node briefly raise no alert") {
    const directory files;
    const std::string alerts = ibtool_rig::read_file(alerts_file());
    const std::string topology_file = files.write("fabric.topo", topology);
    const row quiet{"", "", {{90, "traffic=1000,counters=3,kill=h-2 HCA-1@1800s,revive=h-2 HCA-1@1920s"}}, {}, 0, 0,
                    0,  0};
    scraped pages(alerts);
    run_phases(quiet, topology_file, pages);
    json expected = json::array();
    for (const std::string& name : words_of(alerts, std::regex("- alert: (\\w+)")))
        for (int m : {2, 31, 40, 89})
            expected.push_back(
                {{"eval_time", fmt::format("{}m", m)}, {"alertname", name}, {"exp_alerts", json::array()}});
    const json all{{"rule_files", {alerts_file()}},
                   {"evaluation_interval", "30s"},
                   {"tests", {{{"interval", "30s"}, {"input_series", pages.series()}, {"alert_rule_test", expected}}}}};
    const process_result r = run_process({"promtool", "test", "rules", files.write("tests.yml", all.dump())});
    INFO(r.out << r.err);
    CHECK(r.status == 0);
}

TEST_CASE("the file for node_exporter and the page both report a disconnected device") {
    const directory files;
    output_config where;
    where.form = sweep_form::none;
    where.file = files / "ib.prom";
    sweep_outputs out(where);
    boost::asio::io_context io;
    out.open(io.get_executor(), {});
    const disconnect lost{"umad0", "gone"};
    out.note_lost(0, lost); // nothing to write before the first sweep
    CHECK(ibtool_rig::read_file(where.file).empty());
    out.note_back(0, lost, 0);
    global_options o;
    o.fabric = "sim:fattree2,radix=4,sm=1,time=virtual";
    sweep_config config;
    config.count = 1;
    const auto names = std::make_shared<const comad::discovery::node_names>();
    session in(o);
    // The view refers to objects that must live until the sweeps end.
    const sweep_listener listener{
        [&](const comad::counters::sweep_view& v, const comad::counters::sweep_totals& totals) {
            out.write(0, v, totals);
            CHECK_THAT(ibtool_rig::read_file(where.file), Catch::Contains("\ninfiniband_device_up 1\n"));
            out.note_lost(0, lost);
            CHECK_THAT(ibtool_rig::read_file(where.file), Catch::Contains("\ninfiniband_device_up 0\n"));
            out.note_back(0, lost, 0);
            CHECK_THAT(ibtool_rig::read_file(where.file), Catch::Contains("\ninfiniband_device_up 1\n"));
        },
        [](const std::string&) {}, [](const std::string&) {}};
    sweep_loop all(in, config, names, listener);
    CHECK(in.run(all.run()) == complete);
}

} // namespace exporter_alerts_test
