// SPDX-License-Identifier: MIT
// guest_rig.hpp - functions that the programs of the guest share: its ports, those of fakeib, and the peers at these
// ports. Independent of tests.
#pragma once
#include "program/process.hpp"
#include "support/catch.hpp"
#include <comad/coro/driver.hpp>
#include <comad/server/agent.hpp>
#include <comad/transports/umad.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace comad::test {

using namespace std::chrono_literals;
using transports::end_port;
using transports::umad_options;
using transports::umad_transport;

/// Loads the module with these parameters, unless it is loaded. It stays for later tests, and is unloaded when the
/// program ends.
void use_fakeib(const std::string& parameters = "presets=1");

/// Returns an end port of the guest by its name, for example `rxe0/1`.
end_port port_of(const std::string& name);

/// Returns a path to a port of fakeib.
mad::IBPath to_lid(u16 LID);
/// Returns a path to a port of soft RoCE.
mad::IBPath to_gid(const end_port& port);

/// Returns the time of a driver's clock.
inline mad::time_point clock_now() { return mad::time_point(std::chrono::steady_clock::now().time_since_epoch()); }

/// A MAD, and the options for sending it.
struct outgoing_mad {
    mad::any_path path = mad::IBPath{};
    std::vector<u8> packet = std::vector<u8>(mad::headroom + mad::mad_size); ///< including the headroom
    bool expects_reply = true;
    mad::duration timeout = 5s;

    /// Creates a MAD with these header fields. `tid`: the lower half of the transaction ID.
    outgoing_mad(mad::any_path to, iba::MgmtClass, u8 class_version, iba::Method, u16 attribute, u32 tid);
    u8* mad() noexcept { return packet.data() + mad::headroom; }
    mad::send_result send(mad::transport&, std::optional<u8> agents_version = {});
};

/// A complete message of a transport.
struct message {
    u32 status = 0;
    std::vector<u8> mad;
    mad::source_address source;

    u32 tid() const;
    bool is_reply() const { return status == 0 && (mad.at(3) & 0x80) != 0; }
};
/// Returns the next message, or nothing if there is none within that time.
std::optional<message> await_message(mad::transport&, mad::duration limit = 5s);

/// A port that replies to the requests of one class according to a plan, in its own thread.
class peer {
public:
    /// Returns when to send the reply to a request, relative to its arrival: one copy for each time. Empty: no reply.
    using plan = std::function<std::vector<mad::duration>(std::span<const u8> request)>;

    peer(const end_port& at, const mad::registration& what, plan);
    ~peer();

    /// Returns the lower halves of the transaction IDs of all requests, in the order of their arrival.
    std::vector<u32> requested() const;
    std::size_t count() const { return requested().size(); }
    /// Waits until this number of requests has arrived. Throws if that takes too long.
    void await_count(std::size_t) const;
    /// Returns the largest number of requests that waited for their replies at the same time.
    std::size_t most_waiting() const;

private:
    void run();
    void serve_until_stopped();

    umad_transport device_;
    const plan plan_;
    mad::unique_fd stop_;
    mutable std::mutex mutex_;
    mutable std::condition_variable came_;
    std::vector<u32> requested_;
    std::size_t most_waiting_ = 0;
    std::multimap<mad::time_point, message> due_;
    std::thread thread_;
};
/// Returns a plan that replies once after this time.
peer::plan answer_after(mad::duration);
/// Returns a plan that never replies.
peer::plan silence();

/// A port with a responder, in its own thread.
class served_port {
public:
    served_port(std::unique_ptr<mad::transport>, server::responder);
    ~served_port();
    const server::agent& agent() const noexcept { return agent_; }

private:
    std::unique_ptr<mad::transport> carrier_;
    server::responder answers_;
    server::agent agent_;
    coro::MADSchedule schedule_;
    std::jthread thread_;
};

} // namespace comad::test
