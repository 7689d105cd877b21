// SPDX-License-Identifier: MIT
// exporter.hpp - serves the last sweep of each fabric by HTTP. Does not depend on counters and sends no MADs.
#pragma once
#include "exporter/http_server.hpp"
#include <comad/coro/detail/generator.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ibtool {

/// `/metrics` is the page that was published last, in Prometheus' text format, compressed if the client requests it. `/health` is JSON. Its
/// status is 200 while for every fabric the last sweep is not older than a limit, contains most ports, and the device is connected;
/// otherwise, and before anything was published, 503.
///
/// Threads: the executor's only, which never waits for a client. Other work can run between two pieces of a page.
class exporter {
public:
    struct options {
        std::string where;               ///< as for listening_socket
        std::chrono::nanoseconds oldest; ///< largest age of a valid sweep
        /// Called for each scrape and fabric, with the number of pages published before. The scrape gets the page that is published after
        /// that by all fabrics whose device is connected; 503 if there is none. Null: a scrape gets the last page.
        std::function<void(std::size_t fabric, std::size_t published)> on_scrape;
        /// Accepted values of the Authorization header (read_authorizations()); empty: no authorization is needed.
        std::vector<std::string> authorizations;
        std::vector<std::string> fabrics = {std::string()}; ///< names of the fabrics, if there are several
    };
    /// Throws as listening_socket does.
    exporter(boost::asio::any_io_executor, options);
    ~exporter();
    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;

    /// The address where it listens: `127.0.0.1:9400`.
    const std::string& address() const noexcept { return server_->address(); }

    /// Generates the page of all fabrics, piece by piece.
    using page_text = std::function<comad::coro::generator<std::string>()>;

    /// Publishes a new sweep of a fabric. `text`: called when a client requests the page, at most once plain and once compressed; kept
    /// until the next one. `state`: an object with further members of /health, such as `sweep`. `most_missing`: most ports did not reply.
    void publish(page_text text, nlohmann::ordered_json state, bool most_missing, std::size_t fabric = 0);

    /// Replaces the page, if there is one, by another page of the same sweeps in which other data has changed. Clients that wait for a
    /// sweep continue to wait.
    void replace_page(page_text text);

    /// Marks the device as disconnected for this reason, which may change, until note_back().
    void note_lost(std::string why, std::size_t fabric = 0);
    void note_back(std::size_t fabric = 0);

    /// The number of scrapes that wait for a sweep, or for a page in progress.
    std::size_t waiting() const noexcept;

    /// Replaces the accepted authorizations.
    void set_authorizations(std::vector<std::string>);

private:
    struct pages;
    void set_page(page_text);
    std::shared_ptr<pages> pages_; // shared with coroutines, which may be destroyed later
    std::unique_ptr<http_server> server_;
};

} // namespace ibtool
