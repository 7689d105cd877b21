// SPDX-License-Identifier: MIT
// exporter.cpp - two pages.
#include "session/exporter.hpp"

#include "input/options.hpp"
#include <comad/iba/text.hpp>
#include <comad/mad/time.hpp>

#include <fmt/format.h>

#include <charconv>
#include <httplib.h>
#include <stdexcept>
#include <sys/socket.h>

namespace ibtool {

namespace iba = comad::iba;

namespace {

struct endpoint {
    std::string host;
    int port;
    bool is_IPv6;
};

endpoint parse_endpoint(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    unsigned port = 0;
    const char* const end = text.data() + text.size();
    const bool has_port = colon != std::string::npos && colon + 1 < text.size() &&
                          std::from_chars(text.data() + colon + 1, end, port).ptr == end && port <= 65535;
    std::string host = text.substr(0, has_port ? colon : 0);
    const bool is_IPv6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (is_IPv6) host = host.substr(1, host.size() - 2);
    if (!has_port || (!is_IPv6 && host.find(':') != std::string::npos))
        throw usage_error(
            fmt::format("--listen: '{}' is no ADDR:PORT, as 127.0.0.1:9400, [::1]:9400 or :9400", iba::escaped(text)));
    if (host.empty()) host = "0.0.0.0";
    return {host, static_cast<int>(port), is_IPv6};
}

} // namespace

exporter::exporter(const std::string& where, std::chrono::nanoseconds oldest,
                   std::function<void(std::size_t)> on_scrape)
    : oldest_(oldest), on_scrape_(std::move(on_scrape)), server_(std::make_unique<httplib::Server>()) {
    const endpoint at = parse_endpoint(where);
    // Two exporters at one port would each get some of the scrapes; the library would let them.
    server_->set_socket_options([](socket_t s) {
        const int yes = 1;
        ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_->new_task_queue = [] { return new httplib::ThreadPool(2); };
    serve();
    const int port =
        at.port ? (server_->bind_to_port(at.host, at.port) ? at.port : -1) : server_->bind_to_any_port(at.host);
    if (port < 0)
        throw std::runtime_error(fmt::format("--listen: cannot listen at {}: another program does, or the address is "
                                             "not this machine's",
                                             iba::escaped(where)));
    address_ = fmt::format("{}:{}", at.is_IPv6 ? "[" + at.host + "]" : at.host, port);
    thread_ = std::thread([this] { server_->listen_after_bind(); });
}

exporter::~exporter() {
    // Stopped before it began to listen, it would listen for ever.
    while (!server_->is_running()) std::this_thread::yield();
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    server_->stop();
    thread_.join();
}

void exporter::publish(std::string metrics, std::string state) {
    auto page = std::make_shared<const std::string>(std::move(metrics));
    const std::lock_guard lock(mutex_);
    metrics_ = std::move(page);
    state_ = std::move(state);
    published_ = clock::now();
    ++pages_;
    changed_.notify_all();
}

void exporter::note_lost(std::string why) {
    const std::lock_guard lock(mutex_);
    if (lost_.empty()) lost_since_ = clock::now();
    lost_ = std::move(why);
    changed_.notify_all();
}

void exporter::note_back() {
    const std::lock_guard lock(mutex_);
    lost_.clear();
}

std::shared_ptr<const std::string> exporter::page() {
    std::unique_lock lock(mutex_);
    if (!on_scrape_) return metrics_;
    const std::size_t before = pages_;
    lock.unlock();
    on_scrape_(before);
    lock.lock();
    changed_.wait_for(lock, oldest_, [&] { return pages_ != before || is_ending_ || !lost_.empty(); });
    return pages_ != before || is_ending_ ? metrics_ : nullptr;
}

void exporter::serve() {
    server_->Get("/metrics", [this](const httplib::Request&, httplib::Response& reply) {
        if (const auto current = page()) {
            reply.set_content(*current, "text/plain; version=0.0.4; charset=utf-8");
            return;
        }
        reply.status = 503;
        const std::lock_guard lock(mutex_);
        reply.set_content(lost_.empty() ? "no sweep has ended\n" : "lost " + iba::escaped(lost_) + "\n",
                          "text/plain; charset=utf-8");
    });
    server_->Get("/health", [this](const httplib::Request&, httplib::Response& reply) {
        const std::lock_guard lock(mutex_);
        const auto seconds_since = [](clock::time_point t) { return comad::mad::in_seconds(clock::now() - t); };
        const bool is_late = clock::now() - published_ > oldest_;
        const char* const status = !lost_.empty() ? "lost" : !metrics_ ? "starting" : is_late ? "late" : "ok";
        if (!lost_.empty() || !metrics_ || is_late) reply.status = 503;
        std::string text = fmt::format("{{\"status\":\"{}\"", status);
        if (!lost_.empty())
            text += fmt::format(",\"lost\":{},\"lost_seconds\":{:.3f}", iba::json_quoted(lost_),
                                seconds_since(lost_since_));
        if (metrics_) text += fmt::format(",\"age_seconds\":{:.3f},{}", seconds_since(published_), state_);
        reply.set_content(text + "}\n", "application/json");
    });
    server_->Get("/", [](const httplib::Request&, httplib::Response& reply) {
        reply.set_content("ibtool sweep: /metrics, /health\n", "text/plain; charset=utf-8");
    });
}

} // namespace ibtool
