// SPDX-License-Identifier: MIT
// ibtool_exporter_test.cpp - the exporter's series equal the JSON of the sweep, in a file and by HTTP. A real
// Prometheus scrapes the exporter, and the cables of a subnet with OpenSM change.
#include "program/free_port.hpp"
#include "program/ibtool_subnet.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <httplib.h>
#include <map>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

using namespace ibtool_rig;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// 4 leaves and 2 spines with 4 ports each, and 8 hosts.
const std::string tree = "sim:fattree2,radix=4,sm=1,counters=9,traffic=1000,errors=0.5:10";

/// Returns the values of a page by series, `name{labels}`.
std::map<std::string, std::string> series_in(const std::string& page) {
    std::map<std::string, std::string> all;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] == '#') continue;
        const std::size_t end = line.rfind(' ');
        REQUIRE(end != std::string::npos);
        CHECK(all.emplace(line.substr(0, end), line.substr(end + 1)).second); // no duplicate series
    }
    return all;
}

/// The series of each counter. Series of data count bytes.
const std::map<std::string, std::string> names{
    {"portXmitData", "infiniband_port_xmit_data_bytes_total"},
    {"portRcvData", "infiniband_port_rcv_data_bytes_total"},
    {"portXmitPkts", "infiniband_port_xmit_packets_total"},
    {"portRcvPkts", "infiniband_port_rcv_packets_total"},
    {"portUnicastXmitPkts", "infiniband_port_unicast_xmit_packets_total"},
    {"portUnicastRcvPkts", "infiniband_port_unicast_rcv_packets_total"},
    {"portMulticastXmitPkts", "infiniband_port_multicast_xmit_packets_total"},
    {"portMulticastRcvPkts", "infiniband_port_multicast_rcv_packets_total"},
    {"symbolErrorCounter", "infiniband_port_symbol_errors_total"},
    {"linkErrorRecoveryCounter", "infiniband_port_link_error_recoveries_total"},
    {"linkDownedCounter", "infiniband_port_link_downed_total"},
    {"portRcvErrors", "infiniband_port_rcv_errors_total"},
    {"portRcvRemotePhysicalErrors", "infiniband_port_rcv_remote_physical_errors_total"},
    {"portRcvSwitchRelayErrors", "infiniband_port_rcv_switch_relay_errors_total"},
    {"portXmitDiscards", "infiniband_port_xmit_discards_total"},
    {"portXmitConstraintErrors", "infiniband_port_xmit_constraint_errors_total"},
    {"portRcvConstraintErrors", "infiniband_port_rcv_constraint_errors_total"},
    {"localLinkIntegrityErrors", "infiniband_port_local_link_integrity_errors_total"},
    {"excessiveBufferOverrunErrors", "infiniband_port_excessive_buffer_overrun_errors_total"},
    {"VL15Dropped", "infiniband_port_vl15_dropped_total"},
    {"portXmitWait", "infiniband_port_xmit_wait_ticks_total"},
    {"QP1Dropped", "infiniband_port_qp1_dropped_total"},
};

/// Checks a page with promtool.
void check_by_promtool(const std::string& page) {
    const directory files;
    const std::string file = files.write("page", page);
    const process_result r = run_process({"bash", "-c", "exec promtool check metrics <\"$0\"", file});
    CHECK(r.out + r.err == "");
    CHECK(r.status == 0);
}

/// Returns the labels of a port in a series.
std::string labels_of(const json& port) {
    return fmt::format("node_guid=\"{}\",port=\"{}\"", port.at("nodeGUID").get<std::string>(),
                       port.at("port").get<int>());
}

/// A running exporter and its address.
struct exporter {
    explicit exporter(const words& arguments) : program(ibtool(words{"sweep", "--listen", "127.0.0.1:0"} + arguments)) {
        program.await_error("/metrics, reachable only from this machine\n");
        const std::string printed = program.errors();
        const std::string before = "http://127.0.0.1:";
        port = std::stoi(printed.substr(printed.find(before) + before.size()));
    }
    httplib::Client client() const { return httplib::Client("127.0.0.1", port); }
    process program;
    int port = 0;
};

/// A real Prometheus that scrapes one target continuously.
class prometheus {
public:
    explicit prometheus(int target)
        : port_(comad::test::free_port()),
          program_({"prometheus", "--config.file=" + configuration(target), "--storage.tsdb.path=" + (files_ / "data"),
                    "--web.listen-address=127.0.0.1:" + std::to_string(port_), "--web.enable-lifecycle"}) {
        program_.await_error("Server is ready to receive web requests");
    }
    /// Returns the reply of the API of Prometheus.
    json send_query(const std::string& what, const httplib::Params& parameters) const {
        httplib::Client client("127.0.0.1", port_);
        const auto answer = client.Post(("/api/v1/" + what).c_str(), parameters);
        REQUIRE(answer);
        CAPTURE(what, answer->body);
        REQUIRE(answer->status == 200);
        return json::parse(answer->body).at("data");
    }
    json query(const std::string& expression) const {
        return send_query("query", {{"query", expression}}).at("result");
    }
    /// Returns the value of an expression with one result; empty if there is no result yet.
    std::string value_of(const std::string& expression) const {
        const json all = query(expression);
        return all.empty() ? std::string() : all.at(0).at("value").at(1).get<std::string>();
    }

private:
    std::string configuration(int target) const {
        return files_.write("prometheus.yml", fmt::format("global:\n"
                                                          "  scrape_interval: 200ms\n"
                                                          "  scrape_timeout: 200ms\n"
                                                          "scrape_configs:\n"
                                                          "  - job_name: fabric\n"
                                                          "    static_configs:\n"
                                                          "      - targets: ['127.0.0.1:{}']\n",
                                                          target));
    }
    directory files_;
    int port_;
    process program_;
};

} // namespace

