// SPDX-License-Identifier: MIT
// exporter.hpp - the last sweep, served by HTTP to whoever scrapes. Knows no counter; sends no MAD.
#pragma once
#include "exporter/http_server.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ibtool {

/// `/metrics`: what was published last, in Prometheus' text format, compressed where that is asked for. `/health`: JSON, with
/// status 200 while what was published is not older than a limit, tells of most ports, and the device is there, else 503.
/// Before anything was published, 503.
///
/// Threads: all in the executor's, which never waits for a client.
class exporter {
public:
    struct options {
        std::string where;               ///< as listening_socket's
        std::chrono::nanoseconds oldest; ///< of a sweep that is still news
        /// Called for each scrape, with how often was published before; the scrape gets what is published next, while the device
        /// is lost 503. Null: it gets what was published last.
        std::function<void(std::size_t published)> on_scrape;
        /// Values of the Authorization header that let a client in (read_authorizations()); empty: everybody.
        std::vector<std::string> authorizations;
    };
    /// Throws what listening_socket does.
    exporter(boost::asio::any_io_executor, options);
    ~exporter();
    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;

    /// Where it listens: `127.0.0.1:9400`.
    const std::string& address() const noexcept { return server_->address(); }

    /// `state`: members of the JSON object of /health: `"sweep":4,"complete":true`. `most_missing`: most ports did not answer.
    void publish(std::string metrics, std::string state, bool most_missing);

    /// The device is lost, for this reason, which may change; until note_back().
    void note_lost(std::string why);
    void note_back();

private:
    struct pages;
    std::shared_ptr<pages> pages_; // shared with coroutines, which may be destroyed later than this
    std::unique_ptr<http_server> server_;
};

} // namespace ibtool
