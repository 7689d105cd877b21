// SPDX-License-Identifier: MIT
// rdma_bw.cpp - rdma_bw: measures the bandwidth of RDMA writes over a reliable connection between two hosts, a waiting server and a
// client.
#include "command.hpp"
#include "commands/measuring/rdma_bw_link.hpp"
#include "session/fabric.hpp"
#include "session/pkey_choice.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

#ifdef COMAD_HAS_VERBS
#include "commands/measuring/rdma_bw_stream.hpp"
#include "text/json.hpp"
#endif

namespace ibtool {
namespace {

/// The command line of rdma_bw.
struct rdma_bw_settings {
    std::string server;
    unsigned tcp_port = 4444, depth = 100, pieces = 1;
    int gid_index = -1;
    comad::u64 size = comad::u64{1} << 20, writes = 1000;
    bool both_ways = false, v6 = false, json = false;
};

#ifdef COMAD_HAS_VERBS

/// The measurements of one end.
struct rdma_bw_report {
    rdma_bw_end ours, theirs;
    std::optional<std::chrono::nanoseconds> took; ///< duration of its writes; nullopt: this end did not write
    std::optional<bool> has_arrived;              ///< whether the data of the remote end arrived
};

std::string format_end(const rdma_bw_end& e) {
    std::string text = fmt::format("LID {} QPN {:#x} PSN {:#x} address {:#x} R_Key {:#x}", value(e.LID), e.QPN, e.PSN,
                                   e.address, e.rkey);
    if (e.GID != comad::iba::gid{}) text += fmt::format(" GID {}", e.GID);
    return text;
}

double bytes_per_second(const rdma_bw_report& r) {
    const double seconds = comad::mad::in_seconds(*r.took);
    return static_cast<double>(r.ours.size) * static_cast<double>(r.ours.writes) / seconds;
}

std::string format_report(const rdma_bw_report& r) {
    std::string text = fmt::format("local:  {}\nremote: {}\n", format_end(r.ours), format_end(r.theirs));
    if (r.took) {
        const double rate = bytes_per_second(r);
        fmt::format_to(std::back_inserter(text), "{} writes of {} bytes in {:.3f} s: {:.2f} MB/s, {:.3f} Gb/s\n",
                       r.ours.writes, r.ours.size, comad::mad::in_seconds(*r.took), rate / 1e6, rate * 8 / 1e9);
    }
    if (r.has_arrived)
        text += *r.has_arrived ? "all data from the remote end has arrived\n" : "data from the remote end is MISSING\n";
    return text;
}

std::string report_json(const rdma_bw_report& r) {
    nlohmann::ordered_json j{{"schema", "comad.rdma_bw/1"},
                             {"size_bytes", r.ours.size},
                             {"writes", r.ours.writes},
                             {"both_ways", r.ours.both_ways}};
    if (r.took) {
        j["seconds"] = comad::mad::in_seconds(*r.took);
        j["bytes_per_second"] = bytes_per_second(r);
    }
    if (r.has_arrived) j["has_arrived"] = *r.has_arrived;
    return json_line(j);
}

/// Connects to a server, and writes to it.
rdma_bw_report run_client(const rdma_bw_settings& s, const comad::transports::end_port& port, comad::u16 pkey_index) {
    rdma_bw_link link = rdma_bw_link::connect(s.server, static_cast<unsigned short>(s.tcp_port), s.v6);
    rdma_bw_stream stream(port, s.size, s.depth, s.pieces, s.gid_index, pkey_index);
    rdma_bw_report report{stream.ours(), {}, {}, {}};
    report.ours.writes = s.writes;
    report.ours.both_ways = s.both_ways;
    link.send(report.ours);
    report.theirs = link.receive_end();
    stream.connect(report.theirs);
    link.send("ready");
    link.receive("ready");
    report.took = stream.write(s.writes);
    link.send("written");
    link.receive("written", true);
    if (s.both_ways) report.has_arrived = stream.has_arrived(report.theirs);
    return report;
}

/// Waits for a client, and receives its writes. Writes, too, if the client requests both directions.
rdma_bw_report run_server(const rdma_bw_settings& s, const comad::transports::end_port& port, comad::u16 pkey_index) {
    rdma_bw_link link = rdma_bw_link::accept(static_cast<unsigned short>(s.tcp_port), s.v6);
    rdma_bw_report report;
    report.theirs = link.receive_end(); // contains the size and number of writes that the client wants
    rdma_bw_stream stream(port, report.theirs.size, s.depth, s.pieces, s.gid_index, pkey_index);
    report.ours = stream.ours();
    report.ours.writes = report.theirs.writes;
    report.ours.both_ways = report.theirs.both_ways;
    stream.connect(report.theirs);
    link.send(report.ours);
    link.receive("ready");
    link.send("ready");
    if (report.theirs.both_ways) report.took = stream.write(report.theirs.writes);
    link.send("written");
    link.receive("written", true);
    report.has_arrived = stream.has_arrived(report.theirs);
    return report;
}

int run_rdma_bw(rdma_bw_settings s, const global_options& o) {
    const auto port = local_port_for_verbs(o);
    if (s.gid_index < 0 && !port.is_infiniband()) s.gid_index = 0; // RoCE has no LIDs, so it needs a GID
    const comad::u16 pkey_index = chosen_pkey_index(port, o);
    const rdma_bw_report report = s.server.empty() ? run_server(s, port, pkey_index) : run_client(s, port, pkey_index);
    write_output(s.json ? report_json(report) : format_report(report));
    if (!report.has_arrived.value_or(true))
        throw std::runtime_error("data from the remote end is missing: not all of its writes have arrived");
    return complete;
}

#else

int run_rdma_bw(const rdma_bw_settings&, const global_options&) {
    throw std::runtime_error(
        "rdma_bw requires libibverbs, but ibtool was built without it; install libibverbs-dev and build it again");
}

#endif

} // namespace

command rdma_bw_command() {
    return {
        .name = "rdma_bw",
        .group = command_group::measuring,
        .no_sa_reason = "it sends no MADs",
        .declare = [](arguments& takes) -> action {
            auto s = std::make_shared<rdma_bw_settings>();
            takes.option("server", s->server);
            takes.option("-p,--tcp-port", s->tcp_port).range(1, 65535).shows_default();
            takes.option("-s,--size", s->size).range(1, static_cast<std::int64_t>(rdma_bw_most_size)).shows_default();
            takes.option("-n,--writes", s->writes)
                .range(1, static_cast<std::int64_t>(rdma_bw_most_writes))
                .shows_default();
            takes.option("-t,--depth", s->depth).range(1, 10000).shows_default();
            takes.option("-e,--pieces", s->pieces).range(1, 16).shows_default();
            takes.option("--gid-index", s->gid_index).range(0, 255);
            takes.flag("-b,--both-ways", s->both_ways);
            takes.flag("-6,--ipv6", s->v6);
            takes.flag("--json", s->json);
            return [s](const global_options& o) { return run_rdma_bw(*s, o); };
        }};
}

} // namespace ibtool
