// SPDX-License-Identifier: MIT
// guest_rig.hpp - what the programs of the guest share: its ports, those of fakeib, and who is at the other one. Knows no test.
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

/// Loads the module with these parameters, unless it is. It stays for the tests that follow, and goes with the program.
void use_fakeib(const std::string& parameters = "presets=1");

/// An end port of the guest by its name, `rxe0/1`.
end_port port_of(const std::string& name);

/// To a port of fakeib.
mad::IBPath to_lid(u16 LID);
/// To a port of soft RoCE.
mad::IBPath to_gid(const end_port& port);

/// What a driver's clock says.
inline mad::time_point clock_now() { return mad::time_point(std::chrono::steady_clock::now().time_since_epoch()); }

/// A MAD, and how a transport is asked to carry it.
struct outgoing_mad {
    mad::any_path path = mad::IBPath{};
    std::vector<u8> packet = std::vector<u8>(mad::headroom + mad::mad_size); ///< with the headroom
    bool expects_reply = true;
    mad::duration timeout = 5s;

    /// `tid`: the lower half of the transaction ID.
    outgoing_mad(mad::any_path to, iba::MgmtClass, u8 class_version, iba::Method, u16 attribute, u32 tid);
    u8* mad() noexcept { return packet.data() + mad::headroom; }
    mad::send_result send(mad::transport&, std::optional<u8> agents_version = {});
};

/// A message of a transport, whole.
struct message {
    u32 status = 0;
    std::vector<u8> mad;
    mad::source_address source;

    u32 tid() const;
    bool is_reply() const { return status == 0 && (mad.at(3) & 0x80) != 0; }
};
/// The next message; nothing, if there is none within that time.
std::optional<message> await_message(mad::transport&, mad::duration limit = 5s);

/// A port that answers the requests of one class as a test plans it, in a thread of its own.
class peer {
public:
    /// When to send the request's answer, after it came: each time one copy. Empty: silence.
    using plan = std::function<std::vector<mad::duration>(std::span<const u8> request)>;

    peer(const end_port& at, const mad::registration& what, plan);
    ~peer();

    /// The lower halves of the transaction IDs of all requests, as they came.
    std::vector<u32> asked() const;
    std::size_t count() const { return asked().size(); }
    /// Until so many requests have come. Throws when that takes long.
    void await_count(std::size_t) const;
    /// Requests that waited for their answers at one instant.
    std::size_t most_waiting() const;

private:
    void run();
    void serve_until_stopped();

    umad_transport device_;
    const plan plan_;
    mad::unique_fd stop_;
    mutable std::mutex mutex_;
    mutable std::condition_variable came_;
    std::vector<u32> asked_;
    std::size_t most_waiting_ = 0;
    std::multimap<mad::time_point, message> due_;
    std::thread thread_;
};
/// The plan to answer once, after so long.
peer::plan answer_after(mad::duration);
/// The plan to answer nothing.
peer::plan silence();

/// A port where a responder answers, in a thread of its own.
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
