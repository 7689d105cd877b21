// SPDX-License-Identifier: MIT
// exporter.cpp - serves the pages /metrics and /health.
#include "exporter/exporter.hpp"

#include "comad.hpp"
#include "exporter/authorization.hpp"
#include "exporter/background_thread.hpp"
#include "exporter/gzip.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/mad/detail/time.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace ibtool {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;
using shared_text = std::shared_ptr<const std::string>;

namespace {

/// Number of sweeps by which a client may lag. The exporter closes the connection of a client that lags more.
constexpr std::size_t most_kept = 4;

/// The texts of one page that connections still send.
struct sent_texts {
    std::weak_ptr<const std::string> texts[2]; // [0]: plain, [1]: compressed
};

/// Keeps the memory of one large text for reuse. Without it, each page of a very large fabric would get new memory from the kernel, and that
/// would take a third of the time of its text (bench/exporter_rounds). Thread-safe.
class text_memory : public std::enable_shared_from_this<text_memory> {
public:
    /// Returns an empty text, with the memory of an earlier one if there is one.
    std::string take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(spare_, {});
    }
    /// Makes a text shared. After its last user has released it, take() reuses its memory.
    shared_text share(std::string text) {
        const auto give_back = [self = shared_from_this()](std::string* t) {
            const std::unique_ptr<std::string> owned(t);
            if (t->size() < t->capacity() / 2) return; // pages have become smaller
            t->clear();
            const std::lock_guard lock(self->mutex_);
            self->spare_.swap(*t);
        };
        return {new std::string(std::move(text)), give_back};
    }
    /// Frees the memory.
    void drop() { take(); }

private:
    std::mutex mutex_;
    std::string spare_;
};

/// A published page. Its texts are generated when a client requests them.
struct page {
    exporter::page_text source;
    shared_text made[2] = {}; // [0]: plain, [1]: compressed
    std::shared_ptr<sent_texts> sent = std::make_shared<sent_texts>();
};

/// What /health reports about one fabric.
struct fabric_state {
    std::string name;
    std::size_t published = 0; // number of published sweeps
    clock::time_point published_at{};
    nlohmann::ordered_json state{};
    bool most_missing = false;
    std::string lost{}; // reason of the disconnection; empty: connected
    clock::time_point lost_since{};
};

/// The state of a fabric. The state of several fabrics is that of the worst one, which has the highest value.
enum class health_status { ok, missing, late, starting, lost };
constexpr std::string_view status_names[] = {"ok", "missing", "late", "starting", "lost"};

double seconds_since(clock::time_point t) { return comad::mad::in_seconds(clock::now() - t); }

std::string_view name_of(health_status s) { return status_names[static_cast<std::size_t>(s)]; }

/// Adds what /health reports about one fabric.
void add_state(nlohmann::ordered_json& to, const fabric_state& f) {
    constexpr unsigned milliseconds = 3;
    if (!f.lost.empty()) {
        to["lost"] = json_string(f.lost);
        to["lost_seconds"] = json_number(seconds_since(f.lost_since), milliseconds);
    }
    if (f.published) {
        to["age_seconds"] = json_number(seconds_since(f.published_at), milliseconds);
        to.update(f.state);
    }
}

} // namespace

/// The pages, and the coroutines that wait for them. Only the thread of the server uses them, apart from the members that say otherwise.
struct exporter::pages : std::enable_shared_from_this<pages> {
    pages(asio::any_io_executor of_server, asio::any_io_executor of_owner, const options& o,
          const std::shared_ptr<const sweep_request>& request)
        : executor(std::move(of_server)), owner(std::move(of_owner)), oldest(o.oldest),
          authorizations(o.authorizations), on_scrape(request), sweeps_on_scrape(*request) {
        for (const std::string& name : o.fabrics) fabrics.push_back({name});
    }

    void set_page(page_text);
    void note_sweep(nlohmann::ordered_json state, bool most_missing, std::size_t fabric);
    void end();

    asio::awaitable<http_reply> reply_to(const http_request&);
    asio::awaitable<http_reply> metrics(bool takes_gzip);
    asio::awaitable<std::shared_ptr<page>> page_for_scrape();
    void request_sweep(std::size_t fabric) const;
    asio::awaitable<shared_text> text_of(std::shared_ptr<page>, bool zipped);
    asio::awaitable<void> make(std::shared_ptr<page>, bool zipped);
    asio::awaitable<shared_text> make_text(page_text source, bool zipped, std::size_t plain_size);
    http_reply health() const;
    health_status status_of(const fabric_state&) const;
    std::string why_lost() const;

    asio::awaitable<void> await_change(clock::time_point deadline);
    void note_change() {
        for (asio::steady_timer* t : waiting) t->cancel();
    }

