// SPDX-License-Identifier: MIT
// known_fabric.hpp - remembers the nodes and links of a fabric, and determines which of them are missing now. Sends no MAD and reads no
// file.
//
//     discovery::known_fabric known;
//     known.take(first, schedule.now()); // the results of discoveries
//     known.take(second, schedule.now());
//     for (const discovery::known_node& n : known.missing()->nodes) fmt::print("{} is missing\n", n.nodeGUID);
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/mad/detail/time.hpp>

#include <compare>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comad::discovery {

/// A node that was found or is expected.
struct known_node {
    iba::guid nodeGUID;
    iba::NodeType nodeType;
    std::string description; ///< NodeDescription as received: any bytes
};

/// A port of such a node.
struct known_end {
    iba::guid nodeGUID;
    u8 port = 0;
    friend auto operator<=>(const known_end&, const known_end&) = default;
};

/// A link. `a` is the end with the smaller GUID and port number, so that each link has one representation.
struct known_link {
    known_end a, b;
    friend auto operator<=>(const known_link&, const known_link&) = default;
};

/// The known nodes and links that a discovery did not find.
struct missing_parts {
    enum class cause : u8 {
        node,      ///< one of its nodes is missing, and the other end does not report a link that is down
        down,      ///< an end reports that its link is down
        no_answer, ///< both nodes were found, but no reply arrived through this cable
        moved,     ///< one end has a cable to another port now (only for expected links)
    };
    struct link {
        known_link ends;
        cause why;
    };
    std::vector<known_node> nodes; ///< sorted by GUID: nodes that were not found
    std::vector<link> links;       ///< sorted by their ends: links that are not up
    std::vector<known_node> ends;  ///< sorted by GUID: the nodes of these links, including those that were found
    std::vector<std::pair<known_end, known_end>> far_ends; ///< the other end for each end of these links, sorted
    std::size_t known_nodes = 0, known_links = 0;          ///< numbers of known nodes and links, including missing ones

    /// Returns the node at an end of a missing link; null: no missing link has this node.
    const known_node* find(iba::guid) const;
    /// Returns the other end of the missing link at this port; nullopt: no link is missing there.
    std::optional<known_end> far_end(known_end) const;
    /// Returns the other end of the only missing link of a node; nullopt: it has none or several.
    std::optional<known_end> only_far_end(iba::guid) const;
    /// Returns the number of links that are reported as down: all except those with cause::node.
    std::size_t links_down() const;
};

/// Remembers every node and link that was ever found. A node has the description from the last discovery that found it. If one end of a
/// link has a cable to another port now, the link is replaced and not missing.
///
/// Memory:   everything that was found last, and of the missing parts the most_missing_nodes nodes and most_missing_links links that went
///           missing last. In a fabric with 48,000 LIDs that was replaced completely, this is at most 100 MB.
/// Errors:   none.
/// Lifetime: the object copies what it needs from the subnets.
/// Threads:  one at a time. Any thread can read the result of missing().
class known_fabric {
public:
    using node_filter = std::function<bool(const node&)>;
    /// The number of unicast LIDs (IBA 4.1.3), and an upper bound for the cables of a three-level fat tree with that many hosts.
    static constexpr std::size_t most_missing_nodes = 0xbfff, most_missing_links = 4 * most_missing_nodes;

    /// `wants`: selects the nodes, and links between them, that are remembered; empty: all. `forget_after`: how long missing ones are
    /// remembered; nullopt: forever.
    explicit known_fabric(node_filter wants = {}, std::optional<mad::duration> forget_after = {})
        : wants_(std::move(wants)), forget_after_(forget_after) {}

    /// Sets the expected subnet in place of the previous one. Expected parts stay expected whatever is found, and however long they are
    /// missing. Takes effect with the next take().
    void expect(const subnet&);
    /// Forgets parts that are missing and not expected. Returns the number of these nodes and links. Takes effect with the next take().
    std::size_t forget_missing();
    /// Takes the result of a discovery, and its time. A discovery that ended early, with a failure of kind `cancelled` or `limit`, adds
    /// what it found. Known parts that it did not find are missing only if it was missing before.
    void take(const subnet&, mad::time_point now);
    /// Returns whether `forget_after` of a missing part has ended: then call take() again.
    bool has_to_forget(mad::time_point now) const noexcept { return forget_at_ && *forget_at_ <= now; }

    /// Returns the missing parts as of the last take(); null before. The object does not change any more.
    const std::shared_ptr<const missing_parts>& missing() const noexcept { return missing_; }
    /// Returns whether take() ever had to forget a part for lack of space.
    bool is_full() const noexcept { return is_full_; }

private:
    using since = std::optional<mad::time_point>; // missing since then; nullopt: not missing
    struct learned_node {
        known_node node;
        bool is_wanted;
        since missing_since;
    };
    struct learned_link {
        known_link link;
        since missing_since;
    };
    struct found_parts;

    bool wants(const node& n) const { return !wants_ || wants_(n); }
    void learn(found_parts&, mad::time_point now);
    void forget_old(mad::time_point now);
    void find_missing(const subnet&, const found_parts&);

    node_filter wants_;
    std::optional<mad::duration> forget_after_;
    std::vector<known_node> expected_nodes_;  // sorted by GUID: expected nodes that are wanted, and ends of links
    std::vector<bool> is_expected_;           // for expected_nodes_: wanted, not only the end of a link
    std::vector<known_link> expected_links_;  // sorted
    std::vector<known_end> expected_ends_;    // ends of the expected links, sorted
    std::vector<learned_node> learned_nodes_; // sorted by GUID
    std::vector<learned_link> learned_links_; // sorted
    std::optional<mad::time_point> forget_at_;
    std::shared_ptr<const missing_parts> missing_;
    bool is_full_ = false;
};

/// `down`, `timeout`, `moved`; of cause::node: empty.
std::string_view name_of(missing_parts::cause) noexcept;

} // namespace comad::discovery
