// SPDX-License-Identifier: MIT
// ibtool_write_matrix_test.cpp - every command that writes, with every way in which a write can fail. A second program
// reads what the device contains afterwards, and the test checks output and exit code. The commands and options come
// from their descriptors.
#include "command.hpp"
#include "command_line.hpp"
#include "command_text.hpp"
#include "program/ibtool_rig.hpp"
#include "session/fabric.hpp"
#include "support/faulty_writes.hpp"
#include "text/output.hpp"
#include <comad/coro/driver.hpp>
#include <comad/iba/cc.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/sa.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>
#include <sys/mman.h>

namespace ibtool_write_matrix_test {

using namespace ibtool_rig;
using namespace comad;
using namespace comad::test;
using transports::sim::sim_transport;
using transports::sim::simulation;

namespace {

// ---- a subnet -----------------------------------------------------------------------------------------------------------

/// A subnet with the port that ibtool uses and the port of a second program.
class world {
public:
    world(write_fault fault, faulty_writes::cut part, bool in_real_time)
        : sim_(
              transports::sim::make_sim(in_real_time ? specification + ",time=real" : specification + ",time=virtual")),
          writes_(*sim_.transport, fault, std::move(part)),
          other_(*sim_.fabric, in_real_time ? transports::sim::time_mode::real : transports::sim::time_mode::virtual_) {
    }

    faulty_writes& writes() { return writes_; }
    transports::sim::fabric& net() { return *sim_.fabric; }
    const transports::sim::topology& graph() const { return sim_.fabric->graph(); }

    /// A transport for one command. It forwards to a transport that outlives the command.
    class borrowed final : public mad::transport {
    public:
        explicit borrowed(mad::transport& t) : t_(t) {}
        int native_handle() const noexcept override { return t_.native_handle(); }
        mad::send_result send(const mad::send_request& r) noexcept override { return t_.send(r); }
        mad::received receive(std::span<u8> b) noexcept override { return t_.receive(b); }
        mad::transport_limits limits() const noexcept override { return t_.limits(); }
        std::optional<mad::time_point> next_event() const noexcept override { return t_.next_event(); }
        std::optional<mad::time_point> simulated_time() const noexcept override { return t_.simulated_time(); }
        void set_now(mad::time_point now) noexcept override { t_.set_now(now); }
        mad::port_tables* tables() noexcept override { return t_.tables(); }

    private:
        mad::transport& t_;
    };
    ibtool::fabric open() {
        const auto& port = graph().nodes[sim_.place->node()].ports[sim_.place->port()];
        sa::local_port local{port.LID, {iba::link_local_prefix, port.GUID}};
        local.sa_path.DLID = graph().sm_lid;
        local.sa_path.SLID = port.LID;
        return ibtool::fabric(std::make_unique<borrowed>(writes_), local);
    }

    u32 node(const std::string& description) const {
        for (u32 n = 0; n < graph().nodes.size(); ++n)
            if (graph().nodes[n].description == description) return n;
        throw std::runtime_error("no node " + description);
    }
    unsigned LID(const std::string& description) const {
        const auto& n = graph().nodes[node(description)];
        return value(n.ports[n.first_port()].LID);
    }

