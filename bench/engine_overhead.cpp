// SPDX-License-Identifier: MIT
// engine_overhead.cpp - measures what the engine and its coroutines add to a MAD. Compares them with a raw read and write loop on the
// same descriptor in the same run, and measures them in memory without any other costs.
#include "device.hpp"
#include "echo.hpp"
#include "rounds.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/driver.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/engine.hpp>
#include <comad/mad/path_text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace comad::bench {
namespace {

using coro::MADSchedule;
using coro::task;
using iba::smp::NodeInfo;

// ---- the work, identical for every variant ------------------------------------------------------------------------

using packet = std::array<u8, packet_size>;

/// Writes SubnGet(NodeInfo) on a directed route of two hops without the library.
void write_request(packet& p, u64 number) noexcept {
    for (std::size_t at = 0; at < packet_size; at += 64) std::memset(p.data() + at, 0, 64);
    u8* mad = p.data() + mad::headroom;
    mad[0] = 1;                                // base version
    mad[1] = 0x81;                             // SubnDirected
    mad[2] = 1;                                // class version
    mad[3] = 1;                                // Get
    mad[7] = 2;                                // hop count
    iba::store_be<u64>(mad + 8, number);       // transaction ID
    mad[17] = 0x11;                            // NodeInfo
    iba::store_be<u32>(mad + 32, 0xffffffff);  // permissive DrSLID, DrDLID
    iba::store_be<u64>(mad + 64 + 12, number); // nodeGUID
    mad[128 + 1] = 1;
    mad[128 + 2] = 1;
}

/// Decodes the reply. Not inlined, so that the compiler decodes all of NodeInfo although the caller uses only its GUID.
[[gnu::noinline]] NodeInfo node_info_of(const packet& p) noexcept {
    NodeInfo info;
    iba::decode(info, p.data() + mad::headroom + 64);
    return info;
}

/// Returns a different route for each parallel worker: as in a discovery, at most one MAD per destination is in flight.
mad::IBDRPath route_of(unsigned worker) {
    const std::array<u8, 2> ports{static_cast<u8>(worker / 36 + 1), static_cast<u8>(worker % 36 + 1)};
    return mad::IBDRPath(ports);
}

task<u64> visit(MADSchedule& schedule, const mad::any_path& path, u64 number) {
    NodeInfo request;
    request.nodeGUID = iba::guid{number};
    auto info = co_await schedule.SubnGet<NodeInfo>(request, path);
    if (!info) throw std::runtime_error(to_string(info.error()));
    co_return value(info.value().nodeGUID);
}

task<void> work(MADSchedule& schedule, workload& w, mad::any_path path) {
    while (w.more()) {
        const u64 answer = co_await visit(schedule, path, w.next());
        w.answered(answer);
    }
}

task<void> work_in_parallel(MADSchedule& schedule, workload& w, unsigned workers) {
    coro::scope scope(schedule.root());
    for (unsigned i = 0; i < workers; ++i) scope.spawn(work(schedule, w, route_of(i)));
    co_await scope.join();
}

coro::schedule_options options_of(unsigned window) {
    coro::schedule_options options;
    options.max_outstanding = window;
    options.timeout = std::chrono::minutes(1); // a busy machine must not add retries
    return options;
}

// ---- over a descriptor --------------------------------------------------------------------------------------------

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void write_packet(int descriptor, workload& w, packet& p) {
    write_request(p, w.next());
    if (::write(descriptor, p.data(), p.size()) != static_cast<ssize_t>(p.size())) fail("write");
}

void raw_blocking(echo& fabric, workload& w, unsigned window) {
    fabric.set_blocking(true);
    const int descriptor = fabric.descriptor();
    packet p;
    for (unsigned i = 0; i < window; ++i) write_packet(descriptor, w, p);
    while (w.unanswered()) {
        if (::read(descriptor, p.data(), p.size()) != static_cast<ssize_t>(p.size())) fail("read");
        w.answered(value(node_info_of(p).nodeGUID));
        if (w.more()) write_packet(descriptor, w, p);
    }
}

void raw_poll(echo& fabric, workload& w, unsigned window) {
    fabric.set_blocking(false);
    const int descriptor = fabric.descriptor();
    packet p;
    for (unsigned i = 0; i < window; ++i) write_packet(descriptor, w, p);
    while (w.unanswered()) {
        const ssize_t size = ::read(descriptor, p.data(), p.size());
        if (size < 0 && errno == EAGAIN) {
            pollfd readable{descriptor, POLLIN, 0};
            if (::poll(&readable, 1, -1) < 0) fail("poll");
            continue;
        }
        if (size != static_cast<ssize_t>(p.size())) fail("read");
        w.answered(value(node_info_of(p).nodeGUID));
        if (w.more()) write_packet(descriptor, w, p);
    }
}

void comad_poll(echo& fabric, workload& w, unsigned window) {
    fabric.set_blocking(false);
    echo_transport transport(fabric.descriptor());
    MADSchedule schedule(transport, options_of(window));
    sync_wait(schedule, work_in_parallel(schedule, w, window));
}

void comad_asio(echo& fabric, workload& w, unsigned window) {
    fabric.set_blocking(false);
    echo_transport transport(fabric.descriptor());
    MADSchedule schedule(transport, options_of(window));
    boost::asio::io_context io(1);
    coro::asio_driver driver(io, schedule);
    coro::async_run(driver, work_in_parallel(schedule, w, window), [] {});
    io.run();
}

// ---- in memory ----------------------------------------------------------------------------------------------------

/// Copies in blocks that GCC turns into vector instructions. For the whole packet GCC would emit a string instruction, whose startup
/// takes as long as everything else.
void copy_packet(u8* to, const u8* from) noexcept {
    for (std::size_t at = 0; at < packet_size; at += 64) std::memcpy(to + at, from + at, 64);
}

/// A queue of packets that become their own replies, in order.
class loopback {
public:
    explicit loopback(unsigned window) : packets_(std::bit_ceil(window)) {}
    bool empty() const noexcept { return read_ == written_; }
    void push(const u8* p) noexcept { copy_packet(at(written_++).data(), p); }
    void pop(u8* p) noexcept {
        copy_packet(p, at(read_++).data());
        turn_into_reply(p + mad::headroom);
    }

private:
    packet& at(std::size_t index) noexcept { return packets_[index & (packets_.size() - 1)]; }

