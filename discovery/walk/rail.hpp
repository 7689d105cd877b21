// SPDX-License-Identifier: MIT
// rail.hpp - a discovery's queries that go out by one end port, in order. Knows nothing of what the answers mean.
#pragma once
#include "subnet_builder.hpp"
#include <comad/coro/schedule.hpp>

#include <deque>

namespace comad::discovery {

/// Runs in its schedule's thread; with other rails it has the findings in common, nothing else.
class rail {
public:
    rail(coro::MADSchedule& schedule, subnet_builder& all, u32 number);

    coro::task<mad::result<iba::smp::NodeInfo>> ask_start();
    /// Begins with what ask_start() gave.
    void begin(const iba::smp::NodeInfo&);
    /// Asks until nothing is left to ask: true, or false if it was cancelled before, or the time was over.
    coro::task<bool> explore();
    /// More to ask, from the order that begins here.
    void add(std::vector<smp_query>);

    u32 number() const noexcept { return number_; }
    coro::MADSchedule& schedule() const noexcept { return schedule_; }
    iba::guid start() const noexcept { return startGUID_; }
    u8 start_port() const noexcept { return start_port_; }
    /// Its end port failed, or took something no more: what is left is for others.
    bool has_failed() const noexcept { return has_lost_ || schedule_.transport_failed(); }

private:
    coro::task<bool> ask_all();
    coro::generator<coro::task<void>> queries();
    coro::task<void> answer(smp_query q);
    // By reference: what they are about lies in the frame of answer(), and hundreds of them are under way at a time.
    coro::task<void> probe(const smp_query& q);
    coro::task<void> read_node(const smp_query& q);
    coro::task<void> read_fact(const smp_query& q);
    coro::task<void> read_port(const smp_query& q);
    void ask_again_for_speeds(const smp_query&);
    template <class T> coro::task<std::optional<T>> ask(const smp_query& q);
    template <class T> coro::task<mad::result<T>> get(const smp_query& q, const mad::IBDRPath& route);
    void failed(const smp_query&, const mad::mad_error&, const mad::IBDRPath& went, std::string_view what);
    void read(const subnet_builder::meeting&, const mad::IBDRPath& route);
    subnet_builder::asker me(bool is_idle) const noexcept { return {number_, most_readers_, is_idle}; }

    coro::MADSchedule& schedule_;
    subnet_builder& all_;
    u32 number_;
    unsigned most_readers_; // as many as a node may have SMPs in flight
    iba::guid startGUID_{};
    u8 start_port_ = 0;
    port_ref start_;               // the same, by index; while it explores
    std::deque<smp_query> to_ask_; // oldest first: breadth first
    std::size_t running_ = 0;
    bool has_lost_ = false;
};

/// Whether answers are waited for as long as was measured; with a timeout that was given, all patience is in it.
inline bool is_measured(const coro::MADSchedule& schedule) { return schedule.options().timeout.count() == 0; }

/// Explores by one rail that has begun, in rounds until nothing is left to ask: true, or false as rail::explore().
coro::task<bool> explore_all(rail&, subnet_builder&);

} // namespace comad::discovery