    /// Returns the reply to a query of a second program.
    template <class T, class Make> T send_query(Make make) {
        coro::MADSchedule schedule(other_);
        mad::IBPath SA;
        SA.DLID = graph().sm_lid;
        schedule.set_sa_path(SA);
        auto got = coro::sync_wait(schedule, make(schedule));
        if (!got) throw std::runtime_error(to_string(got.error()));
        return got.value();
    }
    template <class T> T get(const std::string& node, u32 modifier = 0) {
        const mad::any_path to = path_to(node);
        return send_query<T>([&](coro::MADSchedule& s) { return s.SubnGet<T>(to, modifier); });
    }
    void set(const std::string& node, unsigned port, iba::PortState state, iba::PortPhysicalState physical) {
        const mad::any_path to = path_to(node);
        auto info = get<iba::smp::PortInfo>(node, port);
        info.portState = state;
        info.portPhysicalState = physical;
        send_query<iba::smp::PortInfo>(
            [&](coro::MADSchedule& s) { return s.SubnSet<iba::smp::PortInfo>(info, to, port); });
    }
    mad::IBPath path_to(const std::string& node) const {
        mad::IBPath to;
        to.DLID = iba::lid{static_cast<u16>(LID(node))};
        return to;
    }
    template <class T> T counters(const std::string& node, unsigned port) {
        T which;
        which.portSelect = static_cast<u8>(port);
        const mad::IBPath to = path_to(node);
        return send_query<T>([&](coro::MADSchedule& s) { return s.PerformanceGet<T>(which, to); });
    }

