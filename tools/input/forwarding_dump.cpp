// SPDX-License-Identifier: MIT
// forwarding_dump.cpp - parses a dump of forwarding tables: headings with a switch's GUID, and rows with a LID and a port.
#include "input/forwarding_dump.hpp"

#include "comad.hpp"
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace ibtool {

using discovery::switch_forwarding;

namespace {

/// Returns the first word, and removes it from the text.
std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t\r"));
    text.remove_prefix(word.size());
    return word;
}

/// Reads the tables of a dump, line by line.
class dump_reader {
public:
    /// The longest line is a heading with a route of up to 63 hops and a node's name.
    static constexpr std::size_t longest_line = 1023;

    dump_reader(const std::string& file, const discovery::subnet& s) : file_(file), subnet_(s) {
        tables_.of_node.resize(s.nodes.size());
    }

    discovery::forwarding_tables read(iba::text_lines& in) {
        while (const auto next = in.next()) {
            number_ = in.number();
            const std::string_view line = *next;
            if (line.starts_with("Unicast lids ")) take_heading(line);
            else if (line.starts_with("Multicast ")) is_unicast_ = false;
            else if (line.starts_with("0x") && is_unicast_) take_row(line);
        }
        close();
        return std::move(tables_);
    }

private:
    /// Parses `Unicast lids [0x0-0x24] of switch Lid 9 guid 0x0002c90200423ab0 (name):`.
    void take_heading(std::string_view line) {
        switch_ = nullptr;
        is_unicast_ = true;
        std::string_view last = line.substr(0, line.find(']'));
        last.remove_prefix(std::min(last.find('-'), last.size() - 1) + 1);
        const auto last_lid = iba::parse_number(last);
        constexpr std::string_view before_guid = " guid ";
        std::string_view rest = line.substr(std::min(line.find(before_guid), line.size()));
        rest.remove_prefix(std::min(before_guid.size(), rest.size()));
        const auto GUID = iba::parse_guid_number(take_word(rest));
        if (!last_lid || last_lid->value > discovery::lid_index::last_unicast_lid || !GUID)
            fail("invalid table heading; expected 'Unicast lids [FIRST-LAST] of switch ... guid GUID'");
        const auto known = subnet_.by_guid.find(iba::guid{GUID->value});
        if (known == subnet_.by_guid.end() || !subnet_.nodes[known->second].is_switch()) return;
        switch_ = &tables_.of_node[known->second];
        switch_->is_known = true;
        lengthen(static_cast<unsigned>(last_lid->value));
    }

    /// Parses `0x0004 003 : (...)`, with a `#` in files of OpenSM, or `0x0004 : UNREACHABLE`.
    void take_row(std::string_view line) {
        const auto LID = iba::parse_number(take_word(line));
        const std::string_view out = take_word(line);
        const auto port = out == ":" ? iba::parsed_number{discovery::not_forwarded} : iba::parse_digits(out, 10);
        if (!LID || LID->value > discovery::lid_index::last_unicast_lid || !port || port->value > 255)
            fail("expected a LID and a port");
        if (!switch_) return;
        lengthen(static_cast<unsigned>(LID->value));
        switch_->unicast[LID->value] = static_cast<u8>(port->value);
    }

    void lengthen(unsigned last_lid) {
        constexpr unsigned block = switch_forwarding::lids_per_block;
        switch_->last_lid = std::max(switch_->last_lid, last_lid);
        switch_->unicast.resize((switch_->last_lid / block + 1) * block, discovery::not_forwarded);
    }

    void close() {
        bool is_any_known = false;
        for (u32 n = 0; n < subnet_.nodes.size(); ++n) {
            if (!subnet_.nodes[n].is_switch()) continue;
            is_any_known = is_any_known || tables_.of_node[n].is_known;
            if (!tables_.of_node[n].is_known)
                tables_.failures.push_back({discovery::failure_kind::other, subnet_.location_of({n, 0}),
                                            "its forwarding table is not in the file"});
        }
        if (!is_any_known)
            throw std::runtime_error(
                fmt::format("no forwarding table in {} belongs to a switch of this subnet; give the output of "
                            "dump_lfts, or OpenSM's opensm-lfts.dump",
                            iba::as_given(file_)));
    }

    [[noreturn]] void fail(std::string_view why) const {
        throw std::runtime_error(fmt::format("{}:{}: {}", iba::escaped(file_), number_, why));
    }

    const std::string& file_;
    const discovery::subnet& subnet_;
    discovery::forwarding_tables tables_;
    unsigned number_ = 0;
    bool is_unicast_ = false;             // the latest heading starts a unicast table
    switch_forwarding* switch_ = nullptr; // the switch of the latest heading; null: not in the subnet
};

} // namespace

discovery::forwarding_tables read_forwarding_dump(const std::string& file, const discovery::subnet& s) {
    // Reads only one line into memory at a time, because the file of a subnet with 10,000 hosts has a size of half a gigabyte.
    iba::text_lines in(file, dump_reader::longest_line);
    return dump_reader(file, s).read(in);
}

} // namespace ibtool
