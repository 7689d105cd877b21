// SPDX-License-Identifier: MIT
// exporter.cpp - two pages.
#include "exporter/exporter.hpp"

#include "exporter/authorization.hpp"
#include "exporter/gzip.hpp"
#include <comad/iba/text.hpp>
#include <comad/mad/time.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

namespace ibtool {

namespace asio = boost::asio;
namespace iba = comad::iba;
using clock = std::chrono::steady_clock;
using shared_text = std::shared_ptr<const std::string>;

namespace {

/// Of so many sweeps pages are kept for clients that take long; who takes longer does not get the rest.
constexpr std::size_t most_kept = 4;
constexpr std::size_t gzip_slice = 256 << 10;

/// What was made of one sweep.
struct page {
    shared_text plain, zipped; // zipped: null until somebody has asked for it
    bool is_being_zipped = false;
};

} // namespace

struct exporter::pages : std::enable_shared_from_this<pages> {
    pages(asio::any_io_executor e, options o) : executor(std::move(e)), given(std::move(o)) {}

    asio::awaitable<http_reply> reply_to(const http_request&);
    asio::awaitable<http_reply> metrics(bool takes_gzip);
    asio::awaitable<std::shared_ptr<page>> page_for_scrape();
    asio::awaitable<shared_text> zipped(std::shared_ptr<page>);
    asio::awaitable<void> zip(std::shared_ptr<page>);
    http_reply health() const;

    asio::awaitable<void> await_change(clock::time_point deadline);
    void note_change() {
        for (asio::steady_timer* t : waiting) t->cancel();
    }

    asio::any_io_executor executor;
    options given;
    std::shared_ptr<page> newest;
    std::deque<std::shared_ptr<page>> kept; // with newest
    std::size_t published = 0;              // so often
    clock::time_point published_at;
    std::string state;
    bool most_missing = false;
    std::string lost; // why; empty: it is not
    clock::time_point lost_since;
    std::set<asio::steady_timer*> waiting; // for a change of what is above
};

exporter::exporter(asio::any_io_executor executor, options o) {
    const std::string where = o.where;
    pages_ = std::make_shared<pages>(executor, std::move(o));
    server_ = std::make_unique<http_server>(executor, where,
                                            [pages = pages_](const http_request& r) { return pages->reply_to(r); });
}

exporter::~exporter() {
    pages_->given.on_scrape = nullptr; // its owner goes, too
}

void exporter::publish(std::string metrics, std::string state, bool most_missing) {
    pages_->newest = std::make_shared<page>(page{std::make_shared<const std::string>(std::move(metrics)), nullptr});
    pages_->kept.push_back(pages_->newest);
    if (pages_->kept.size() > most_kept) {
        for (const shared_text& old : {pages_->kept.front()->plain, pages_->kept.front()->zipped})
            if (old) server_->drop(old.get());
        pages_->kept.pop_front();
    }
    pages_->state = std::move(state);
    pages_->most_missing = most_missing;
    pages_->published_at = clock::now();
    ++pages_->published;
    pages_->note_change();
}

void exporter::note_lost(std::string why) {
    if (pages_->lost.empty()) pages_->lost_since = clock::now();
    pages_->lost = std::move(why);
    pages_->note_change();
}

void exporter::note_back() { pages_->lost.clear(); }

// ---- replies ---------------------------------------------------------------------------------------------------------

asio::awaitable<http_reply> exporter::pages::reply_to(const http_request& request) {
    if (!is_authorized(request.authorization, given.authorizations)) {
        http_reply refused = make_reply(401, "no valid credentials\n");
        refused.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="ibtool", Basic realm="ibtool")");
        co_return refused;
    }
    if (request.path == "/metrics") co_return co_await metrics(request.takes_gzip);
    if (request.path == "/health") co_return health();
    if (request.path == "/") co_return make_reply(200, "ibtool sweep: /metrics, /health\n");
    co_return make_reply(404, "there are /metrics and /health\n");
}

asio::awaitable<http_reply> exporter::pages::metrics(bool takes_gzip) {
    const auto self = shared_from_this();
    const std::shared_ptr<page> p = co_await page_for_scrape();
    if (!p) co_return make_reply(503, lost.empty() ? "no sweep has ended\n" : "lost " + iba::escaped(lost) + "\n");
    http_reply reply;
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    reply.is_gzip = takes_gzip;
    reply.body = p->plain;
    if (takes_gzip) reply.body = co_await zipped(p);
    co_return reply;
}

asio::awaitable<std::shared_ptr<page>> exporter::pages::page_for_scrape() {
    if (!given.on_scrape) co_return newest;
    const std::size_t before = published;
    const clock::time_point deadline = clock::now() + given.oldest;
    given.on_scrape(before);
    while (published == before && lost.empty() && clock::now() < deadline) co_await await_change(deadline);
    co_return published != before ? newest : nullptr;
}

/// Compressed once for all who ask.
asio::awaitable<shared_text> exporter::pages::zipped(std::shared_ptr<page> p) {
    while (!p->zipped) {
        if (!p->is_being_zipped) co_await zip(p);
        else co_await await_change(clock::time_point::max());
    }
    co_return p->zipped;
}

asio::awaitable<void> exporter::pages::zip(std::shared_ptr<page> p) {
    struct until_done { // however it ends, somebody else may try
        pages& all;
        page& p;
        ~until_done() {
            p.is_being_zipped = false;
            all.note_change();
        }
    };
    p->is_being_zipped = true;
    const until_done end{*this, *p};
    gzip_writer out;
    for (std::string_view left = *p->plain; !left.empty(); left.remove_prefix(std::min(left.size(), gzip_slice))) {
        out.add(left.substr(0, gzip_slice));
        co_await asio::post(executor, asio::use_awaitable); // others are next
    }
    p->zipped = std::make_shared<const std::string>(out.finish());
}

asio::awaitable<void> exporter::pages::await_change(clock::time_point deadline) {
    asio::steady_timer timer(executor, deadline);
    waiting.insert(&timer);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    waiting.erase(&timer);
}

http_reply exporter::pages::health() const {
    const auto seconds_since = [](clock::time_point t) { return comad::mad::in_seconds(clock::now() - t); };
    const char* const status = !lost.empty()                                ? "lost"
                               : !newest                                    ? "starting"
                               : clock::now() - published_at > given.oldest ? "late"
                               : most_missing                               ? "missing"
                                                                            : "ok";
    std::string text = fmt::format("{{\"status\":\"{}\"", status);
    if (!lost.empty())
        text += fmt::format(",\"lost\":{},\"lost_seconds\":{:.3f}", iba::json_quoted(lost), seconds_since(lost_since));
    if (newest) text += fmt::format(",\"age_seconds\":{:.3f},{}", seconds_since(published_at), state);
    http_reply reply = make_reply(std::string_view(status) == "ok" ? 200 : 503, text + "}\n");
    reply.content_type = "application/json";
    return reply;
}

} // namespace ibtool
