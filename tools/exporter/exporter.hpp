// SPDX-License-Identifier: MIT
// exporter.hpp - serves the latest sweep of each fabric over HTTP. Does not depend on counters and sends no MADs.
#pragma once
#include "exporter/background_thread.hpp"
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

/// Serves `/metrics` and `/health`. `/metrics` is the page that was published last, in the text format of Prometheus; it is compressed if
/// the client accepts gzip. `/health` is JSON. Its status is 200 if, for every fabric, the device is connected and the last sweep is
/// recent enough and contains most ports. Otherwise, and until the first sweep is published, the status is 503.
///
/// Threads: the functions may be called only in the thread of the executor, and never wait for a client. A second thread serves all clients,
/// and a third one generates the texts of pages, so that sweeps and replies continue meanwhile. The destructor waits until the third thread
/// has finished the piece in progress.
class exporter {
public:
    using sweep_request = std::function<void(std::size_t fabric, std::size_t published)>;
    struct options {
        std::string where;               ///< address; see listening_socket
        std::chrono::nanoseconds oldest; ///< largest age of a valid sweep
        /// Called in the thread of the executor at each scrape, once for each fabric, with the number of sweeps published before. The
        /// scrape waits until every connected fabric has published a newer one, and then gets the newest page. The reply is 503 if no
        /// fabric published one in time. Null: a scrape gets the latest page at once.
        sweep_request on_scrape;
        /// Accepted values of the Authorization header, from read_authorizations(). Empty: no authorization is required.
        std::vector<std::string> authorizations;
        std::vector<std::string> fabrics = {std::string()}; ///< names of the fabrics, if there are several
    };
    /// Starts to listen. Throws what the constructor of listening_socket throws.
    exporter(boost::asio::any_io_executor, options);
    ~exporter();
    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;

    /// Returns the address on which it listens: `127.0.0.1:9400`.
    const std::string& address() const noexcept { return address_; }
    /// Returns whether it listens at a loopback address; see listening_socket.
    bool is_loopback() const noexcept { return is_loopback_; }

    /// Generates one page for all fabrics, piece by piece, in a thread of the exporter. The data it refers to must not change. It must own
    /// the data or outlive them, and another thread may destroy it.
    using page_text = std::function<comad::coro::generator<std::string>()>;

    /// Publishes a new sweep of a fabric. `text`: called when a client requests the page, at most once for the plain text and once for
    /// the compressed text; kept until the next page. `state`: an object with further members of /health, such as `sweep`.
    /// `most_missing`: whether most ports did not reply.
    void publish(page_text text, nlohmann::ordered_json state, bool most_missing, std::size_t fabric = 0);

    /// Replaces the current page by another page of the same sweeps, in which other data has changed. Does nothing if nothing was
    /// published. Clients that wait for a sweep continue to wait.
    void replace_page(page_text text);

    /// Marks the device of a fabric as disconnected until note_back(). Another call replaces the reason.
    void note_lost(std::string why, std::size_t fabric = 0);
    /// Marks the device of a fabric as connected.
    void note_back(std::size_t fabric = 0);

    /// Returns the number of scrapes that wait for a sweep, or for a page that is being generated.
    std::size_t waiting();

    /// Replaces the accepted authorizations.
    void set_authorizations(std::vector<std::string>);

private:
    struct pages;
    template <class F> void in_server_thread(F&&);
    template <class F> void in_server_thread_now(F&&);
    std::string address_;
    bool is_loopback_ = false;
    std::shared_ptr<const sweep_request> on_scrape_;
    background_thread server_thread_;
    std::shared_ptr<pages> pages_;
};

} // namespace ibtool
