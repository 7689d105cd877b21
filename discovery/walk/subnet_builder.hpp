// SPDX-License-Identifier: MIT
// subnet_builder.hpp - the subnet database while it is being filled, by one rail or by several at once: what the answers mean,
// what is missing, what is left to be asked. Knows no schedule.
#pragma once
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/mad/error.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace comad::discovery {

/// What a rail asks for.
enum class topic : u8 { neighbour, node, port, switch_info, description };

/// How an SMP gets to where it is asked.
enum class way : u8 {
    directed,
    from_lid, ///< a directed route of one hop, through the switch with a LID that is in front
    by_lid,
};

struct smp_query {
    topic what;
    u32 node;
    u8 port = 0;                              ///< of neighbour: the port to go through; of port: the one to read
    mad::IBDRPath route;                      ///< the asking rail's to the node; of port: by which it enters
    bool is_second = false;                   ///< it had no answer before
    bool understands_extended_speeds = false; ///< of port: says so, because what it was told may lack them
};

/// Everything is safe to call from the threads of all rails; with one rail nothing is locked. Indices of nodes hold until
/// order_from().
class subnet_builder {
public:
    /// `asks_twice`: what had no answer is asked again at the end, when the fabric is quiet.
    subnet_builder(const discover_options& options, bool shared, bool asks_twice)
        : options_(options), shared_(shared), asks_twice_(asks_twice) {}

    /// Who says what it found.
    struct asker {
        u32 rail;
        unsigned most_readers; ///< SMPs that a node may have in flight from it
        bool is_idle = false;  ///< it has nothing else to ask
    };
    /// The node that an answer came from, and what is to be asked there now.
    struct meeting {
        u32 node = port_ref::npos; ///< nobody: there is a contradiction, and it is noted
        unsigned readers = 0;
        bool is_other_port = false; ///< of a node with several: it answers for itself, by its own way
        bool is_back = false;       ///< it was known before: what it says of itself may be another
    };

    // ---- how long
    /// The first rail begins: from here max_time counts.
    void start_clock(mad::time_point now);
    /// When it is over: nothing where it is not limited.
    std::optional<mad::time_point> end() const;
    /// It goes on with the time of another one.
    void ends_at(mad::time_point);
    /// What is left of it; duration::max() where it is not limited.
    mad::duration time_left(mad::time_point now) const;
    /// Nothing is left of it.
    void note_time_over();

    // ---- what is known before it begins
    /// Whether a discovery that begins there is one of the same subnet, at the same place.
    bool is_start_of(const subnet& known, const iba::smp::NodeInfo&) const;
    /// Begins with this: its ports that are doubtful are to be asked again, once a way leads there, and have no link until then.
    void begin_with(const subnet& known, std::span<const port_ref> doubtful);

    // ---- who is there
    meeting begin(const iba::smp::NodeInfo&, const mad::IBDRPath& local, const asker&);
    meeting meet(port_ref from, const iba::smp::NodeInfo&, const mad::IBDRPath& route, const asker&);
    /// False: what is behind the port is known by now, or too far away, which is noted.
    bool is_open(const smp_query& neighbour);

    // ---- what they are
    /// What a reader of the node asks next; nothing: it ends.
    std::optional<smp_query> next_step(u32 node, const mad::IBDRPath& route);
    struct port_state {
        bool leads_on; ///< to a neighbour that is not known yet
        bool may_be_fdr10;
    };
    port_state take(u32 node, u8 port, const iba::smp::PortInfo&, bool is_start);
    /// Ports that may hide extended speeds, now that this one has answered (or refused, if it was asked as one that understands them),
    /// and are to be asked again: one of a node first, and the others if that one hid something.
    std::vector<u8> hiding_ports(u32 node, u8 port, bool was_understanding);
    void take(u32 node, u8 port, const iba::smp::MlnxExtPortInfo&);
    void take(u32 node, const iba::smp::SwitchInfo&);
    void take(u32 node, const iba::smp::NodeDescription&);
    struct routed_path {
        way by;
        mad::any_path path;
    };
    /// The directed route for an SMP to a port of a known node, to where it begins, and to whoever is behind a port.
    mad::IBDRPath path_to(u32 node, u8 port, const mad::IBDRPath& route) const;
    mad::IBDRPath path_to_start() const { return with_key({}, options_.start_portGUID); }
    mad::IBDRPath path_beyond(const smp_query& neighbour) const;
    /// The way with the fewest agents on it, if SMPs may go by LIDs; else the directed route, which is `directed`.
    routed_path best_path(const smp_query&, const mad::IBDRPath& directed) const;
    /// An SMP had an answer on this way.
    void answered_by(way);
    /// It had none on this way, but by the directed route: if none ever had one on this way, no other takes it.
    void failed_by(way);
    /// Where an SMP had no answer on this way: whether it is time for the directed route, or that comes at the end, when the fabric
    /// is quiet.
    bool is_directed_next(way) const;
    /// Two end ports have one LID, and so what was asked by LIDs may have been answered by another.
    bool has_doubled_lids() const noexcept { return !lids_.duplicates().empty(); }

    // ---- what goes wrong
    /// A query had no good answer. What a rail's own end port lost is left to other rails.
    void failed(const smp_query&, const mad::mad_error&, const mad::IBDRPath& went, std::string_view what);
    void rail_failed(iba::guid nodeGUID, u8 port, std::string text);

    // ---- at the end of a round, in one thread
    /// Breadth-first order and routes as seen from there.
    void order_from(iba::guid start, u8 start_port);
    /// Questions that are left and can be asked from where the order begins.
    std::vector<smp_query> take_up_left();
    subnet finish(bool stopped);

private:
    // How far the reading of a node has come; its readers share it.
    struct reading {
        unsigned next_step = 0;
        unsigned readers = 0;
        unsigned timeouts_in_a_row = 0;
        u32 latest_rail = 0; // that began to read it
        bool given_up = false;
        bool is_second = false;
        enum class hiding : u8 { unknown, asked, nothing, something } hides = hiding::unknown; // extended speeds
        std::bitset<256> asked_again{};                                                        // ports, for them
    };
    enum class left_by : u8 {
        doubt,    // it was known before, and may have changed
        distance, // it is up, but at the end of the longest route
        failure,  // of the rail that asked
        silence,
    };
    struct remaining_query {
        topic what;
        iba::guid nodeGUID;
        u8 port;
        left_by cause;
        unsigned next_step = 0; // of node: where to go on reading
    };

    std::unique_lock<std::mutex> guard() const {
        return shared_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
    }
    bool trusts(way) const;
    iba::lid leading_lid(port_ref) const;
    bool is_too_far(port_ref, const mad::IBDRPath& route) const;
    void doubt_port(port_ref);
    meeting add_node(const iba::smp::NodeInfo&, const mad::IBDRPath& route, unsigned hops, const asker&);
    bool is_full();
    bool lacks_memory();
    bool is_ending() { return lacks_memory() || has_doubled_lids(); }
    void note_limit(std::string text);
    unsigned help(u32 node, const asker&);
    bool connect(port_ref a, port_ref b, iba::guid portGUID_b, const mad::IBDRPath& route);
    void contradict(port_ref where, const mad::IBDRPath& route, std::string text, iba::guid doubledGUID = {});
    void doubt(const iba::smp::NodeInfo&, const mad::IBDRPath& route, std::string text);
    failure failure_of(const smp_query&, const mad::mad_error&, const mad::IBDRPath& went, std::string_view what) const;
    void add_failure(failure, bool is_behind);
    mad::IBDRPath with_key(mad::IBDRPath route, iba::guid port) const;

    const discover_options options_;
    const bool shared_;
    const bool asks_twice_;
    mutable std::mutex mutex_;
    subnet found_;
    std::vector<bool> is_behind_;   // of each failure: it is about what is behind the port
    std::vector<reading> readings_; // by node index
    std::vector<remaining_query> left_;
    std::unordered_set<iba::guid> known_before_; // since before it began, and not met yet
    u32 reached_ = 0;                            // nodes that a way leads to, which come first
    std::size_t ports_ = 0;                      // of all nodes
    lid_index lids_;                             // where SMPs may go by LIDs
    enum class experience : u8 { none, good, bad };
    std::array<experience, 3> ways_{};    // by way
    std::optional<mad::time_point> ends_; // by max_time
    std::string limit_;                   // the one that was reached, in words; empty: none
};

} // namespace comad::discovery