    std::vector<packet> packets_;
    std::size_t read_ = 0, written_ = 0;
};

/// A loopback as a transport in virtual time.
class loopback_transport final : public mad::transport {
public:
    explicit loopback_transport(unsigned window) : packets_(window) {}
    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request& request) noexcept override {
        packets_.push(request.mad - mad::headroom);
        return {};
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        mad::received message;
        if (packets_.empty()) return message;
        packets_.pop(buffer.data());
        message.state = mad::receive_state::message;
        message.mad = buffer.subspan(mad::headroom, mad::mad_size);
        message.full_size = mad::mad_size;
        return message;
    }
    mad::transport_limits limits() const noexcept override { return {}; }
    std::optional<mad::time_point> next_event() const noexcept override {
        if (packets_.empty()) return std::nullopt;
        return now_;
    }
    void set_now(mad::time_point now) noexcept override { now_ = now; }

private:
    loopback packets_;
    mad::time_point now_;
};

void bare(workload& w, unsigned window) {
    loopback packets(window);
    packet p;
    const auto send = [&] {
        write_request(p, w.next());
        packets.push(p.data());
    };
    for (unsigned i = 0; i < window; ++i) send();
    while (w.unanswered()) {
        packets.pop(p.data());
        w.answered(value(node_info_of(p).nodeGUID));
        if (w.more()) send();
    }
}

/// An operation that submits itself again until there is no work left.
struct callback_operation : mad::operation {
    static constexpr mad::rpc_kind kind{iba::MgmtClass::SubnLID, 1, iba::Method::Get,
                                        iba::attribute_of<NodeInfo>::attributeID, true};

    callback_operation(mad::engine& e, workload& w, unsigned worker) : engine(e), work(w), route(route_of(worker)) {
        encode = [](mad::operation& o, u8* mad) {
            auto& self = static_cast<callback_operation&>(o);
            iba::encode(self.request, mad::write_request(mad, kind, self.route, 0));
        };
        done = [](mad::operation& o, const mad::completion& how) {
            auto& self = static_cast<callback_operation&>(o);
            if (how.what != mad::completion_status::replied) return;
            NodeInfo info;
            iba::decode(info, how.reply.data() + 64);
            self.work.answered(value(info.nodeGUID));
            if (self.work.more()) self.submit();
        };
        path = &route;
        destination = mad::destination_key(route);
        timeout = std::chrono::minutes(1);
    }
    void submit() {
        request.nodeGUID = iba::guid{work.next()};
        engine.submit(*this);
    }

    mad::engine& engine;
    workload& work;
    mad::any_path route;
    NodeInfo request{};
};