TEST_CASE("promtool accepts a page with all details, and its shares and counters equal those in the JSON") {
    const directory files;
    const std::string page = files / "page.prom";
    words details;
    for (const char* name :
         {"PortRcvErrorDetails", "PortXmitDiscardDetails", "PortOpRcvCounters", "PortFlowCtlCounters",
          "PortVLOpPackets", "PortVLOpData", "PortVLXmitFlowCtlUpdateErrors", "PortVLXmitWaitCounters",
          "SwPortVLCongestion", "PortXmitDataSL", "PortRcvDataSL", "PortRcvConCtrl", "PortSLRcvFECN", "PortSLRcvBECN",
          "PortXmitConCtrl", "PortVLXmitTimeCong", "PortExtendedSpeedsCounters"})
        details = details + words{"--details", name};
    const process_result r = run(words{"sweep", "--fabric", tree + ",time=virtual,flow=leaf-0001/3:0.8:0.25", "--every",
                                       "1s", "--count", "2", "--json", "--prometheus", page} +
                                 details);
    check_success(r);
    const std::string text = read_file(page);
    check_by_promtool(text);
    const auto series = series_in(text);
    std::size_t ports = 0;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);) {
        const json port = json::parse(line);
        if (port.value("sweep", 0) != 2 || !port.contains("counters")) continue;
        ++ports;
        const auto at = [&](const std::string& name, const std::string& label = "") {
            return std::stod(series.at(fmt::format("infiniband_port_{}{{{}{}}}", name, labels_of(port), label)));
        };
        CHECK(at("xmit_utilization_ratio") == port.at("utilization").at("xmit"));
        CHECK(at("rcv_utilization_ratio") == port.at("utilization").at("rcv"));
        CHECK(at("congestion_ratio") == port.at("congestion"));
        CHECK(at("xmit_wait_tick_seconds") == port.at("tick_seconds"));
        CHECK(at("rate_bytes_per_second") * 8 == port.at("bits_per_second"));
        CHECK(at("fec_mode_id") == 2); // EDR uses RS
        CHECK(port.at("FECModeActive") == "RS");
        const json& errors = port.at("details").at("PortRcvErrorDetails");
        CHECK(at("local_physical_errors_total") == errors.at("portLocalPhysicalErrors"));
        const json& corrected = port.at("details").at("PortExtendedSpeedsCountersRSFEC");
        CHECK(at("fec_corrected_symbols_total") == corrected.at("portFECCorrectedSymbolCounter"));
        CHECK(at("lane_fec_correctable_symbols_total", ",lane=\"3\"") ==
              corrected.at("FECCorrectableSymbolCounterLane").at(3));
    }
    CHECK(ports == 32);
}

TEST_CASE("the series of a sweep have the values of the sweep's JSON") {
    const directory files;
    const std::string file = files / "sweep.prom";
    const process_result r = run({"sweep", "--fabric", tree + ",pma=0.3:wide+wait,time=virtual", "--json", "--every",
                                  "1s", "--count", "2", "--prometheus", file});
    check_success(r);
    std::map<std::string, std::string> series = series_in(read_file(file));
    check_by_promtool(read_file(file));
    std::size_t ports = 0;
    for (const json& o : objects_of(r.out)) {
        if (!o.contains("counters") || o.at("sweep") != 2) continue;
        ++ports;
        for (const auto& [name, value] : o.at("counters").items()) {
            const std::string one = names.at(name) + "{" + labels_of(o) + "}";
            CAPTURE(one);
            const json& bytes = o.at("bytes");
            CHECK(series[one] == (bytes.contains(name) ? bytes.at(name) : value).dump());
            if (bytes.contains(name)) CHECK(bytes.at(name) == 4 * value.get<std::uint64_t>());
            series.erase(one);
        }
        for (const json& name : o.at("pegged"))
            CHECK(series.erase(
                      fmt::format("infiniband_port_counter_pegged{{{},counter={}}}", labels_of(o), name.dump())) == 1);
        CHECK(std::erase_if(series, [&](const auto& s) {
                  return s.first.rfind("infiniband_port_info{" + labels_of(o) + ",", 0) == 0;
              }) == 1);
        for (const char* state :
             {"state_id", "physical_state_id", "width", "speed", "rate_bytes_per_second", "xmit_utilization_ratio",
              "rcv_utilization_ratio", "congestion_ratio", "xmit_wait_tick_seconds"})
            CHECK(series.erase(fmt::format("infiniband_port_{}{{{}}}", state, labels_of(o))) == 1);
    }
    CHECK(std::erase_if(series, [](const auto& s) { return s.first.starts_with("infiniband_link_info{"); }) == 16);
    CHECK(ports == 32);
    CHECK(series.at("infiniband_sweeps_total") == "2");
    CHECK(series.at("infiniband_sweep_ports") == "32");
    CHECK(series.at("infiniband_sweep_complete") == "1");
    for (const auto& s : series) {
        CAPTURE(s.first);
        CHECK_THAT(s.first, !Contains("{"));
        CHECK_THAT(s.first, !StartsWith("infiniband_port_"));
    }
}

