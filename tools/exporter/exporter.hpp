// SPDX-License-Identifier: MIT
// exporter.hpp - the last sweep of each fabric, served by HTTP to whoever scrapes. Knows no counter; sends no MAD.
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

/// `/metrics`: what was published last, in Prometheus' text format, compressed where that is asked for. `/health`: JSON, with
/// status 200 while of every fabric what was published is not older than a limit, tells of most ports, and the device is there,
/// else 503. Before anything was published, 503.
///
/// Threads: all in the executor's, which never waits for a client. Between two pieces of a page others are next.
class exporter {
public:
    struct options {
        std::string where;               ///< as listening_socket's
        std::chrono::nanoseconds oldest; ///< of a sweep that is still news
        /// Called for each scrape and fabric, with how often that was published before; the scrape gets what is published next of
        /// all whose device is there; 503 where none is. Null: it gets what was published last.
        std::function<void(std::size_t fabric, std::size_t published)> on_scrape;
        /// Values of the Authorization header that let a client in (read_authorizations()); empty: everybody.
        std::vector<std::string> authorizations;
        std::vector<std::string> fabrics = {std::string()}; ///< what they are called, where there are several
    };
    /// Throws what listening_socket does.
    exporter(boost::asio::any_io_executor, options);
    ~exporter();
    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;

    /// Where it listens: `127.0.0.1:9400`.
    const std::string& address() const noexcept { return server_->address(); }

    /// Makes the page, of all fabrics, piece by piece.
    using page_text = std::function<comad::coro::generator<std::string>()>;

    /// There is something new of a fabric. `text`: called when somebody asks for the page, at most once plain and once compressed,
    /// however many ask; held until the next one. `state`: an object with further members of /health, such as `sweep`.
    /// `most_missing`: most ports did not answer.
    void publish(page_text text, nlohmann::ordered_json state, bool most_missing, std::size_t fabric = 0);

    /// Another page in place of the last one, if there is one: of the same sweeps, with what else has changed. Whoever waits for a
    /// sweep goes on to wait.
    void replace_page(page_text text);

    /// The device is lost, for this reason, which may change; until note_back().
    void note_lost(std::string why, std::size_t fabric = 0);
    void note_back(std::size_t fabric = 0);

    /// Scrapes that wait for a sweep, or for a page that is being made.
    std::size_t waiting() const noexcept;

    /// Others are let in from now on.
    void set_authorizations(std::vector<std::string>);

private:
    struct pages;
    void set_page(page_text);
    std::shared_ptr<pages> pages_; // shared with coroutines, which may be destroyed later than this
    std::unique_ptr<http_server> server_;
};

} // namespace ibtool