void callbacks(workload& w, unsigned window) {
    loopback_transport transport(window);
    mad::engine engine(transport, {.max_outstanding = window});
    std::deque<callback_operation> ops;
    for (unsigned i = 0; i < window; ++i) ops.emplace_back(engine, w, i).submit();
    packet p;
    while (w.unanswered()) engine.on_received(transport.receive(p));
}

task<void> work_directly(MADSchedule& schedule, workload& w, mad::any_path path) {
    NodeInfo request;
    while (w.more()) {
        request.nodeGUID = iba::guid{w.next()};
        auto info = co_await schedule.SubnGet<NodeInfo>(request, path);
        if (!info) throw std::runtime_error(to_string(info.error()));
        w.answered(value(info.value().nodeGUID));
    }
}

task<void> work_directly_in_parallel(MADSchedule& schedule, workload& w, unsigned workers) {
    coro::scope scope(schedule.root());
    for (unsigned i = 0; i < workers; ++i) scope.spawn(work_directly(schedule, w, route_of(i)));
    co_await scope.join();
}

void tasks(workload& w, unsigned window) {
    loopback_transport transport(window);
    MADSchedule schedule(transport, options_of(window));
    sync_wait(schedule, work_directly_in_parallel(schedule, w, window));
}

void tasks_with_child(workload& w, unsigned window) {
    loopback_transport transport(window);
    MADSchedule schedule(transport, options_of(window));
    sync_wait(schedule, work_in_parallel(schedule, w, window));
}

task<void> visit_once(MADSchedule& schedule, workload& w, const mad::any_path& path, u64 number) {
    NodeInfo request;
    request.nodeGUID = iba::guid{number};
    auto info = co_await schedule.SubnGet<NodeInfo>(request, path);
    if (!info) throw std::runtime_error(to_string(info.error()));
    w.answered(value(info.value().nodeGUID));
}

coro::generator<task<void>> visits(MADSchedule& schedule, workload& w, const std::vector<mad::any_path>& paths) {
    while (w.more()) {
        const u64 number = w.next();
        co_yield visit_once(schedule, w, paths[number % paths.size()], number);
    }
}

task<void> sweep(MADSchedule& schedule, workload& w, const std::vector<mad::any_path>& paths) {
    co_await schedule.mqueue(visits(schedule, w, paths));
}

void mqueue(workload& w, unsigned window) {
    loopback_transport transport(window);
    MADSchedule schedule(transport, options_of(window));
    std::vector<mad::any_path> paths;
    for (unsigned i = 0; i < window; ++i) paths.emplace_back(route_of(i));
    sync_wait(schedule, sweep(schedule, w, paths));
}

// ---- running and reporting ----------------------------------------------------------------------------------------

/// The options of the command line.
struct settings {
    unsigned rounds = 31;
    double scale = 1;
    std::vector<unsigned> windows{1, 4, 16, 64, 256};
    std::string part = "both";
    std::string from, to, serve; // ports of a local device
    std::vector<std::string> carriers{"umad", "verbs"};
    std::string run; // name of a variant to run once without measurement
    unsigned mads = 1000;
};