TEST_CASE("an exporter uses no more memory after an hour of sweeps than after a minute") {
    const directory files;
    const auto memory_after = [&](int sweeps) {
        const std::string file = files / "sweep.prom";
        // A link goes down and up continuously, and a host is unresponsive from the first minute on.
        const process_result r =
            run({"sweep", "--fabric", tree + ",time=virtual,kill=h-0003 HCA-1@500ms,flap=spine-0001/2@1500ms:300ms:7s",
                 "--every", "1s", "--refresh", "5s", "--count", std::to_string(sweeps), "--prometheus", file});
        CHECK(r.status == 3);
        const auto series = series_in(read_file(file));
        CHECK(series.at("infiniband_sweeps_total") == std::to_string(sweeps));
        return std::stod(series.at("process_resident_memory_bytes"));
    };
    const double minute = memory_after(60), hour = memory_after(3600);
    // The memory of equal runs differs by up to 650 kB. A leaked sweep of 32 ports would have several thousand bytes.
    CHECK(hour - minute < 1'500'000); // each of the 3,540 further sweeps leaked less than 424 bytes
}

TEST_CASE("an unresponsive node has a series with the cause of the failure") {
    const directory files;
    const std::string file = files / "sweep.prom";
    const process_result r = run({"sweep", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,kill=h-0003 HCA-1@500ms",
                                  "--every", "1s", "--count", "2", "--prometheus", file});
    CHECK(r.status == 3);
    const std::string page = read_file(file);
    CHECK_THAT(page, Contains("infiniband_port_missing{") && Contains("cause=\"timeout\"} 1\n"));
    CHECK_THAT(page, Contains("infiniband_sweep_complete 0\n"));
    CHECK_THAT(page, Contains("node=\"h-0003 HCA-1\",type=\"ca\""));
    check_by_promtool(page);
}

TEST_CASE("the page reports the health rules that a port breaks, as health does for these two sweeps") {
    const directory files;
    const std::string file = files / "sweep.prom", unruly = tree + ",time=virtual,flap=leaf-0002/3@500ms:100ms:10s";
    const std::string rules = files.write("rules.toml", "[counters]\nportXmitWait = { per = \"1s\", warning = 0 }\n");
    check_success(run({"sweep", "--fabric", unruly, "--every", "1s", "--count", "2", "--rules", rules, "--prometheus",
                       file, "--refresh", "never"}));
    const process_result health = run({"health", "--fabric", unruly, "--for", "1s", "--rules", rules, "--json"});
    check_by_promtool(read_file(file));
    std::set<std::string> reported, wanted;
    for (const auto& [name, value] : series_in(read_file(file)))
        if (name.starts_with("infiniband_port_unhealthy")) reported.insert(name.substr(name.find('{')));
    for (const json& o : objects_of(health.out)) {
        if (!o.contains("rule")) continue;
        const std::string counter = o.contains("counter") ? fmt::format(",counter={}", o.at("counter").dump()) : "";
        wanted.insert(fmt::format("{{{},rule={},severity={}{}}}", labels_of(o), o.at("rule").dump(),
                                  o.at("severity").dump(), counter));
    }
    CHECK(reported.size() > 2);
    CHECK(reported == wanted);
    check_failure(run({"sweep", "--fabric", unruly, "--rules", rules}), 2, "--rules requires --listen or --prometheus");
}

