// SPDX-License-Identifier: MIT
// exporter.hpp - the last sweep, served by HTTP to whoever scrapes. Knows no counter; sends no MAD.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace httplib {
class Server;
}

namespace ibtool {

/// `/metrics`: what was published last, in Prometheus' text format. `/health`: JSON, with status 200 while what was published
/// is not older than a limit and the device is there, else 503. Before anything was published, 503.
///
/// Threads: answers come from threads of its own; publish() may be called from any.
class exporter {
public:
    /// Listens at `ADDR:PORT`, `[IPv6]:PORT` or `:PORT` (all addresses); port 0: any that is free.
    /// `on_scrape`: called for each scrape, with how often was published before; the scrape gets what is published next, while
    /// the device is lost 503. Null: it gets what was published last.
    /// Throws usage_error for anything else, std::runtime_error with one line if it cannot listen there.
    exporter(const std::string& where, std::chrono::nanoseconds oldest,
             std::function<void(std::size_t published)> on_scrape = {});
    ~exporter();
    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;

    /// Where it listens: `127.0.0.1:9400`.
    const std::string& address() const noexcept { return address_; }

    /// `state`: members of the JSON object of /health: `"sweep":4,"complete":true`.
    void publish(std::string metrics, std::string state);

    /// The device is lost, for this reason, which may change; until note_back().
    void note_lost(std::string why);
    void note_back();

private:
    using clock = std::chrono::steady_clock;
    void serve();
    std::shared_ptr<const std::string> page();

    std::chrono::nanoseconds oldest_;
    std::function<void(std::size_t)> on_scrape_;
    std::unique_ptr<httplib::Server> server_;
    std::string address_;
    std::mutex mutex_; // of what follows
    std::shared_ptr<const std::string> metrics_;
    std::string state_;
    clock::time_point published_;
    std::size_t pages_ = 0; // published so far
    bool is_ending_ = false;
    std::string lost_; // why; empty: it is not
    clock::time_point lost_since_;
    std::condition_variable changed_; // what is above
    std::thread thread_;              // last: it uses all
};

} // namespace ibtool