    asio::any_io_executor executor, owner; // that of the server, and that of the owner of the exporter
    std::chrono::nanoseconds oldest;
    std::vector<std::string> authorizations;
    std::weak_ptr<const sweep_request> on_scrape; // used in the thread of the owner
    bool sweeps_on_scrape;
    std::unique_ptr<http_server> server;
    background_thread texts;           // generates one text after the other
    std::atomic<bool> is_over = false; // any thread; ends the generation of a text after its next piece
    std::vector<fabric_state> fabrics;
    std::shared_ptr<page> newest;
    std::shared_ptr<page> being_made[2]; // [0]: plain, [1]: compressed; at most one of each at a time
    std::size_t last_size[2] = {};       // bytes of the latest text
    std::shared_ptr<text_memory> memory = std::make_shared<text_memory>(); // of plain texts
    std::deque<std::shared_ptr<sent_texts>> kept; // of the last pages, including the newest one
    std::set<asio::steady_timer*> waiting;        // scrapes that wait for a page or for a sweep
};

exporter::exporter(asio::any_io_executor executor, options o)
    : on_scrape_(std::make_shared<const sweep_request>(std::move(o.on_scrape))),
      pages_(std::make_shared<pages>(server_thread_.executor(), std::move(executor), o, on_scrape_)) {
    pages_->server = std::make_unique<http_server>(
        server_thread_.executor(), o.where, [p = pages_.get()](const http_request& r) { return p->reply_to(r); });
    address_ = pages_->server->address();
    is_loopback_ = pages_->server->is_loopback();
}

exporter::~exporter() {
    on_scrape_ = nullptr;                            // the owner of the callback is being destroyed, too
    in_server_thread_now([](pages& p) { p.end(); }); // starts no text after that
    pages_->texts.join();
    server_thread_.join();
}

template <class F> void exporter::in_server_thread(F&& f) {
    asio::post(server_thread_.executor(), [p = pages_, call = std::forward<F>(f)]() mutable { call(*p); });
}

/// As in_server_thread(), but waits until the call has returned.
template <class F> void exporter::in_server_thread_now(F&& f) {
    std::promise<void> done;
    in_server_thread([&](pages& p) {
        f(p);
        done.set_value();
    });
    done.get_future().wait();
}

void exporter::publish(page_text text, nlohmann::ordered_json state, bool most_missing, std::size_t fabric) {
    in_server_thread([text = std::move(text), state = std::move(state), most_missing, fabric](pages& p) mutable {
        p.set_page(std::move(text));
        p.note_sweep(std::move(state), most_missing, fabric);
    });
}

void exporter::replace_page(page_text text) {
    in_server_thread([text = std::move(text)](pages& p) mutable {
        if (!p.newest) return;
        p.set_page(std::move(text));
        p.note_change();
    });
}

void exporter::note_lost(std::string why, std::size_t fabric) {
    in_server_thread([why = std::move(why), fabric](pages& p) mutable {
        fabric_state& f = p.fabrics.at(fabric);
        if (f.lost.empty()) f.lost_since = clock::now();
        f.lost = std::move(why);
        p.note_change();
    });
}

void exporter::note_back(std::size_t fabric) {
    in_server_thread([fabric](pages& p) { p.fabrics.at(fabric).lost.clear(); });
}

void exporter::set_authorizations(std::vector<std::string> all) {
    in_server_thread([all = std::move(all)](pages& p) mutable { p.authorizations = std::move(all); });
}

std::size_t exporter::waiting() {
    std::size_t count = 0;
    in_server_thread_now([&count](const pages& p) { count = p.waiting.size(); });
    return count;
}

void exporter::pages::set_page(page_text text) {
    if (newest && !newest->made[0]) memory->drop(); // no client has requested the text
    newest = std::make_shared<page>(page{std::move(text)});
    kept.push_back(newest->sent);
    if (kept.size() > most_kept * fabrics.size()) {
        for (const auto& text_sent : kept.front()->texts)
            if (const shared_text old = text_sent.lock()) server->drop(old.get());
        kept.pop_front();
    }
}

void exporter::pages::note_sweep(nlohmann::ordered_json state, bool most_missing, std::size_t fabric) {
    fabric_state& f = fabrics.at(fabric);
    f.state = std::move(state);
    f.most_missing = most_missing;
    f.published_at = clock::now();
    ++f.published;
    note_change();
}

/// Closes all connections and ends all coroutines.
void exporter::pages::end() {
    is_over = true;
    server = nullptr;
    note_change();
}

// ---- replies ---------------------------------------------------------------------------------------------------------

asio::awaitable<http_reply> exporter::pages::reply_to(const http_request& request) {
    if (!is_authorized(request.authorization, authorizations)) {
        http_reply refused = make_reply(401, "missing or invalid credentials\n");
        refused.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="ibtool", Basic realm="ibtool")");
        co_return refused;
    }
    if (request.path == "/metrics") co_return co_await metrics(request.takes_gzip);
    if (request.path == "/health") co_return health();
    if (request.path == "/") co_return make_reply(200, "ibtool sweep: /metrics, /health\n");
    co_return make_reply(404, "not found; use /metrics or /health\n");
}