TEST_CASE("a host that stops replying stays on the page with its name and location until it replies again") {
    const directory files;
    const std::string fabric = "sim:fattree2,radix=4,sm=1,time=virtual,kill=h-0003 HCA-1@90s";
    const auto page_after = [&](const std::string& more, int sweeps, const words& options = {}) {
        const std::string file = files / "sweep.prom";
        const process_result r = run(words{"sweep", "--fabric", fabric + more, "--every", "15s", "--count",
                                           std::to_string(sweeps), "--prometheus", file} +
                                     options);
        CHECK((r.status == 0 || r.status == 3));
        check_by_promtool(read_file(file));
        return read_file(file);
    };
    const auto check_missing = [](const std::string& page) {
        CHECK_THAT(page, Contains(",port=\"0\",node=\"h-0003 HCA-1\",peer_node_guid=\"") &&
                             Contains(",peer_node=\"leaf-0002\",cause=\"not_found\"} 1\n"));
        CHECK_THAT(page, Contains("infiniband_nodes_missing 1\n") && Contains("infiniband_sweep_complete 0\n"));
    };
    check_missing(page_after("", 4 * 60 * 6)); // six hours
    const std::string again = page_after(",revive=h-0003 HCA-1@600s", 60);
    CHECK_THAT(again, Contains("infiniband_nodes_missing 0\n") && Contains("infiniband_nodes_known 14\n") &&
                          Contains("infiniband_sweep_complete 1\n") && !Contains("not_found"));
    const std::string forgotten = page_after("", 60, {"--forget", "10min"});
    CHECK_THAT(forgotten, Contains("infiniband_nodes_missing 0\n") && Contains("infiniband_nodes_known 13\n"));
    check_missing(page_after("", 40, {"--forget", "10min"}));

    // The host is unresponsive from the start, and a file lists the host as expected.
    const std::string known = files / "known.cache";
    check_success(run({"ibnetdiscover", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual", "--cache", known}));
    check_missing(page_after(",dead=h-0003 HCA-1", 8, {"--known", known, "--forget", "10s"}));
    check_failure(run({"sweep", "--fabric", fabric, "--known", known}), 2, "--known and --forget require --listen or");
    check_failure(run({"sweep", "--fabric", fabric, "--prometheus", files / "x", "--known", known, "--known", known}),
                  2, "--known is given 2 times for 1 fabrics");
    check_failure(run({"sweep", "--fabric", fabric, "--prometheus", files / "x", "--known", files / "none"}), 1,
                  "none");
    check_failure(run({"sweep", "--fabric", fabric, "--prometheus", files / "x", "--forget", "soon"}), 2, "'soon'");
}

TEST_CASE("SIGHUP rereads the expected nodes and links and drops all other missing ones") {
    const directory files;
    const std::string known = files / "known.cache";
    const auto keep = [&](const std::string& fabric) {
        CHECK(run({"ibnetdiscover", "--fabric", fabric + ",time=virtual", "--cache", known}).out != "");
    };
    keep("sim:fattree2,radix=4,sm=1");
    exporter sweep({"--fabric", "sim:fattree2,radix=4,sm=1,dead=h-0003 HCA-1,kill=h-0005 HCA-1@500ms", "--every",
                    "100ms", "--refresh", "100ms", "--known", known});
    auto client = sweep.client();
    const auto missing = [&] {
        const auto answer = client.Get("/health");
        const json health = json::parse(answer->body);
        return health.contains("missing_nodes") ? health.at("missing_nodes").get<int>() : -1;
    };
    await([&] { return missing() == 2; });
    CHECK_THAT(client.Get("/metrics")->body, Contains("node=\"h-0003 HCA-1\"") && Contains("node=\"h-0005 HCA-1\""));
    sweep.program.signal(SIGHUP);
    sweep.program.await_error("SIGHUP: reloaded names, rules, known nodes, keys and credentials\n");
    CHECK_THAT(sweep.program.errors(), Contains("SIGHUP: forgot "));
    CHECK(missing() == 2); // the file expects both nodes
    keep("sim:fattree2,radix=4,sm=1,dead=h-0003 HCA-1");
    sweep.program.signal(SIGHUP);
    await([&] { return missing() == 1; });
    CHECK_THAT(client.Get("/metrics")->body, !Contains("h-0003 HCA-1\""));
    files.write("known.cache", "nonsense");
    sweep.program.signal(SIGHUP);
    sweep.program.await_error("the previous contents remain in use");
    CHECK(missing() == 1);
    sweep.program.signal(SIGTERM);
    sweep.program.wait();
}

TEST_CASE("a quote in a node description cannot end a label") {
    const directory files;
    const std::string evil = files.write("evil.topo", "caguid=0xa\n"
                                                      "Ca 1 \"H-a\" # \"a\\b\xff\033[2J\"\n"
                                                      "[1] \"S-c\"[1]\n\n"
                                                      "switchguid=0xc\n"
                                                      "Switch 2 \"S-c\" # \"s\"\n"
                                                      "[1] \"H-a\"[1]\n");
    const std::string file = files / "sweep.prom";
    check_success(run({"sweep", "--fabric", "sim:" + evil + ",sm=1,time=virtual", "--prometheus", file}));
    CHECK_THAT(read_file(file), Contains("node=\"a\\\\b\\\\xff\\\\x1b[2J\""));
    check_by_promtool(read_file(file));
}

TEST_CASE("the series of several fabrics have a fabric label, and each metric family appears once") {
    const directory files;
    const std::string file = files / "sweep.prom";
    const std::string other = "sim:single,sm=1,time=virtual";
    const words both{"sweep", "--fabric", tree + ",time=virtual", "--fabric", other, "--prometheus", file};
    check_success(run(both));
    const std::string page = read_file(file);
    check_by_promtool(page);
    const auto series = series_in(page);
    std::map<std::string, int> ports;
    for (const auto& [name, value] : series) {
        CAPTURE(name);
        if (name.starts_with("process_")) continue;
        CHECK_THAT(name, Contains("{fabric=\""));
        const std::size_t begin = name.find("{fabric=\"") + 9;
        if (name.starts_with("infiniband_port_xmit_packets_total"))
            ++ports[name.substr(begin, name.find('"', begin) - begin)];
    }
    CHECK(ports == std::map<std::string, int>{{tree + ",time=virtual", 32}, {other, 2}});
    CHECK(series.at("infiniband_sweep_ports{fabric=\"" + other + "\"}") == "2");

    check_failure(run(both + words{"--json"}), 2, "several fabrics require --listen or --prometheus");
    check_failure(run({"sweep", "--fabric", other, "--fabric", other, "--prometheus", file}), 2, "is given twice");
    check_failure(run({"sminfo", "--fabric", other, "--fabric", tree}), 2,
                  "sminfo accepts only one fabric, but 2 are given");
    check_failure(run(both + words{"--pcap", file}), 2, "--pcap supports only one fabric");
    check_failure(run(both + words{"-C", "mlx5_0"}), 2, "with both --fabric and -C or -P");
    check_failure(run({"sweep", "-C", "a", "-C", "b", "-P", "1", "--prometheus", file}), 2,
                  "give a -P for each of them");
    check_failure(run({"sweep", "-C", "a", "-P", "1", "-P", "2", "--prometheus", file}), 2,
                  "give a -C for each of them");
}

TEST_CASE("one exporter serves several fabrics, each with its own sweeps") {
    const std::string other = "sim:single,sm=1";
    exporter sweep({"--fabric", tree, "--fabric", other, "--every", "100ms"});
    auto client = sweep.client();
    await([&] { return client.Get("/health")->status == 200; });
    const auto sweeps = [&](const std::string& fabric) {
        const std::string page = client.Get("/metrics")->body;
        return std::stoi(series_in(page).at("infiniband_sweeps_total{fabric=\"" + fabric + "\"}"));
    };
    const int first = sweeps(tree), second = sweeps(other);
    await([&] { return sweeps(tree) > first + 2 && sweeps(other) > second + 2; });
    check_by_promtool(client.Get("/metrics")->body);
    const json health = json::parse(client.Get("/health")->body);
    CHECK(health.at("fabrics").size() == 2);
    CHECK(health.at("fabrics").at(1).at("fabric") == other);
    CHECK(health.at("fabrics").at(1).at("ports") == 2);
    sweep.program.signal(SIGTERM);
    const int code = sweep.program.wait().status;
    CHECK((code == 0 || code == 3)); // a slow machine may miss sweeps
}

TEST_CASE("SIGHUP rereads names, keys and authorizations, and keeps values whose files are unreadable") {
    const directory files;
    const auto secret = [&](const char* name, const std::string& text) {
        const std::string file = files.write(name, text);
        std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        return file;
    };
    const std::string names = files.write("names", "0x1 \"nobody\"\n");
    const std::string keys = secret("keys", "default SM_Key 0x1\n"), auth = secret("auth", "bearer old\n");
    const std::string rules = files.write("rules.toml", "");
    exporter sweep({"--fabric", tree, "--every", "50ms", "--node-name-map", names, "--key-file", keys, "--auth", auth,
                    "--rules", rules});
    auto client = sweep.client();
    const auto page = [&](const char* token) {
        client.set_bearer_token_auth(token);
        const auto a = client.Get("/metrics");
        return a->status == 200 ? a->body : std::to_string(a->status);
    };
    await([&] { return page("old").find("infiniband_port_info") != std::string::npos; });
    const std::string before = page("old");
    const std::size_t begin = before.find("infiniband_port_info{node_guid=\"") + 32;
    const std::string GUID = before.substr(begin, 19);
    CHECK_THAT(before, !Contains("the spine"));
    std::string digits = GUID;
    std::erase(digits, ':');
    files.write("names", "0x" + digits + " \"the spine\"\n");
    secret("auth", "bearer new\n");
    files.write("rules.toml", "[counters]\nportXmitPkts = { per = \"1h\", warning = 0 }\n");
    sweep.program.signal(SIGHUP);
    sweep.program.await_error("ibtool: SIGHUP: reloaded names, rules, known nodes, keys and credentials\n");
    CHECK(page("old") == "401");
    await([&] { return page("new").find("node=\"the spine\"") != std::string::npos; });
    await([&] { return page("new").find(",counter=\"portXmitPkts\"}") != std::string::npos; });

    std::filesystem::remove(names);
    secret("keys", "nonsense\n");
    std::filesystem::remove(auth);
    sweep.program.signal(SIGHUP);
    sweep.program.await_error("auth': No such file or directory; the previous contents remain in use\n");
    CHECK_THAT(sweep.program.errors(), Contains("names") && Contains("keys': line 1: "));
    const auto sweeps = [&] {
        const std::string text = page("new");
        return std::stoul(text.substr(text.find("\ninfiniband_sweeps_total ") + 25));
    };
    const unsigned long now = sweeps();
    await([&] { return sweeps() > now + 1; }); // the whole page is from a later sweep then
    CHECK_THAT(page("new"), Contains("node=\"the spine\""));
    sweep.program.signal(SIGTERM);
    const process_result r = sweep.program.wait();
    CHECK_THAT(r.err, !Contains("nonsense"));
}

TEST_CASE("an exporter whose own cable is pulled is unhealthy although its new subnet is complete") {
    exporter sweep(
        {"--fabric", "sim:fattree2,radix=4,sm=1,cut=h-0001 HCA-1/1@1s", "--every", "100ms", "--refresh", "100ms"});
    auto client = sweep.client();
    const auto health = [&] { return json::parse(client.Get("/health")->body); };
    await([&] { return health().at("status") == "ok"; });
    await([&] {
        const json now = health();
        return now.at("status") == "missing" && now.at("ports") == 1 && now.at("gaps") == 0;
    });
    CHECK(client.Get("/health")->status == 503);
    sweep.program.signal(SIGHUP); // the operator confirms the change
    await([&] { return client.Get("/health")->status == 200; });
}

TEST_CASE("a real Prometheus reports its target as up and stores the values of the JSON") {
    exporter sweep({"--fabric", tree, "--every", "100ms", "--json"});
    const prometheus server(sweep.port);
    await([&] { return server.value_of("up") == "1"; });
    await([&] { return server.value_of("count(infiniband_port_symbol_errors_total)") == "32"; });
    await([&] { return server.value_of("changes(infiniband_sweeps_total[1m]) > 3") != ""; });

    // Each sample has a value that a sweep reported for the port.
    const json all = server.query("infiniband_port_xmit_data_bytes_total[1m]");
    sweep.program.signal(SIGINT);
    const process_result r = sweep.program.wait();
    INFO(r.err);
    // A slow machine may be late, and the signal may arrive during a sweep.
    const bool keeps_up = r.err.find("a sweep took longer than its period") == std::string::npos;
    const bool was_between_sweeps = r.err.find("stopped before all counters were read") == std::string::npos;
    CHECK(r.status == (keeps_up && was_between_sweeps ? 0 : 3));
    std::map<std::string, std::set<double>> reported;
    for (const json& o : objects_of(r.out))
        if (o.contains("counters")) reported[labels_of(o)].insert(o.at("bytes").at("portXmitData").get<double>());
    CHECK(all.size() == 32);
    std::size_t compared = 0, distinct = 0;
    for (const json& series : all) {
        const std::string labels =
            fmt::format("node_guid=\"{}\",port=\"{}\"", series.at("metric").at("node_guid").get<std::string>(),
                        series.at("metric").at("port").get<std::string>());
        CAPTURE(labels);
        std::set<double> values;
        for (const json& sample : series.at("values")) {
            const double value = std::stod(sample.at(1).get<std::string>());
            CHECK(reported[labels].count(value) == 1);
            values.insert(value);
            ++compared;
        }
        distinct += values.size();
    }
    CHECK(compared >= 32);
    CHECK(distinct > 32); // the traffic changes the counters
}

TEST_CASE("scrapes send no MADs, and the pages for metrics and health report the state") {
    exporter sweep({"--fabric", "sim:fattree2,radix=4,sm=1", "--every", "1000s", "--json"});
    auto client = sweep.client();
    await([&] { return client.Get("/metrics")->status == 200; });
    const auto first = client.Get("/metrics");
    CHECK(first->get_header_value("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
    for (int i = 0; i < 20; ++i) CHECK(client.Get("/metrics")->body == first->body);
    CHECK_THAT(first->body, Contains("infiniband_sweeps_total 1\n"));
    const auto health = client.Get("/health");
    CHECK(health->status == 200);
    const json state = json::parse(health->body);
    CHECK(state.at("status") == "ok");
    CHECK(state.at("sweep") == 1);
    CHECK(state.at("ports") == 32);
    CHECK(state.at("gaps") == 0);
    CHECK(client.Get("/nothing")->status == 404);
    sweep.program.signal(SIGTERM);
    CHECK(sweep.program.wait().status == 0);
}

TEST_CASE("an exporter in scrape mode sweeps once per scrape and at no other time") {
    exporter sweep({"--fabric", tree, "--on-scrape", "--json"});
    auto client = sweep.client();
    const auto number = [&] {
        const auto series = series_in(client.Get("/metrics")->body);
        return std::stoi(series.at("infiniband_sweeps_total"));
    };
    const int first = number();
    CHECK((first == 1 || first == 2)); // the first sweep may be running already
    for (int i = 1; i <= 5; ++i) CHECK(number() == first + i);
    const auto health = client.Get("/health");
    CHECK(json::parse(health->body).at("sweep") == first + 5);
    sweep.program.signal(SIGINT);
    const process_result r = sweep.program.wait();
    CHECK(r.status == 0);
    check_failure(run({"sweep", "--listen", "127.0.0.1:0", "--fabric", tree + ",time=virtual"}), 2,
                  "--listen needs real time; remove time=virtual");
}

TEST_CASE("an exporter whose sweeps are late is unhealthy") {
    // The discovery takes a while, and each sweep takes longer than three periods.
    exporter sweep({"--fabric", "sim:fattree2,radix=4,sm=1,latency=10ms", "--every", "1ms", "--json"});
    auto client = sweep.client();
    const auto starting = client.Get("/health");
    CHECK(starting->status == 503);
    CHECK(json::parse(starting->body).at("status") == "starting");
    CHECK(client.Get("/metrics")->status == 503);
    await([&] { return client.Get("/metrics")->status == 200; });
    await([&] {
        const auto health = client.Get("/health");
        return health->status == 503 && json::parse(health->body).at("status") == "late";
    });
}

TEST_CASE("an exporter that cannot listen fails with a one-line message") {
    const words fabric{"sweep", "--fabric", "sim:fattree2,radix=4,sm=1", "--count", "1"};
    check_failure(run(fabric + words{"--listen", "9400"}), 2, "invalid address '9400'; expected ADDR:PORT");
    check_failure(run(fabric + words{"--listen", ":0", "--auth", "/nonexistent"}), 2,
                  "--auth: cannot read '/nonexistent': No such file or directory");
    const exporter other({"--fabric", "sim:fattree2,radix=4,sm=1", "--every", "100ms"});
    check_failure(run(fabric + words{"--listen", "127.0.0.1:" + std::to_string(other.port)}), 1, "cannot listen on");
}

TEST_CASE("an exporter serves systemd's socket and notifies systemd of start, sweeps, watchdog and stop") {
    const directory files;
    const comad::mad::unique_fd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const std::string name = files / "notify";
    REQUIRE(name.size() < sizeof at.sun_path);
    std::copy(name.begin(), name.end(), at.sun_path);
    REQUIRE(::bind(manager.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    const timeval limit{60, 0};
    ::setsockopt(manager.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const auto received = [&] {
        char text[256];
        ssize_t n = 0;
        do n = ::recv(manager.get(), text, sizeof text, 0);
        while (n < 0 && errno == EINTR);
        return std::string(text, n > 0 ? static_cast<std::size_t>(n) : 0);
    };
    // Does the work of systemd: binds the socket, passes it as descriptor 3, sets the variables and starts the service.
    const std::string start = "import os, socket, sys\n"
                              "s = socket.socket()\n"
                              "s.bind(('127.0.0.1', 0))\n"
                              "s.listen()\n"
                              "print(s.getsockname()[1], flush=True)\n"
                              "os.dup2(s.fileno(), 3)\n"
                              "os.set_inheritable(3, True)\n"
                              "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')\n"
                              "os.execv(sys.argv[1], sys.argv[1:])\n";
    process sweep({"IBTOOL_FABRIC=", "NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=20000", "/usr/bin/python3", "-c", start,
                   ibtool_program(), "sweep", "--listen", "systemd", "--every", "1000s", "--fabric",
                   "sim:fattree2,radix=4,sm=1"});
    std::map<std::string, int> times;
    while (times["WATCHDOG=1"] < 5 ||
           times["STATUS=sweep 1: 32 ports, 0 failures, 0 nodes missing, 0 links down"] < 1) {
        const std::string one = received();
        REQUIRE(one != "");
        ++times[one];
    }
    CHECK(times["READY=1"] == 1);
    CHECK(times.size() == 3);
    httplib::Client client("127.0.0.1", std::stoi(sweep.output()));
    CHECK(client.Get("/health")->status == 200);
    sweep.signal(SIGTERM);
    CHECK(sweep.wait().status == 0);
    std::string last;
    while (last != "STOPPING=1") REQUIRE((last = received()) != "");
}

TEST_CASE("an exporter continues if stderr is a full disk, a closed pipe or a pipe without a reader") {
    const std::string where = GENERATE("2>/dev/full", "2>&-", "2>closed", "2>stuck");
    CAPTURE(where);
    const directory files;
    REQUIRE(::mkfifo((files / "closed").c_str(), 0600) == 0);
    REQUIRE(::mkfifo((files / "stuck").c_str(), 0600) == 0);
    // `closed`: the only reader exits. `stuck`: the reader stays but does not read, so the pipe is full.
    const std::string script =
        "cd " + std::string(files / "") +
        "; if [ $0 = '2>closed' ]; then (: <closed) & elif [ $0 = '2>stuck' ]; then exec 7<>stuck; "
        "dd if=/dev/zero of=stuck bs=65536 count=1 2>/dev/null; fi; eval exec '\"$@\"' $0";
    process sweep({"IBTOOL_FABRIC=", "bash", "-c", script, where, ibtool_program(), "sweep", "--every", "10ms",
                   "--count", "50", "--json", "--refresh", "20ms", "--prometheus", "none/such", "--fabric",
                   "sim:fattree2,radix=4,sm=1,flap=spine-0001/2@5ms:5ms:20ms"});
    const process_result r = sweep.wait();
    CHECK(r.status == 3);
    CHECK_THAT(r.out, Contains("\"sweep\":50,"));
}

TEST_CASE("an exporter continues if stdout is a full disk, a closed pipe or a pipe without a reader") {
    const std::string where = GENERATE(">/dev/full", ">&-", ">closed", ">stuck");
    CAPTURE(where);
    const directory files;
    REQUIRE(::mkfifo((files / "closed").c_str(), 0600) == 0);
    REQUIRE(::mkfifo((files / "stuck").c_str(), 0600) == 0);
    const std::string script =
        "cd " + std::string(files / "") +
        "; if [ $0 = '>closed' ]; then (: <closed) & elif [ $0 = '>stuck' ]; then exec 7<>stuck; "
        "dd if=/dev/zero of=stuck bs=65536 count=1 2>/dev/null; fi; eval exec '\"$@\"' $0";
    process sweep({"IBTOOL_FABRIC=", "bash", "-c", script, where, ibtool_program(), "sweep", "--every", "10ms",
                   "--json", "--listen", "127.0.0.1:0", "--fabric", "sim:fattree2,radix=4,sm=1"});
    sweep.await_error("cannot write all of the output to stdout; some of it is dropped\n");
    const std::string printed = sweep.errors();
    httplib::Client client("127.0.0.1", std::stoi(printed.substr(printed.find("127.0.0.1:") + 10)));
    const auto number = [&] { return json::parse(client.Get("/health")->body).value("sweep", 0); };
    const int then = number();
    await([&] { return number() > then + 2; });
    sweep.signal(SIGTERM);
    CHECK(sweep.wait().status == 3);
    const std::string all = sweep.errors();
    CHECK(all.find("cannot write all") == all.rfind("cannot write all"));
}

TEST_CASE("a metrics file that cannot be written causes one warning, and the next sweep retries") {
    const directory files;
    const std::string file = files / "later/sweep.prom";
    process sweep(ibtool({"sweep", "--every", "10ms", "--prometheus", file, "--fabric", "sim:fattree2,radix=4,sm=1"}));
    sweep.await_error("ibtool: cannot write '" + file + "': No such file or directory; the next sweep retries\n");
    std::filesystem::create_directory(files / "later");
    await([&] { return std::filesystem::exists(file); });
    sweep.signal(SIGTERM);
    const process_result r = sweep.wait();
    CHECK(r.status == 3); // some writes failed
    CHECK(r.err.find("cannot write") == r.err.rfind("cannot write"));
    check_failure(
        run({"sweep", "--count", "1", "--prometheus", files / "nowhere/x", "--fabric", tree + ",time=virtual"}), 1,
        "cannot write");
}

TEST_CASE("an exporter replaces only a regular file, atomically and readable by other users") {
    const directory files;
    const words sweep{"sweep", "--fabric", tree + ",time=virtual", "--prometheus"};
    const std::string target = files.write("target", "precious"), link = files / "link", pipe = files / "pipe";
    std::filesystem::create_symlink(target, link);
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string& wrong : {link, pipe, std::string(files / ""), std::string("/dev/full")}) {
        CAPTURE(wrong);
        const process_result r = run(sweep + words{wrong});
        CHECK(r.status == 1);
        CHECK_THAT(r.err, Contains("cannot write '" + wrong + "': it is not a regular file"));
    }
    CHECK(read_file(target) == "precious");
    CHECK(std::filesystem::is_symlink(link));
    CHECK(std::filesystem::is_character_file("/dev/full"));
    check_success(run(sweep + words{target}));
    CHECK_THAT(read_file(target), StartsWith("# HELP infiniband_"));
    CHECK((std::filesystem::status(target).permissions() & std::filesystem::perms::others_read) !=
          std::filesystem::perms::none);
    CHECK(std::distance(std::filesystem::directory_iterator(std::filesystem::path(target).parent_path()), {}) == 3);
}

TEST_CASE("a host that is moved in a subnet with OpenSM is found again, and its series keep their labels") {
    subnet s;
    exporter sweep({"--fabric", s.fabric(), "--every", "200ms", "--refresh", "500ms"});
    const prometheus server(sweep.port);
    const std::string counters = "infiniband_port_xmit_packets_total{node_guid=\"0000:0000:0000:b000\"}";
    const auto cabled_to = [&](const char* peer, int port) {
        return server.value_of(
                   fmt::format("infiniband_port_info{{node_guid=\"0000:0000:0000:b000\",peer_node_guid=\"{}\","
                               "peer_port=\"{}\"}}",
                               peer, port)) == "1";
    };
    await([&] { return cabled_to("0000:0000:0000:5000", 2); });
    await([&] { return server.value_of(counters) != ""; });
    s.console("Unlink \"B\"");
    s.console("Link \"B\"[1] \"S1\"[5]");
    await([&] { return cabled_to("0000:0000:0000:5000", 5); });
    await([&] { return server.value_of(counters) != ""; });
    CHECK(server.send_query("series", {{"match[]", counters}}).size() == 1);
    CHECK_THAT(sweep.program.errors(), Contains("rediscovered the subnet: "));
}
