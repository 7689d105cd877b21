// SPDX-License-Identifier: MIT
// known_fabric.hpp - the nodes and links that a fabric is known to have, and which of them are missing now. Sends no MAD and reads
// no file.
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

namespace ibtool {

struct known_node {
    comad::iba::guid nodeGUID;
    comad::iba::NodeType nodeType;
    std::string description; ///< NodeDescription as received: any bytes
};

struct known_end {
    comad::iba::guid nodeGUID;
    comad::u8 port = 0;
    friend auto operator<=>(const known_end&, const known_end&) = default;
};

/// A cable. `a` is the end with the smaller GUID and port number, so that each cable has one form.
struct known_link {
    known_end a, b;
    friend auto operator<=>(const known_link&, const known_link&) = default;
};

/// What is known and missing after a discovery.
struct missing_parts {
    enum class cause : comad::u8 {
        node,      ///< a node of it is missing, and the other end does not report a link that is down
        down,      ///< an end reports that its link is down
        no_answer, ///< both nodes were found, but nothing answers through this cable
        moved,     ///< an end of it is cabled to another port now (only of links that were expected by name)
    };
    struct link {
        known_link ends;
        cause why;
    };
    std::vector<known_node> nodes; ///< by GUID: those that were not found
    std::vector<link> links;       ///< by their ends: those that are not up
    std::vector<known_node> ends;  ///< by GUID: the nodes of these links, also those that were found
    std::vector<std::pair<known_end, known_end>> far_ends; ///< of these links from either end, sorted
    std::size_t known_nodes = 0, known_links = 0;          ///< all, those that are missing included

    /// The node that a missing link names; null: no missing link names it.
    const known_node* find(comad::iba::guid) const;
    /// The other end of the missing link in that port; nothing: there is none.
    std::optional<known_end> far_end(known_end) const;
    /// The other end of the only missing link of a node; nothing: it has none or several.
    std::optional<known_end> only_far_end(comad::iba::guid) const;
    /// Links that are reported as down: all but those with cause::node.
    std::size_t links_down() const;
};

/// Remembers every node and link that was ever found, until somebody says otherwise. Descriptions are those of the last discovery that
/// found the node. A link is replaced, not missing, when one of its ends is cabled to another port.
///
/// Memory: it keeps all that was found last, and of what is missing the most_missing_nodes and most_missing_links that went last. In a fabric
/// with 48,000 LIDs in which everything was replaced that is at most 100 MB.
class known_fabric {
public:
    using node_filter = std::function<bool(const comad::discovery::node&)>;
    /// As many as there are unicast LIDs (IBA 4.1.3), and the cables of a fat tree of three levels with so many hosts, with room.
    static constexpr std::size_t most_missing_nodes = 0xbfff, most_missing_links = 4 * most_missing_nodes;

    /// `wants`: which nodes, and links of them, are remembered; empty: all. `forget_after`: how long those are remembered that are
    /// missing; nothing: for ever.
    explicit known_fabric(node_filter wants = {}, std::optional<comad::mad::duration> forget_after = {})
        : wants_(std::move(wants)), forget_after_(forget_after) {}

    /// What ought to be there, in place of what was expected before. It stays expected whatever is found, and however long it is
    /// missing. Takes effect with the next take().
    void expect(const comad::discovery::subnet&);
    /// Forgets what is missing and not expected. Returns how many nodes and links those were. Takes effect with the next take().
    std::size_t forget_missing();
    /// What was found, and when. A discovery that ended early (failure_kind::cancelled or limit) adds what it found; what it did not find is
    /// missing only if it was missing before.
    void take(const comad::discovery::subnet&, comad::mad::time_point now);
    /// Whether the time has come to forget something: then take() has to be called again.
    bool has_to_forget(comad::mad::time_point now) const noexcept { return forget_at_ && *forget_at_ <= now; }

    /// As of the last take(); null before. It does not change any more.
    const std::shared_ptr<const missing_parts>& missing() const noexcept { return missing_; }
    /// Whether any take() had to forget something because there was no room for it.
    bool is_full() const noexcept { return is_full_; }

private:
    using since = std::optional<comad::mad::time_point>; // missing since then; nothing: it is there
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

    bool wants(const comad::discovery::node& n) const { return !wants_ || wants_(n); }
    void learn(found_parts&, comad::mad::time_point now);
    void forget_old(comad::mad::time_point now);
    void find_missing(const comad::discovery::subnet&, const found_parts&);

    node_filter wants_;
    std::optional<comad::mad::duration> forget_after_;
    std::vector<known_node> expected_nodes_;  // by GUID, those that are wanted and the ends of links
    std::vector<bool> is_expected_;           // of expected_nodes_: wanted, not only the end of a link
    std::vector<known_link> expected_links_;  // sorted
    std::vector<known_end> expected_ends_;    // of these, sorted
    std::vector<learned_node> learned_nodes_; // by GUID
    std::vector<learned_link> learned_links_; // sorted
    std::optional<comad::mad::time_point> forget_at_;
    std::shared_ptr<const missing_parts> missing_;
    bool is_full_ = false;
};

/// `down`, `timeout`, `moved`; of cause::node: empty.
std::string_view name_of(missing_parts::cause) noexcept;

} // namespace ibtool