asio::awaitable<http_reply> exporter::pages::metrics(bool takes_gzip) {
    const auto self = shared_from_this();
    const std::shared_ptr<page> p = co_await page_for_scrape();
    if (!p) {
        const std::string lost = why_lost();
        co_return make_reply(503, lost.empty() ? "no sweep has finished yet\n"
                                               : "disconnected: " + iba::escaped(lost) + "\n");
    }
    http_reply reply;
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    reply.is_gzip = takes_gzip;
    reply.body = co_await text_of(p, takes_gzip);
    co_return reply;
}

std::string exporter::pages::why_lost() const {
    for (const fabric_state& f : fabrics)
        if (!f.lost.empty()) return f.lost;
    return {};
}

// Returns null if no sweep has been published, or if no fabric published one in time.
asio::awaitable<std::shared_ptr<page>> exporter::pages::page_for_scrape() {
    if (!sweeps_on_scrape) co_return newest;
    std::vector<std::size_t> before;
    for (const fabric_state& f : fabrics) before.push_back(f.published);
    const clock::time_point deadline = clock::now() + oldest;
    for (std::size_t i = 0; i < fabrics.size(); ++i) request_sweep(i);
    std::size_t fresh = 0;
    for (bool is_awaited = true; is_awaited;) {
        fresh = 0;
        is_awaited = false;
        for (std::size_t i = 0; i < fabrics.size(); ++i) {
            const bool is_new = fabrics[i].published != before[i];
            fresh += is_new ? 1 : 0;
            is_awaited |= !is_new && fabrics[i].lost.empty();
        }
        is_awaited &= !is_over && clock::now() < deadline;
        if (is_awaited) co_await await_change(deadline);
    }
    co_return fresh ? newest : nullptr;
}

void exporter::pages::request_sweep(std::size_t fabric) const {
    asio::post(owner, [call = on_scrape, fabric, published = fabrics[fabric].published] {
        if (const auto request = call.lock()) (*request)(fabric, published);
    });
}

/// Generates the text once for all clients. If an older page is in progress, returns the text of that page, because generating several
/// pages at once would delay each of them.
asio::awaitable<shared_text> exporter::pages::text_of(std::shared_ptr<page> p, bool zipped) {
    if (being_made[zipped] && !sweeps_on_scrape) p = being_made[zipped];
    while (!p->made[zipped] && !is_over) {
        if (!being_made[zipped]) co_await make(p, zipped);
        else co_await await_change(clock::time_point::max());
    }
    co_return p->made[zipped];
}

asio::awaitable<void> exporter::pages::make(std::shared_ptr<page> p, bool zipped) {
    struct until_done { // also after an exception: another scrape may then generate the page
        pages& all;
        bool zipped;
        ~until_done() {
            all.being_made[zipped] = nullptr;
            all.note_change();
        }
    };
    being_made[zipped] = p;
    const until_done end{*this, zipped};
    auto text =
        co_await asio::co_spawn(texts.executor(), make_text(p->source, zipped, last_size[0]), asio::use_awaitable);
    if (!text) co_return;
    p->made[zipped] = std::move(text);
    p->sent->texts[zipped] = p->made[zipped];
    last_size[zipped] = p->made[zipped]->size();
}

/// Generates a text in its own thread, in which only `memory` and `is_over` of this object may be used. Returns null if the exporter ends.
asio::awaitable<shared_text> exporter::pages::make_text(page_text source, bool zipped, std::size_t plain_size) {
    std::string plain = zipped ? std::string() : memory->take();
    std::optional<gzip_writer> compressed;
    if (zipped) compressed.emplace();
    else plain.reserve(plain_size + plain_size / 16);
    auto pieces = source();
    while (const std::string* piece = pieces.next()) {
        if (compressed) compressed->add(*piece);
        else plain += *piece;
        if (is_over) co_return nullptr;
    }
    if (compressed) co_return std::make_shared<const std::string>(compressed->finish());
    co_return memory->share(std::move(plain));
}

asio::awaitable<void> exporter::pages::await_change(clock::time_point deadline) {
    asio::steady_timer timer(executor, deadline);
    waiting.insert(&timer);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    waiting.erase(&timer);
}

health_status exporter::pages::status_of(const fabric_state& f) const {
    if (!f.lost.empty()) return health_status::lost;
    if (!f.published) return health_status::starting;
    if (clock::now() - f.published_at > oldest) return health_status::late;
    return f.most_missing ? health_status::missing : health_status::ok;
}

http_reply exporter::pages::health() const {
    health_status worst = health_status::ok;
    for (const fabric_state& f : fabrics) worst = std::max(worst, status_of(f));
    nlohmann::ordered_json all{{"status", name_of(worst)}};
    if (fabrics.size() == 1) {
        add_state(all, fabrics.front());
    } else {
        auto& list = all["fabrics"] = nlohmann::ordered_json::array();
        for (const fabric_state& f : fabrics) {
            nlohmann::ordered_json one{{"fabric", json_string(f.name)}, {"status", name_of(status_of(f))}};
            add_state(one, f);
            list.push_back(std::move(one));
        }
    }
    http_reply reply = make_reply(worst == health_status::ok ? 200 : 503, json_line(all));
    reply.content_type = "application/json";
    return reply;
}

} // namespace ibtool
