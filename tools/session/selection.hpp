// SPDX-License-Identifier: MIT
// selection.hpp - the options by which users select nodes, ports and links: --name, --type, --guid, --guid-file, --exclude, --port-state,
// --speed and --width. All commands that have these options follow the rules of this file. Sends nothing.
#pragma once
#include "comad.hpp"
#include "input/arguments.hpp"
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/detail/link_words.hpp>

#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ibtool {

/// The values of these options, as the user wrote them.
struct selection_options {
    std::vector<std::string> names, types, guids, guid_files, excluded;
    std::vector<std::string> port_states, speeds, widths;
};

/// Declares the options. None of them may be an abbreviation of another option of the command.
void add_selection_options(arguments&, selection_options&);

/// What the options select. The default selects everything.
///
/// A node is selected if it matches each kind of option (name, type, GUID) that was given; several values of one kind are alternatives.
/// --exclude removes nodes again. A port is selected if its node is, and if it matches each of --port-state, --speed and --width that
/// was given.
class subnet_selection {
public:
    subnet_selection() = default;
    /// Reads the files and checks the values. Throws usage_error for a wrong value, and std::runtime_error with one line for a file that
    /// cannot be read.
    explicit subnet_selection(const selection_options&);

    /// Returns whether everything is selected.
    bool is_all() const noexcept { return !has_kinds() && excluded_.empty() && !has_port_rules(); }
    /// Returns whether ports are selected by state, speed or width.
    bool has_port_rules() const noexcept { return !states_.empty() || speeds_ != 0 || !widths_.empty(); }
    /// Returns whether a node is selected by the options about nodes.
    bool wants(const discovery::node&, const discovery::node_names&) const;
    /// Returns whether --exclude removes a node.
    bool excludes(const discovery::node&, const discovery::node_names&) const;
    /// Returns whether a port matches the options about ports. Port 0 of a switch matches only if there are none.
    bool wants_port(const discovery::subnet&, discovery::port_ref) const;
    /// Returns a line for each value, other than those of port options, that matches no node of the subnet: `--name 'x*' matches no node`.
    /// The lines of a file are counted.
    std::vector<std::string> unmatched(const discovery::subnet&, const discovery::node_names&) const;

private:
    /// A shell pattern for names, or a GUID.
    struct pattern {
        std::string option, text;
        std::optional<iba::guid> GUID; ///< only for --exclude
        bool matches(const discovery::node&, const std::string& name) const;
    };
    struct guid_list {
        std::string option;
        std::vector<iba::guid> GUIDs;
        bool is_file = false;
    };
    bool has_kinds() const noexcept { return !names_.empty() || !types_.empty() || !guid_lists_.empty(); }
    void read_guids(const std::vector<std::string>& words, const std::vector<std::string>& files);
    bool has_guid_of(const discovery::node&) const;

    std::vector<pattern> names_, excluded_;
    std::vector<iba::NodeType> types_;
    std::vector<guid_list> guid_lists_;
    std::unordered_set<iba::guid> guids_; // of all lists
    std::set<iba::PortState> states_;
    iba::lane_speeds speeds_ = 0;
    std::set<iba::LinkWidth> widths_;
};

/// The selected nodes, ports and links of one subnet. The subnet in the arguments must be this subnet, or a copy of it.
class selected_parts {
public:
    selected_parts(const subnet_selection&, const discovery::subnet&, const discovery::node_names&);

    /// Returns whether the options about nodes select at least one node.
    bool has_nodes() const noexcept { return has_nodes_; }
    /// Throws std::runtime_error with one line if they select none.
    void require_nodes() const;
    /// Returns whether a node is selected and, if there are port options, has at least one port that matches them.
    bool node(u32 n) const { return nodes_[n]; }
    /// Returns whether a port is selected.
    bool port(const discovery::subnet&, discovery::port_ref) const;
    /// Returns whether an output that lists each link at both ends contains this end: its port is selected, and its neighbor is not
    /// excluded. A port without a neighbor needs only to be selected.
    bool link_end(const discovery::subnet&, discovery::port_ref) const;
    /// Returns whether an output that lists each link once contains it: at least one end is selected, and none is excluded.
    bool link(const discovery::subnet&, discovery::port_ref) const;
    /// Returns the lines of subnet_selection::unmatched(), for stderr.
    const std::vector<std::string>& notes() const noexcept { return notes_; }

private:
    subnet_selection selection_;
    std::vector<bool> wanted_, nodes_, excluded_; // by index: by the options about nodes; also with a matching port
    bool has_nodes_ = true;
    std::vector<std::string> notes_;
};

/// Throws std::runtime_error with one line: the options select no node. `notes`: as selected_parts::notes().
[[noreturn]] void refuse_empty_selection(const std::vector<std::string>& notes);

/// Throws std::runtime_error with one line: the options exclude the node that the command names. `name`: escaped for a terminal.
[[noreturn]] void refuse_excluded_target(const std::string& name);

/// Returns the selected nodes, and the links of which at least one end is selected. The other nodes of these links have
/// node::known == extent::links_only, so that formats show them only as neighbors. Order and routes are those of the whole subnet.
/// `keeps_start`: nodes[0] stays nodes[0], as a neighbor if it is not selected, for formats that name the start.
discovery::subnet reduced(const discovery::subnet&, const selected_parts&, bool keeps_start);
/// Returns two subnets of one fabric, each reduced to the nodes and links that are selected in at least one of them, with their starts. A
/// link that was selected before and still exists is thus in both, even if it has another speed now.
std::pair<discovery::subnet, discovery::subnet> reduced_for_comparison(const discovery::subnet& before,
                                                                       const selected_parts& old_parts,
                                                                       const discovery::subnet& now,
                                                                       const selected_parts& new_parts);
/// Returns the subnet itself if everything is selected, else the reduced one with its start. The lines of notes() go to `notes`, if it is
/// not null. Throws std::runtime_error with one line if the options select no node.
discovery::subnet reduced(discovery::subnet, const subnet_selection&, const discovery::node_names&,
                          std::vector<std::string>* notes = nullptr, bool keeps_start = true);

} // namespace ibtool
