// SPDX-License-Identifier: MIT
// export_counters.cpp - the code of docs/howto/export-counters.md: sweeps as JSON, CSV and Prometheus text. The lines with //> are what it
// prints.
#include <comad/counters.hpp>
#include <comad/fabric/open_fabric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

using namespace comad;
using namespace std::chrono_literals;

/// Prints the lines that start with `start`, at most 100 characters of each.
static void show(std::string_view text, std::string_view start = "") {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (line.starts_with(start)) fmt::print("{}{}\n", line.substr(0, 100), line.size() > 100 ? "..." : "");
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
}

static coro::task<void> export_sweeps(coro::MADSchedule& schedule, const discovery::subnet& subnet) {
    const discovery::node_names names; // no map: every node has its description as its name
    counters::sweeper sweeper(schedule, subnet);
    const counters::sweep first = co_await sweeper.run();
    co_await schedule.pause(1s);
    const counters::sweep second = co_await sweeper.run();
    const counters::sweep_view view{
        .subnet = subnet, .names = names, .now = second, .before = &first, .number = 2, .seconds = 1};

    const counters::reading& port = second.ports.front();
    show(counters_json(port.counters.counters));
    //> {"portXmitData":6910455,"portRcvData":1008542,"portXmitPkts":100146,"portRcvPkts":100135,"portUnicas...

    const counters::row_selection busiest{
        .top = 2, .order = counters::row_order::by_counter, .by = counters::counter::portXmitData};
    show(sweep_json(view, busiest));
    //> {"schema":"comad.sweep/1","sweep":2,"seconds":1,"ports":32,"gaps":0,"MADs":32,"duration_seconds":3.4...
    //> {"sweep":2,"seconds":1,"nodeGUID":"0002:c903:0000:0e00","description":"spine-0002","port":1,"LID":14...
    //> {"sweep":2,"seconds":1,"nodeGUID":"0002:c903:0000:0a00","description":"leaf-0002","port":3,"LID":10,...

    show(counters::sweep_csv_header() + sweep_csv(view, busiest));
    //> sweep,seconds,nodeGUID,description,port,portXmitData,portRcvData,portXmitPkts,portRcvPkts,portUnicas...
    //> 2,1,0002:c903:0000:0e00,"spine-0002",1,46509771,16604162,100032,100033,93781,93782,6251,6251,0,0,0,0...
    //> 2,1,0002:c903:0000:0a00,"leaf-0002",3,46410824,32708091,100036,100038,93785,93787,6251,6251,0,0,0,0,...

    const counters::sweep_totals totals{.sweeps = 2, .mads = first.mads + second.mads};
    const std::string page = counters::prometheus_text({{view, totals}});
    show(page, "infiniband_sweep_");
    //> infiniband_sweep_mads_total 78
    //> infiniband_sweep_duration_seconds 3.4e-05
    //> infiniband_sweep_ports 32
    //> infiniband_sweep_complete 1

    discovery::known_fabric known;
    known.take(subnet, schedule.now());
    co_await schedule.pause(5s);
    const auto found = co_await discovery::discover(schedule);
    known.take(found.value(), schedule.now());
    counters::sweeper next_sweeper(schedule, found.value());
    const counters::sweep third = co_await next_sweeper.run();

    counters::exposed_sweep exposed{.view = {.subnet = found.value(), .names = names, .now = third, .number = 3}};
    exposed.findings =
        evaluate(counters::default_rules(), found.value(), align_to(third, found.value(), second, subnet), third);
    exposed.missing = known.missing();
    auto pieces = counters::prometheus_pieces({exposed});
    while (const std::string* piece = pieces.next()) show(*piece, "infiniband_nodes_");
    //> infiniband_nodes_known 14
    //> infiniband_nodes_missing 1
}

int main() {
    auto fabric =
        open_fabric("sim:fattree2,radix=4,sm=1,traffic=100000,errors=0.06:20,seed=3,kill=h-0008 HCA-1@5s,time=virtual")
            .value();
    const auto found = fabric.run(discovery::discover(fabric.schedule()));
    fabric.run(export_sweeps(fabric.schedule(), found.value()));
}
