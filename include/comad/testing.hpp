// SPDX-License-Identifier: MIT
// testing.hpp - a test kit for programs that use comad: a simulated fabric in virtual time with several local ports, scripted
// nodes and faults. docs/howto/test-your-program.md shows it in use.
#pragma once
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/attribute.hpp>
#include <comad/mad/path.hpp>
#include <comad/server/responder.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace comad::testing {

/// A simulated fabric in virtual time. All schedules of this object share the time: while one of them is driven (sync_wait(),
/// run_until(), run()), so are all others. No time passes in between, and the same program has the same result in each run.
///
///     testing::virtual_fabric fabric("fattree2,radix=4,sm=1");
///     auto& client = fabric.schedule("h-0001 HCA-1");
///     auto& server = fabric.schedule("h-0008 HCA-1");
///     fabric.answer<iba::smp::NodeInfo>("leaf-0001", [](auto&) { return server::response::error(0x1c); });
///     fabric.kill("leaf-0002");
///     auto reply = coro::sync_wait(client, send_query(client, fabric.path_to("h-0008 HCA-1")));
///
/// Names:    a node is given as its node description, its id in the topology, or a GUID as `0x...`; a location as a node, or as
///           NODE/PORT. Without a port it is port 0 of a switch, otherwise the first port that has a cable.
/// Errors:   std::runtime_error if there is no such node or port. std::logic_error if virtual time cannot continue: nothing will
///           happen any more, or a schedule that this object does not drive has an event on this fabric that is due.
/// Lifetime: tasks and agents on schedule() must end before this object does. Schedules that were passed to drive() may end at any time.
/// Threads:  one.
class virtual_fabric {
public:
    /// `specification`: a generated topology or a file, with options, as in `--fabric sim:` (transports::sim::make_sim()). The option for
    /// the local port has no effect. Throws std::runtime_error if the text is invalid, or contains time=real or kernel.
    explicit virtual_fabric(std::string_view specification);
    explicit virtual_fabric(transports::sim::topology, const transports::sim::timing& = {},
                            const transports::sim::faults& = {});
    ~virtual_fabric();
    virtual_fabric(const virtual_fabric&) = delete;
    virtual_fabric& operator=(const virtual_fabric&) = delete;

    /// Returns the simulated fabric, which has more functions than this class.
    transports::sim::fabric& simulation() noexcept;
    mad::time_point now() const noexcept;

    // ---- Local ports --------------------------------------------------------------------------------------------------

    /// Opens a local port; each call opens one more. The program at this port uses the transport, which this object owns.
    mad::transport& open(std::string_view location);
    /// Creates a schedule with a local port of its own. This object owns and drives the schedule.
    coro::MADSchedule& schedule(std::string_view location, coro::schedule_options = {});
    /// Also drives this schedule of the program, until the schedule ends. Its transport must come from open().
    void drive(coro::MADSchedule&);

    iba::lid lid_of(std::string_view location) const;
    /// Returns the path to a location by its LID, for any local port.
    mad::IBPath path_to(std::string_view location) const;

    // ---- Time -----------------------------------------------------------------------------------------------------------

    /// Drives all schedules for this duration of virtual time.
    void run_for(mad::duration);
    /// Drives all schedules until `ended()` returns true. It is called after each event.
    void run_until(const std::function<bool()>& ended);
    /// Runs an event loop until it has no more work, as its run() does: a boost::asio::io_context with asio_drivers of schedules of
    /// this object. Timers of the event loop itself use real time; MADSchedule::pause() uses virtual time.
    template <class IoContext> void run(IoContext& io) {
        io.restart();
        const std::function<bool()> poll = [&io] { return io.poll() != 0; };
        const std::function<bool()> ended = [&io] { return io.stopped(); };
        run_with(poll, ended);
    }

    // ---- Scripted nodes -------------------------------------------------------------------------------------------------

    /// From now on `answer` replies to the requests of one attribute to a node. It returns a server::response: an attribute, an
    /// error status or nothing(); or std::nullopt if the node must reply as usual. An empty function removes the script. The class of
    /// SMPs is MgmtClass::SubnLID, even with directed routes.
    void answer(std::string_view node, iba::MgmtClass, u16 attributeID, transports::sim::scripted_answer answer);
    /// For an attribute that only one class has; the class follows from the attribute.
    template <iba::attribute T> void answer(std::string_view node, transports::sim::scripted_answer a) {
        answer(node, class_of<T>(), iba::attribute_id<T>, std::move(a));
    }
    /// From now on, passes each reply with this attribute to `change` before the reply leaves the node.
    void change_replies(std::string_view node, iba::MgmtClass, u16 attributeID, transports::sim::reply_change change);
    template <iba::attribute T> void change_replies(std::string_view node, transports::sim::reply_change change) {
        change_replies(node, class_of<T>(), iba::attribute_id<T>, std::move(change));
    }

    // ---- Faults -----------------------------------------------------------------------------------------------------------

    /// From now on, loses this share of all MADs in each direction: at random, but equally in each run.
    void lose(double share);
    /// Also loses this share of the requests to a node and of its replies. 1: all, 0: none.
    void lose(std::string_view node, double share);
    /// From now on, the node takes this time for each request.
    void delay(std::string_view node, mad::duration);
    /// The node stops replying and forwarding directed routes, until revive().
    void kill(std::string_view node);
    void revive(std::string_view node);
    /// Removes the cable of a port, or connects it again. The location must contain a port.
    void cut(std::string_view location);
    void restore(std::string_view location);
    /// The four functions above, called after this duration of virtual time.
    void kill_after(mad::duration, std::string_view node);
    void revive_after(mad::duration, std::string_view node);
    void cut_after(mad::duration, std::string_view location);
    void restore_after(mad::duration, std::string_view location);

private:
    template <iba::attribute T> static constexpr iba::MgmtClass class_of() noexcept {
        constexpr iba::MgmtClass first = iba::attribute_of<T>::uses[0].mgmt_class;
        constexpr bool has_one_class = [] {
            for (const iba::attribute_use& use : iba::attribute_of<T>::uses)
                if (use.mgmt_class != first) return false;
            return true;
        }();
        static_assert(has_one_class, "several classes have this attribute; give the class and the attribute ID");
        return first;
    }
    void run_with(const std::function<bool()>& poll, const std::function<bool()>& ended);

    struct impl;
    const std::unique_ptr<impl> impl_;
};

} // namespace comad::testing