    static const std::string specification;

private:
    simulation sim_;
    faulty_writes writes_;
    sim_transport other_;
};
const std::string world::specification = "fattree2,radix=4,sm=1,counters=11";

world* now_used = nullptr;

// ---- a command in this process ------------------------------------------------------------------------------------------

/// Collects what is written to a descriptor.
class captured {
public:
    explicit captured(int descriptor)
        : descriptor_(descriptor), kept_(::dup(descriptor)), file_(::memfd_create("out", 0)) {
        ::dup2(file_, descriptor_);
    }
    std::string end() {
        ::dup2(kept_, descriptor_);
        ::close(kept_);
        std::string text;
        char part[4096];
        ::lseek(file_, 0, SEEK_SET);
        for (ssize_t n; (n = ::read(file_, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
        ::close(file_);
        return text;
    }

private:
    int descriptor_, kept_, file_;
};

/// Runs ibtool in this process on the subnet and returns its output and exit code.
process_result run_here(world& w, words arguments) {
    now_used = &w;
    arguments.insert(arguments.begin(), "ibtool");
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    process_result r{};
    std::fflush(stdout);
    captured out(1), err(2);
    try {
        r.status = ibtool::run_command_line(static_cast<int>(argv.size()), argv.data());
    } catch (const ibtool::usage_error& e) {
        ibtool::print_message("{}", e.what());
        r.status = ibtool::usage;
    } catch (const std::exception& e) {
        ibtool::print_message("{}", e.what());
        r.status = ibtool::failed;
    }
    std::fflush(stdout);
    r.err = err.end();
    r.out = out.end();
    return r;
}

// ---- the table ----------------------------------------------------------------------------------------------------------

/// What the device contains afterwards: the value before, the requested value, a part of it, or any value.
enum class held : u8 { before, after, part, any };
constexpr int truthful = -1; ///< 0 if all was done, otherwise 3; it depends on when the signal arrives

/// The expected result of a command with a write fault.
struct expectation {
    int code;
    held state;
    std::string_view line; ///< expected part of stderr
};
using expectations = std::map<write_fault, expectation>;

/// A command line that writes.
struct row {
    words arguments;                          ///< `@leaf-0002` stands for the LID of leaf-0002
    std::function<std::string(world&)> state; ///< returns the state of the device in a word
    std::string after, part = {};             ///< the word after a complete write, and after a partial write
    std::function<void(world&)> prepare = {};
    faulty_writes::cut part_of_a_write = {};
    expectations otherwise = {}; ///< exceptions to usual()
    int good = 0;                ///< exit code after a complete write
};

/// Returns the expectations of most rows.
const expectations& usual() {
    static const expectations all{
        {write_fault::none, {0, held::after, ""}},
        {write_fault::ignored, {3, held::before, "not"}},
        {write_fault::echoed, {3, held::before, "not"}},
        {write_fault::request_lost, {3, held::before, "not"}},
        {write_fault::reply_lost, {0, held::after, ""}},
        {write_fault::reply_lost_refused, {0, held::after, ""}},
        {write_fault::refused, {1, held::before, "refused"}},
        {write_fault::partly, {3, held::part, "not"}},
        {write_fault::stopped_done, {0, held::after, ""}},
        {write_fault::stopped_lost, {3, held::before, "not"}},
        {write_fault::device_lost, {3, held::after, "unknown whether"}},
    };
    return all;
}
const std::map<write_fault, const char*> names{
    {write_fault::none, "nothing"},
    {write_fault::ignored, "ignored"},
    {write_fault::echoed, "echoed, not done"},
    {write_fault::request_lost, "request lost"},
    {write_fault::reply_lost, "reply lost"},
    {write_fault::reply_lost_refused, "reply lost, next copy refused"},
    {write_fault::refused, "refused"},
    {write_fault::partly, "partly done"},
    {write_fault::stopped_done, "signal after it was done"},
    {write_fault::stopped_lost, "signal after it was lost"},
    {write_fault::device_lost, "device lost after it was done"},
};

/// Expectations for a write of one field. Such a write cannot be done partly: of several writes, the device does the
/// first.
const expectations whole{{write_fault::partly, {0, held::after, ""}}};

/// Expectations for a command that writes to several places at the same time.
expectations of_many(int refused = 3) {
    return {{write_fault::refused, {refused, held::before, "refused"}},
            {write_fault::reply_lost_refused, {3, held::any, "not"}}, // all but the first are refused
            {write_fault::stopped_done, {truthful, held::any, ""}},
            {write_fault::stopped_lost, {3, held::before, "not"}},
            {write_fault::device_lost, {3, held::any, "unknown whether"}}};
}

// ---- states -------------------------------------------------------------------------------------------------------------

/// Returns a function that prints the states of ports, such as `4/5`.
auto port_state(std::vector<std::pair<std::string, unsigned>> ports) {
    return [=](world& w) {
        std::string text;
        for (const auto& [node, port] : ports) {
            const auto info = w.get<iba::smp::PortInfo>(node, port);
            text +=
                fmt::format("{}{}/{}", text.empty() ? "" : " ", value(info.portState), value(info.portPhysicalState));
        }
        return text;
    };
}
/// Returns the number of ports that are Active.
std::string active_ports(world& w) {
    std::size_t active = 0;
    for (const auto& n : w.graph().nodes)
        for (const auto& p : n.ports) active += p.linked() && p.state == iba::PortState::Active;
    return std::to_string(active);
}
/// Returns a function that prints a field of a port's PortInfo.
template <auto Member> auto port_field(std::string node, unsigned port) {
    return [=](world& w) { return fmt::format("{}", w.get<iba::smp::PortInfo>(node, port).*Member); };
}

/// Returns a function that counts how many of these places have symbol errors and receive errors.
template <class... Attributes> auto errors_at(std::vector<std::pair<std::string, unsigned>> places) {
    return [=](world& w) {
        unsigned symbol = 0, receive = 0;
        const auto count = [&](const auto& c) {
            symbol += c.symbolErrorCounter != 0;
            receive += c.portRcvErrors != 0;
        };
        for (const auto& [node, port] : places) (count(w.counters<Attributes>(node, port)), ...);
        return fmt::format("{}/{}", symbol, receive);
    };
}
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;

// ---- parts of writes ----------------------------------------------------------------------------------------------------

constexpr std::size_t data_at = 64; // for SMPs, performance management and congestion control

/// Removes symbolErrorCounter from the mask of a clear.
void without_symbol_errors(std::span<u8> request) {
    const bool is_wide = request[17] == 0x1d; // otherwise PortCounters
    request[data_at + (is_wide ? 7 : 3)] &= 0xfe;
}
/// Removes the width from a Set of PortInfo.
void without_width(std::span<u8> request) { request[data_at + 29] = 0; } // linkWidthEnabled 0: no change
/// Removes the second service level from a Set of CACongestionSetting.
void without_second_level(std::span<u8> request) { request[data_at + 3] = 1; } // controlMap of CACongestionSetting
/// Removes the second word from a write of the configuration space.
void without_second_word(std::span<u8> request) { std::fill_n(request.begin() + 32 + 12 + 8, 4, u8{0}); } // its mask
/// Removes the second counter group from a Set.
void without_second_group(std::span<u8> request) { request[43] = 2; } // the group that it counts already

// ---- rows ---------------------------------------------------------------------------------------------------------------

const iba::gid broadcast(0xff12'401b'ffff'0000, iba::guid{0xffff'ffff});
/// Returns the GID of port 1 of a node.
iba::gid gid_of(world& w, const std::string& node) {
    return {iba::link_local_prefix, w.graph().nodes[w.node(node)].ports[1].GUID};
}
/// Returns a query for the membership of a port in the broadcast group.
iba::query<iba::sa::MCMemberRecord> member(const iba::gid& port) {
    using iba::sa::MCMemberRecord;
    return iba::query<MCMemberRecord>{}
        .where<&MCMemberRecord::MGID>(broadcast)
        .where<&MCMemberRecord::portGID>(port)
        .where<&MCMemberRecord::joinState>(u8{1});
}
/// Returns `member` if h-0003 is a member of the broadcast group, and otherwise `none`.
std::string is_member(world& w) {
    const auto record = member(gid_of(w, "h-0003 HCA-1"));
    try {
        w.send_query<iba::sa::MCMemberRecord>([&](coro::MADSchedule& s) { return s.SubnAdmGet(record); });
        return "member";
    } catch (const std::runtime_error&) {
        return "none";
    }
}
/// Removes h-0003 from the broadcast group.
void leave_group(world& w) {
    const auto record = member(gid_of(w, "h-0003 HCA-1"));
    w.send_query<iba::sa::MCMemberRecord>([&](coro::MADSchedule& s) { return s.SubnAdmDelete(record); });
}
/// Returns the first alias GUID of h-0003.
std::string alias_guid(world& w) { return fmt::format("{}", w.get<iba::smp::GUIDInfo>("h-0003 HCA-1").GUIDBlock[1]); }
/// Returns the state of the subnet manager.
std::string manager_state(world& w) {
    return fmt::format("{}", value(w.get<iba::smp::SMInfo>("h-0001 HCA-1").SMState));
}
/// Returns the timers of the first two entries of h-0003's CACongestionSetting.
std::string timers(world& w) {
    const mad::IBPath to = w.path_to("h-0003 HCA-1");
    const auto s = w.send_query<iba::cc::CACongestionSetting>(
        [&](coro::MADSchedule& all) { return all.CongestionControlGet<iba::cc::CACongestionSetting>(to); });
    return fmt::format("{}/{}", s.congestionEntry[0].CCTITimer, s.congestionEntry[1].CCTITimer);
}
/// Returns two words of the vendor's configuration space.
std::string words_held(world& w) {
    return fmt::format("{}/{}", w.writes().words[0x10013c], w.writes().words[0x10014c]);
}
/// Returns the counter groups of the vendor's device.
std::string groups_held(world& w) { return fmt::format("{}/{}", w.writes().groups[0], w.writes().groups[1]); }
/// Returns the enabled speed and width of port 1 of leaf-0002.
std::string speed_and_width(world& w) {
    const auto info = w.get<iba::smp::PortInfo>("leaf-0002", 1);
    return fmt::format("{}/{}", info.linkSpeedEnabled, info.linkWidthEnabled);
}

/// Returns the expectations of all maps. The first map that has a fault counts.
template <class... Maps> expectations joined(expectations all, const Maps&... more) {
    (all.insert(more.begin(), more.end()), ...);
    return all;
}

/// Returns the rows of the matrix.
std::vector<row> table(const directory& files) {
    using enum write_fault;
    using smp_info = iba::smp::PortInfo;
    const std::string leaf = "leaf-0002", spine = "spine-0001", host = "h-0002 HCA-1";
    const auto is_down = [=](world& w) { w.set(leaf, 1, iba::PortState::Down, iba::PortPhysicalState::NoChange); };
    const auto is_disabled = [=](world& w) {
        for (const char* n : {"leaf-0002", "leaf-0003"})
            w.set(n, 1, iba::PortState::NoChange, iba::PortPhysicalState::Disabled);
    };
    const std::vector<std::pair<std::string, unsigned>> two{{leaf, 1}, {"leaf-0003", 1}}, bad{{spine, 1}, {host, 1}},
        one_bad{{spine, 1}};
    const auto all_bad = errors_at<PortCounters, PortCountersExt>(bad);
    const auto narrow_bad = errors_at<PortCounters>(one_bad);
    // A signal ends commands that read the whole subnet. The test checks what these commands did before the signal.
    const expectations of_sweeps{{stopped_done, {3, held::any, ""}},
                                 {stopped_lost, {3, held::before, "not"}},
                                 {refused, {3, held::before, "refused"}},
                                 {reply_lost_refused, {3, held::any, "refused"}},
                                 {device_lost, {3, held::any, "unknown whether"}}};
    std::ofstream(files / "guids") << "0x0002c90300000301\n"; // h-0003
    return {
        {{"ibportstate", "@leaf-0002", "1", "down"}, port_state({{leaf, 1}}), "2/5", {}, {}, {}, whole},
        {{"ibportstate", "@leaf-0002", "1", "reset"}, port_state({{leaf, 1}}), "2/5", {}, {}, {}, whole},
        {{"ibportstate", "@leaf-0002", "1", "enable"}, port_state({{leaf, 1}}), "2/5", {}, {}, {}, whole},
        {{"ibportstate", "@leaf-0002", "1", "disable"}, port_state({{leaf, 1}}), "1/3", {}, {}, {}, whole},
        {{"ibportstate", "@leaf-0002", "1", "on"}, port_state({{leaf, 1}}), "2/5", {}, is_disabled, {}, whole},
        {{"ibportstate", "@leaf-0002", "1", "arm"}, port_state({{leaf, 1}}), "3/5", {}, is_down, {}, whole},
        {{"ibportstate", "@leaf-0002", "1", "speed", "1", "width", "1"},
         speed_and_width,
         "1/1",
         "1/3",
         {},
         without_width},
        {{"ibportstate", "@h-0003 HCA-1", "1", "mkey", "0x55"},
         port_field<&smp_info::MKey>("h-0003 HCA-1", 1),
         "85",
         {},
         {},
         {},
         whole},
        {{"set_port_state", "--init", "leaf-0002@1", "leaf-0003@1"}, port_state(two), "2/5 2/5", {}, {}, {}, of_many()},
        {{"set_port_state", "--disable", "leaf-0002@1", "leaf-0003@1"},
         port_state(two),
         "1/3 1/3",
         {},
         {},
         {},
         of_many()},
        {{"set_port_state", "--enable", "leaf-0002@1", "leaf-0003@1"},
         port_state(two),
         "2/5 2/5",
         {},
         is_disabled,
         {},
         of_many()},
        {{"init_all_ports"}, active_ports, "0", {}, {}, {}, of_many()},
        {{"ibclearcounters"}, all_bad, "0/0", "4/0", {}, without_symbol_errors, of_sweeps},
        // The command does not query again after the last Set, because its port has counted nothing.
        {{"ibclearerrors"},
         all_bad,
         "0/0",
         "4/0",
         {},
         without_symbol_errors,
         joined({{stopped_done, {0, held::after, ""}}}, of_sweeps)},
        {{"ibqueryerrors", "--skip-sl", "-k", "-K"}, all_bad, "0/0", "4/0", {}, without_symbol_errors, of_sweeps, 1},
        {{"sweep", "--reset", "all", "--json"}, all_bad, "0/0", "4/0", {}, without_symbol_errors, of_sweeps},
        // 1 ms in ticks of 32 bytes of a lane. A signal ends the command without a result.
        {{"sample", "@h-0003 HCA-1"},
         [](world& w) { return std::to_string(w.counters<iba::pm::PortSamplesCtl>("h-0003 HCA-1", 1).sampleInterval); },
         "97656",
         {},
         {},
         {},
         joined({{refused, {1, held::before, "0x1c"}},
                 {stopped_done, {3, held::after, ""}},
                 {stopped_lost, {3, held::before, ""}}},
                whole)},
        {{"perfquery", "-R", "@spine-0001", "1"}, narrow_bad, "0/0", "1/0", {}, without_symbol_errors},
        {{"perfquery", "-R", "-a", "@spine-0001"}, narrow_bad, "0/0", "1/0", {}, without_symbol_errors},
        {{"perfquery", "-r", "@spine-0001", "1"}, narrow_bad, "0/0", "1/0", {}, without_symbol_errors},
        {{"perfquery", "-x", "-R", "@spine-0001", "1"},
         errors_at<PortCountersExt>(one_bad),
         "0/0",
         "1/0",
         {},
         without_symbol_errors},
        {{"query", "SubnSet", "PortInfo", "@leaf-0002", "-a", "1", "-f", "HOQLife=9"},
         port_field<&smp_info::HOQLife>(leaf, 1),
         "9",
         {},
         {},
         {},
         whole},
        {{"query", "SubnSet", "PortInfo", "@leaf-0002", "-a", "1", "-f", "portState=Down"},
         port_state({{leaf, 1}}),
         "2/5",
         {},
         {},
         {},
         whole},
        {{"query", "PerformanceSet", "PortCounters", "@spine-0001", "-f", "portSelect=1", "-f", "counterSelect=0xffff"},
         narrow_bad,
         "0/0",
         "1/0",
         {},
         without_symbol_errors},
        {{"set_guid", "@h-0003 HCA-1", "1", "0x1234"}, alias_guid, "0000:0000:0000:1234", {}, {}, {}, whole},
        {{"set_sminfo", "@h-0001 HCA-1", "acknowledge"}, manager_state, "2", {}, {}, {}, whole},
        {{"ibccconfig", "CS", "@h-0003 HCA-1", "0", "0x3", "150", "1", "0", "0"},
         timers,
         "150/150",
         "150/0",
         {},
         without_second_level},
        {{"ibccconfig", "CS", "--all", "0", "0x3", "150", "1", "0", "0"},
         timers,
         "150/150",
         "150/0",
         {},
         without_second_level,
         of_many()},
        {{"vendstat", "-W", "10013c,12", "-W", "10014c,13", "@leaf-0001"},
         words_held,
         "18/19",
         "18/0",
         {},
         without_second_word},
        {{"vendstat", "-c", "7,8", "@leaf-0001"}, groups_held, "7/8", "7/2", {}, without_second_group},
        // Leaving and joining a group are two writes. If a copy of the first write is lost or refused, the second write
        // counts.
        {{"mcm_rereg_test", files / "guids"},
         is_member,
         "member",
         {},
         leave_group,
         {},
         {{reply_lost_refused, {3, held::before, "not joined"}},
          {refused, {3, held::before, "not joined"}},
          {partly, {3, held::before, "not joined"}},
          {stopped_done, {3, held::before, "not joined"}},
          {stopped_lost, {3, held::before, "not joined"}},
          {device_lost, {3, held::before, "not joined"}}}},
        // A trap has no reply. Exit status 0 only means that the command sent the trap.
        {{"ibsendtrap"},
         [](world& w) { return std::to_string(w.writes().traps); },
         "1",
         {},
         {},
         {},
         joined({{ignored, {0, held::before, ""}},
                 {echoed, {0, held::before, ""}},
                 {request_lost, {0, held::before, ""}},
                 {refused, {0, held::before, ""}},
                 {stopped_done, {truthful, held::any, ""}},
                 {stopped_lost, {truthful, held::any, ""}},
                 {device_lost, {3, held::after, "it is unknown whether the trap was sent"}}},
                whole)},
    };
}

/// Returns the problems of a cell of the matrix; empty if there are none.
std::string check_cell(const row& r, write_fault fault) {
    const auto special = r.otherwise.find(fault);
    const expectation e = special != r.otherwise.end() ? special->second : usual().at(fault);
    const bool is_stopped = fault == write_fault::stopped_done || fault == write_fault::stopped_lost;
    world w(fault, r.part_of_a_write, is_stopped);
    if (r.prepare) r.prepare(w);
    const std::string before = r.state(w);
    words arguments = r.arguments;
    for (std::string& a : arguments)
        if (a.starts_with('@')) a = std::to_string(w.LID(a.substr(1)));
    // A node gets its next SMP only after the time limit of the Set that the signal interrupted.
    const words in_a_hurry = is_stopped ? words{"-t", "20"} : words{};
    const process_result done = run_here(w, arguments + words{"--fabric", "made:it"} + in_a_hurry);
    const std::string now = r.state(w);
    const auto wrong = [&](const std::string& what) {
        return fmt::format("{} [{}]: {}; exit code {}, device {} -> {}\nstdout: {}stderr: {}",
                           fmt::join(arguments, " "), names.at(fault), what, done.status, before, now, done.out,
                           done.err);
    };
    if (before == r.after) return wrong("there was nothing to do");
    if (e.code == truthful) {
        const bool is_true = now == r.after ? done.status == r.good || done.status == 3
                                            : done.status == 3 || r.arguments[0] == "ibsendtrap";
        if (!is_true) return wrong("not the truth");
    } else if (done.status != (e.code == 0 ? r.good : e.code)) {
        return wrong(fmt::format("expected {}", e.code));
    }
    if (done.err.find(e.line) == std::string::npos) return wrong(fmt::format("expected a line with '{}'", e.line));
    if (fault == write_fault::none && !done.err.empty()) return wrong("a message where all is well");
    if (e.state == held::before && now != before) return wrong("the device was not to change");
    if (e.state == held::after && now != r.after) return wrong("the device was to change");
    const bool is_part = r.part.empty() ? now != before && now != r.after : now == r.part;
    if (e.state == held::part && !is_part) return wrong("the device was to change in part");
    if (w.writes().writes == 0) return wrong("nothing was written");
    return {};
}

/// Adds the fabric kind `made:`, which opens the subnet of the current test.
void open_made_fabrics() {
    ibtool::add_fabric_kind("made", [](std::string_view) { return now_used->open(); });
}

} // namespace

TEST_CASE("each writing command reports what the device contains afterwards, whatever happens to its writes") {
    open_made_fabrics();
    const directory files;
    words wrong;
    std::size_t cells = 0;
    for (const row& r : table(files))
        for (const auto& [fault, name] : names) {
            ++cells;
            std::string problem;
            try {
                problem = check_cell(r, fault);
            } catch (const std::exception& e) {
                problem = fmt::format("{} [{}]: {}", fmt::join(r.arguments, " "), name, e.what());
            }
            if (!problem.empty()) wrong.push_back(std::move(problem));
        }
    INFO(wrong.size() << " of " << cells << " cells");
    for (const std::string& problem : wrong) CHECK(problem == "");
    CHECK(wrong.empty());
}

TEST_CASE("a link that the SM brings up at once counts as reset, and a link that never was down does not") {
    open_made_fabrics();
    const unsigned port = 1;
    const auto configure = [](world& w) {
        for (const iba::PortState state : {iba::PortState::Armed, iba::PortState::Active})
            w.set("leaf-0002", 1, state, iba::PortPhysicalState::NoChange);
    };
    const auto downs = [&](world& w) { return w.counters<PortCounters>("leaf-0002", port).linkDownedCounter; };
    const words fabric{"--fabric", "made:it"};
    for (const words& command : {words{"ibportstate", "@", "1", "down"}, words{"ibportstate", "@", "1", "reset"},
                                 words{"set_port_state", "--init", "leaf-0002@1"},
                                 words{"query", "SubnSet", "PortInfo", "@", "-a", "1", "-f", "portState=Down"}}) {
        CAPTURE(command);
        for (const write_fault fault : {write_fault::none, write_fault::echoed}) {
            CAPTURE(names.at(fault));
            world w(fault, {}, false);
            w.writes().on_answer = [&] { configure(w); };
            words arguments = command;
            std::replace(arguments.begin(), arguments.end(), std::string("@"), std::to_string(w.LID("leaf-0002")));
            const unsigned before = downs(w);
            const process_result r = run_here(w, arguments + fabric);
            CAPTURE(r.out, r.err);
            CHECK(w.get<iba::smp::PortInfo>("leaf-0002", port).portState == iba::PortState::Active);
            if (fault == write_fault::none) {
                CHECK(downs(w) == before + 1);
                CHECK(r.status == 0);
            } else {
                CHECK(downs(w) == before);
                CHECK(r.status == 3);
                CHECK_THAT(r.err, Contains(fmt::format("LinkDownedCounter is still {}", before)));
            }
        }
    }
}

TEST_CASE("each command and each option that writes has a row in the matrix of writes") {
    const directory files;
    const std::vector<row> rows = table(files);
    for (const ibtool::command& c : ibtool::all_commands()) {
        if (!c.writes || c.name == "set_nodedesc") continue; // it writes a file and has its own test
        CAPTURE(c.name);
        std::set<std::string> used;
        for (const row& r : rows)
            if (r.arguments[0] == c.name) used.insert(r.arguments.begin(), r.arguments.end());
        CHECK(used.contains(std::string(c.name)));
        ibtool::arguments taken;
        const auto action = c.declare(taken);
        for (const ibtool::argument& a : taken.all()) {
            const ibtool::argument_text* const text = ibtool::text_of_command(c.name).find(a);
            if (!text || text->brief.find("(writes)") == std::string::npos) continue;
            CAPTURE(a.names());
            if (c.name == "query" && a.names() == "--write")
                continue; // a raw request is not read back; see raw_query_test
            const words all = a.all_names();
            CHECK(std::any_of(all.begin(), all.end(), [&](const std::string& n) { return used.contains(n); }));
        }
    }
}

TEST_CASE("set_nodedesc reports for each device whether the description was written") {
    const directory sysfs;
    const auto device = [&](const std::string& name) {
        const std::string place = "infiniband/" + name + "/";
        sysfs.write(place + "node_type", "1: CA\n");
        sysfs.write(place + "node_guid", "0002:c903:0000:0001\n");
        sysfs.write(place + "ports/1/lid", "0x1\n");
        return sysfs.write(place + "node_desc", "old\n");
    };
    const std::string done = device("mlx5_0");
    const words command{"set_nodedesc", "--sysfs", sysfs / "", "new"};
    CHECK(run(command).status == 0);
    CHECK(read_file(done) == "new");
    const std::string ignoring = device("mlx5_1"), refusing = device("mlx5_2");
    std::filesystem::remove(ignoring);
    std::filesystem::create_symlink("/dev/null", ignoring);
    std::filesystem::remove(refusing);
    std::filesystem::create_directory(refusing);
    const process_result partly = run(command);
    CHECK(partly.status == 3);
    CHECK(partly.out == "mlx5_0: new\n");
    CHECK_THAT(partly.err, Contains("the name of mlx5_1 is '', but 'new' was written") &&
                               Contains("mlx5_2/node_desc: Is a directory"));
    CHECK(run(command + words{"-C", "mlx5_1"}).status == 1);
}

} // namespace ibtool_write_matrix_test