std::string processor_name() {
    std::ifstream description("/proc/cpuinfo");
    for (std::string line; std::getline(description, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown processor";
}

void print_conditions(const settings& s) {
#ifdef __clang__
    constexpr std::string_view compiler = "clang " __clang_version__;
#else
    constexpr std::string_view compiler = "GCC " __VERSION__;
#endif
    fmt::print("engine_overhead --rounds {} --scale {} --windows {}\n", s.rounds, s.scale, fmt::join(s.windows, ","));
    fmt::print("{}, {} processors, {}\n", processor_name(), usable_processors(), compiler);
    fmt::print("Medians; CPU ns: of this thread; ratio: of CPU to that of the first variant, within each round\n");
}

/// Returns the number of allocations.
u64 measure_over_descriptor(const settings& s) {
    print_heading("Over a socket pair, answered by a thread on the other processor; 64 + 256 bytes");
    echo fabric;
    const std::vector<variant> variants{
        {"raw C, blocking write/read", [&](workload& w, unsigned window) { raw_blocking(fabric, w, window); }},
        {"raw C, poll + drain", [&](workload& w, unsigned window) { raw_poll(fabric, w, window); }},
        {"comad, poll driver", [&](workload& w, unsigned window) { comad_poll(fabric, w, window); }},
        {"comad, Asio driver", [&](workload& w, unsigned window) { comad_asio(fabric, w, window); }},
    };
    u64 allocations = 0;
    for (const unsigned window : s.windows) {
        const double requests = window == 1 ? 1000 : 10000; // with a window of 1, both threads sleep and wake for each
        allocations += measure(variants, s.rounds, static_cast<u64>(requests * s.scale), window);
    }
    return allocations;
}

u64 measure_in_memory(const settings& s) {
    print_heading("In memory");
    const std::vector<variant> variants{
        {"encode + copy + decode only", bare},  {"engine, callback operation", callbacks},
        {"task awaits the RPC", tasks},         {"task awaits a task that does", tasks_with_child},
        {"mqueue, a new task per MAD", mqueue}, // one task per line
    };
    u64 allocations = 0;
    for (const unsigned window : s.windows)
        allocations += measure(variants, s.rounds, static_cast<u64>(20000 * s.scale), window);
    return allocations;
}

/// Runs one variant in memory once, without measurement. For tools that count instructions.
void run_in_memory(const settings& s) {
    constexpr unsigned window = 64;
    workload work(100 + u64{4} * window, s.mads, window);
    if (s.run == "bare") bare(work, window);
    else if (s.run == "callback") callbacks(work, window);
    else if (s.run == "task") tasks(work, window);
    else mqueue(work, window);
    if (!work.sum_is_right()) throw std::runtime_error(s.run + ": the sum of the replies is wrong");
}

u64 measure_over_device(const settings& s) {
    const auto to = mad::from_string(s.to, mad::hex_means::LID);
    const auto* path = to ? std::get_if<mad::IBPath>(&to.value().path) : nullptr;
    if (!path) throw std::runtime_error("--to must be a LID-routed path");
    print_heading("GMPs from " + s.from + ", answered by another process; CPU and allocations of this one");
    const auto variants = ping_variants(s.from, *path, s.carriers);
    u64 allocations = 0;
    for (const unsigned window : s.windows) {
        if (window > 64) continue; // a umad device does not accept more at a time
        allocations += measure(variants, s.rounds, static_cast<u64>(1000 * s.scale), window);
    }
    return allocations;
}

int run(const settings& s) {
    if (!s.serve.empty()) {
        serve_pings(s.serve);
        return 0;
    }
    if (!s.run.empty()) {
        run_in_memory(s);
        return 0;
    }
    bind_to_processor(0);
    print_conditions(s);
    u64 allocations = 0;
    if (s.part == "device") {
        measure_over_device(s);
        return 0; // the C library of verbs may allocate memory
    }
    if (s.part != "memory") allocations += measure_over_descriptor(s);
    if (s.part != "descriptor") allocations += measure_in_memory(s);
    if (allocations == 0) return 0;
    fmt::print(stderr, "engine_overhead: {} allocations after the warm-up\n", allocations);
    return 1;
}

} // namespace
} // namespace comad::bench

int main(int argc, char** argv) {
    comad::bench::settings s;
    CLI::App app{"Measures the cost that the engine and its coroutines add to a MAD."};
    app.add_option("--rounds", s.rounds, "number of runs of each variant")
        ->check(CLI::Range(1u, 10000u))
        ->capture_default_str();
    app.add_option("--scale", s.scale, "factor for the number of MADs per run")
        ->check(CLI::Range(0.01, 1000.0))
        ->capture_default_str();
    app.add_option("--windows", s.windows, "MADs in flight")
        ->delimiter(',')
        ->check(CLI::Range(1u, 256u))
        ->capture_default_str();
    app.add_option("--part", s.part, "part to measure")
        ->check(CLI::IsMember({"descriptor", "memory", "both", "device"}))
        ->capture_default_str();
    app.add_option("--from", s.from, "local port for --part device, e.g. rxe0/1");
    app.add_option("--to", s.to, "path to the port of --serve, e.g. 'IBPath(DLID=7)'");
    app.add_option("--carriers", s.carriers, "transports: umad, verbs")->delimiter(',')->capture_default_str();
    app.add_option("--run", s.run, "run one variant in memory without measuring it: bare, callback, task or mqueue")
        ->check(CLI::IsMember({"bare", "callback", "task", "mqueue"}));
    app.add_option("--mads", s.mads, "number of MADs of --run")->check(CLI::Range(1u, 1000000u))->capture_default_str();
    app.add_option("--serve", s.serve, "reply to pings at this local port until killed");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    try {
        return comad::bench::run(s);
    } catch (const std::exception& e) {
        fmt::print(stderr, "engine_overhead: {}\n", e.what());
        return 1;
    }
}
