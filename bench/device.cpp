// SPDX-License-Identifier: MIT
// device.cpp - sends pings of ibsysstat to a local device, and answers them.
#include "device.hpp"

#include <comad/coro/driver.hpp>
#include <comad/server/agent.hpp>
#include <comad/server/diags.hpp>
#include <comad/transports/gmp.hpp>
#include <comad/transports/umad.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace comad::bench {
namespace {

using coro::MADSchedule;
using coro::task;
using iba::vend::OFASysStatPing;

task<void> ping(MADSchedule& schedule, workload& w, mad::IBPath to) {
    OFASysStatPing request{};
    while (w.more()) {
        request.cookie = w.next();
        auto answer = co_await schedule.VendGet<OFASysStatPing>(request, to);
        if (!answer) throw std::runtime_error(to_string(answer.error()));
        w.answered(answer.value().cookie);
    }
}

task<void> ping_in_parallel(MADSchedule& schedule, workload& w, mad::IBPath to, unsigned workers) {
    coro::scope scope(schedule.root());
    for (unsigned i = 0; i < workers; ++i) scope.spawn(ping(schedule, w, to));
    co_await scope.join();
}

transports::end_port port_of(const std::string& name) {
    return transports::get_end_port(name, "/sys/class", transports::port_use::GMPs);
}

std::shared_ptr<mad::transport> opened(const std::string& carrier, const transports::end_port& port) {
    if (carrier == "verbs") return transports::open_gmp_port(port);
    return std::make_shared<transports::umad_transport>(port);
}

task<void> for_ever(MADSchedule& schedule) { co_await schedule.pause(mad::duration::max()); }

} // namespace

void serve_pings(const std::string& port) {
    transports::umad_transport device(port_of(port));
    server::responder answers;
    server::add_sysstat(answers, server::this_host());
    server::agent agent(device, answers);
    MADSchedule schedule(device);
    schedule.set_server(&agent);
    sync_wait(schedule, for_ever(schedule));
}

std::vector<variant> ping_variants(const std::string& from, const mad::IBPath& to,
                                   const std::vector<std::string>& which) {
    std::vector<variant> variants;
    for (const std::string& carrier : which) {
        const auto transport = opened(carrier, port_of(from));
        variants.push_back({"comad over " + carrier, [transport, to](workload& w, unsigned window) {
                                coro::schedule_options options;
                                options.max_outstanding = window;
                                options.gmps_per_destination = 0;
                                options.timeout = std::chrono::minutes(1);
                                MADSchedule schedule(*transport, options);
                                sync_wait(schedule, ping_in_parallel(schedule, w, to, window));
                            }});
    }
    return variants;
}

} // namespace comad::bench
