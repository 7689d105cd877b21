// SPDX-License-Identifier: MIT
// read.cpp - the parser of topology files. It uses a line completely or not at all.
#include "cursor.hpp"
#include "description.hpp"
#include "numbered_lines.hpp"
#include "read_subnet_lst.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/topology_file/detail/read.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace comad::topology_file {
namespace {

using iba::NodeType;

/// Why a line, or a part of it, cannot be used.
struct defect {
    std::string what, remedy;
};

/// The remote end of a link, as a line names it.
struct named_end {
    u32 node;
    u8 port, remote_port; // remote_port 0: the port that the alias names
    unsigned line;
    std::string remote_id;
    std::optional<iba::guid> remote_guid;
    std::optional<std::string> remote_description;
    std::optional<iba::lid> remote_lid;
};

/// A port of a node, by index.
struct link_end {
    u32 node;
    u8 port;
};

u64 guid_in_id(std::string_view id) noexcept {
    if (id.size() != 18 || id[1] != '-' || std::string_view("SHR").find(id[0]) == std::string_view::npos) return 0;
    cursor c{id.substr(2)};
    if (c.rest.starts_with("0x") || c.rest.starts_with("0X")) return 0;
    const auto number = c.number(16);
    return number && c.rest.empty() ? *number : 0;
}

NodeType type_in_id(std::string_view id) noexcept {
    return id[0] == 'S' ? NodeType::Switch : id[0] == 'R' ? NodeType::Router : NodeType::CA;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Assigns GUIDs to nodes whose GUID is not in the file: like ibsim, it counts up from the last GUID in the file.
struct guid_counter {
    u64 base, next;
    bool is_of_this_stanza = false;

    void set(u64 number, bool relative) noexcept {
        if (!relative) base = number;
        next = relative ? base + number : number;
        is_of_this_stanza = true;
    }
    u64 take(u64 how_many) noexcept { return std::exchange(next, next + how_many); }
};

/// Returns a quotation from the file for messages, truncated.
std::string cut(std::string_view text) {
    constexpr std::size_t most = 100;
    return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "...";
}

/// Parses the lines of a topology file.
class reader {
public:
    reader(std::string_view name, reading how) : name_(name), how_(how) {}

    contents read(std::string_view text) {
        is_double_spaced_ = is_double_spaced(text);
        for (line_reader in(text); in.next();) {
            line_ = in.number();
            try {
                if (in.had_byte_order_mark()) skip_mark();
                read_line({in.line()});
            } catch (const defect& d) {
                skip(line_, d);
            }
        }
        end_pending();
        if (contents_.nodes.empty())
            fail(line_, {"the file contains no nodes",
                         "expected a topology file of ibnetdiscover or ibsim, or a list of links (.lst)"});
        for (named_end& end : ends_) connect(end);
        finish();
        return std::move(contents_);
    }

private:
    [[noreturn]] void fail(unsigned line, const defect& d) const {
        // The message quotes the file, which may contain any bytes.
        throw std::runtime_error(
            fmt::format("{}:{}: {}; {}", iba::escaped(name_), line, iba::escaped(d.what), d.remedy));
    }

    /// Counts a line that is skipped, entirely or in part.
    void skip(unsigned line, const defect& d) {
        if (how_ == reading::strict) fail(line, d);
        skipped& s = contents_.skipped;
        if (line == last_skipped_) return;
        last_skipped_ = line;
        ++s.lines;
        if (s.first_line != 0 && s.first_line <= line) return;
        s.first_line = line;
        s.first_reason = iba::escaped(d.what);
    }

    void skip_mark() {
        if (how_ == reading::strict) fail(line_, {"the line has a byte-order mark", "save the file without it"});
        if (contents_.skipped.marks++ == 0) contents_.skipped.first_mark = line_;
    }

    // ---- stanzas ----------------------------------------------------------------------------------------------------

    void read_line(cursor c) {
        if (c.rest.empty()) {
            is_after_blank_ = !is_double_spaced_;
            return;
        }
        if (c.rest.starts_with('#')) return read_remark(c.rest);
        if (c.rest.starts_with("Chassis ") || c.rest.starts_with("Non-Chassis") || c.rest.starts_with("Hostname: "))
            return; // headings of ibnetdiscover -g
        const bool is_after_blank = std::exchange(is_after_blank_, false);
        if (c.rest.starts_with('[')) return read_port(c, is_after_blank);
        if (c.eat("@")) return read_alias(c);
        if (const auto type = read_keyword(c)) return read_node(c, *type);
        read_setting(c);
    }

    // # Initiated from node 0002c90300000100 port 0002c90300000101
    void read_remark(std::string_view line) {
        if (line == lacks_nodes_remark) contents_.may_lack_nodes = true;
        if (line == lacks_ports_remark && current_ != no_node) lose_port(contents_.nodes[current_]);
        cursor c{line};
        if (value(contents_.start_nodeGUID) != 0 || !c.eat("# Initiated from node ")) return;
        const auto node = c.number(16);
        if (!node || !c.eat(" port ")) return;
        const auto port = c.number(16);
        if (!port) return;
        contents_.start_nodeGUID = iba::guid{*node};
        contents_.start_portGUID = iba::guid{*port};
    }

    /// Parses `Switch`, `Ca`, `Hca` or `Rt`. The tab after the keyword may be lost.
    static std::optional<NodeType> read_keyword(cursor& c) noexcept {
        static constexpr std::pair<std::string_view, NodeType> keywords[] = {
            {"Switch", NodeType::Switch}, {"Hca", NodeType::CA}, {"Ca", NodeType::CA}, {"Rt", NodeType::Router}};
        for (const auto& [word, type] : keywords) {
            cursor behind = c;
            if (!behind.eat(word)) continue;
            if (!behind.rest.empty() && blanks.find(behind.rest.front()) == blanks.npos &&
                !is_digit(behind.rest.front()) && behind.rest.front() != '"')
                continue;
            c = behind;
            return type;
        }
        return std::nullopt;
    }

    guid_counter& guids_of(NodeType type) noexcept {
        return type == NodeType::Switch ? switches_ : type == NodeType::CA ? cas_ : routers_;
    }

    // vendid=0x2c9, switchguid=0x1(1), hcaguids+16
    void read_setting(cursor c) {
        const std::string_view line = c.rest;
        const auto key = c.rest.substr(0, c.rest.find_first_of(" \t=+"));
        c.eat(key);
        c.skip_blanks();
        if (key == "include" || key == "module" || key == "do")
            throw defect{fmt::format("'{}' is not supported", cut(key)),
                         "write all nodes and links explicitly, as ibsim-run ibnetdiscover prints them"};
        const bool relative = c.rest.starts_with('+');
        if (key.empty() || (!c.eat("=") && !c.eat("+")))
            throw defect{fmt::format("unrecognized line {}", iba::as_given(line)),
                         "expected Switch, Ca, Rt, [port], a setting such as caguid=0x1, or a comment"};
        c.skip_blanks();
        const auto number = c.number();
        if (!number)
            throw defect{fmt::format("setting {} has no number", iba::as_given(key)),
                         "expected a number, such as caguid=0x1"};
        if (key == "width") {
            width_mask_ = mask(*number, 1, 31, "width");
        } else if (key == "speed") {
            speed_mask_ = mask(*number, 1, 7, "speed");
        } else if (key == "extspeed") {
            extended_speed_mask_ = mask(*number, 0, 15, "extspeed");
        } else if (key != "pdebug") {
            read_identity(key, *number, relative, c);
        }
    }

    /// Parses a line of a stanza before the line of the node.
    void read_identity(std::string_view key, u64 number, bool relative, cursor rest) {
        static constexpr std::pair<std::string_view, NodeType> guid_keys[] = {
            {"switchguid", NodeType::Switch}, {"switchguids", NodeType::Switch}, {"caguid", NodeType::CA},
            {"caguids", NodeType::CA},        {"hcaguids", NodeType::CA},        {"rtguid", NodeType::Router},
            {"rtguids", NodeType::Router}};
        const auto* const of = std::ranges::find(guid_keys, key, &std::pair<std::string_view, NodeType>::first);
        const bool is_guid = of != std::end(guid_keys);
        static constexpr std::string_view other_keys[] = {"vendid", "devid", "sysimgguid"};
        const auto* const other = std::ranges::find(other_keys, key);
        if (!is_guid && other == std::end(other_keys))
            throw defect{fmt::format("unknown setting {}", iba::as_given(key)),
                         "expected vendid, devid, sysimgguid, switchguid, caguid, rtguid, width, speed or extspeed"};
        const auto which =
            is_guid ? of - std::begin(guid_keys) : std::size(guid_keys) + (other - std::begin(other_keys));
        // A repeated setting: the settings so far belong to a stanza whose node line is lost.
        if (pending_keys_ & 1u << which) end_pending();
        pending_keys_ |= 1u << which;
        current_ = no_node;
        if (pending_line_ == 0) pending_line_ = line_;
        if (key == "vendid") {
            vendid_ = static_cast<u32>(number & 0xffffff);
        } else if (key == "devid") {
            devid_ = static_cast<u16>(number);
        } else if (key == "sysimgguid") {
            sysimgguid_ = number;
        } else {
            guids_of(of->second).set(number, relative);
            if (rest.eat("(")) portguid_ = rest.number(16).value_or(0);
        }
    }

    /// Settings without a node after them belong to a stanza whose node line is lost.
    void end_pending() {
        const unsigned line = pending_line_;
        reset_pending();
        if (line == 0) return;
        lose_stanza();
        skip(line, {"settings without a node", "add a Switch, Ca or Rt line below them"});
    }
    void reset_pending() noexcept {
        pending_line_ = 0;
        pending_keys_ = 0;
        vendid_ = 0; // ibsim keeps devid for the next node
        sysimgguid_ = portguid_ = 0;
        for (guid_counter* g : {&switches_, &cas_, &routers_}) g->is_of_this_stanza = false;
    }

    u8 mask(u64 number, u64 least, u64 most, std::string_view what) const {
        if (number < least || number > most)
            throw defect{fmt::format("{}={} is not a valid mask", what, number),
                         fmt::format("must be the sum of the enabled bits, {}..{}", least, most)};
        return static_cast<u8>(number);
    }

    void lose_stanza() {
        if (how_ == reading::tolerant) ++contents_.skipped.stanzas;
        current_ = no_node;
    }

    // Switch 36 "S-0002c902400c3f80"  # "name" base port 0 lid 3 lmc 0
    void read_node(cursor c, NodeType type) {
        c.skip_blanks();
        const bool has_number = !c.rest.empty() && is_digit(c.rest.front());
        const auto ports = c.number();
        c.skip_blanks();
        const auto id = c.quoted();
        if (!ports || *ports < 1 || *ports > max_ports || !id || id->empty()) {
            // A sentence that starts with this word is not part of the file, and does not affect the lines around it.
            if (has_number || pending_line_ != 0) {
                lose_stanza();
                reset_pending();
            }
            if (!ports || *ports < 1 || *ports > max_ports)
                throw defect{"the number of ports of the node is missing or invalid",
                             fmt::format("write 1..{} after the node type", max_ports)};
            throw defect{"the node has no id", "write it in quotes after the number of ports"};
        }
        const node n = node_of(type, static_cast<unsigned>(*ports), std::string(*id));
        reset_pending();
        current_ = no_node; // the parser skips the lines after a duplicate node
        if (ids_.contains(n.id))
            throw defect{fmt::format("node id \"{}\" is already taken", cut(n.id)), "give each node an id of its own"};
        if (guids_.contains(value(n.nodeGUID)))
            throw defect{fmt::format("node GUID {:#x} is already taken", value(n.nodeGUID)),
                         "give each node a GUID of its own"};
        add_node(n);
        last_port_ = 0;
        c.skip_blanks();
        if (c.eat("#")) read_node_comment(contents_.nodes[current_], c);
    }

    node node_of(NodeType type, unsigned ports, std::string id) {
        node n;
        guid_counter& guids = guids_of(type);
        n.type = type;
        n.line = line_;
        n.num_ports = ports;
        // If the line with the GUID is lost, the id in files of ibnetdiscover still contains it.
        const u64 by_id = guids.is_of_this_stanza ? 0 : guid_in_id(id);
        n.nodeGUID = iba::guid{by_id != 0 ? by_id : guids.take(type == NodeType::Switch ? 1 : u64{ports} + 1)};
        n.description = id; // the default if no comment has a description
        n.id = std::move(id);
        n.portGUID = portguid_ != 0 ? iba::guid{portguid_} : n.nodeGUID;
        n.systemImageGUID = iba::guid{sysimgguid_};
        n.vendorID = vendid_;
        n.deviceID = devid_;
        n.width_mask = width_mask_;
        n.speed_mask = speed_mask_;
        n.extended_speed_mask = extended_speed_mask_;
        return n;
    }

    void add_node(node n) {
        ports_ += n.num_ports + 1;
        if (contents_.nodes.size() == max_nodes)
            fail(line_, {fmt::format("the file has more nodes than the maximum of {}", max_nodes), how_to_split});
        if (ports_ > max_file_ports)
            fail(line_, {fmt::format("the file has more ports than the maximum of {}", max_file_ports), how_to_split});
        current_ = static_cast<u32>(contents_.nodes.size());
        ids_.emplace(n.id, current_);
        guids_.emplace(value(n.nodeGUID), current_);
        contents_.nodes.push_back(std::move(n));
    }
    static constexpr const char* how_to_split = "use a file of one subnet";

    void read_node_comment(node& n, cursor c) {
        c.skip_blanks();
        const comment parts(c.rest);
        std::string_view facts = parts.after;
        if (parts.has_text) {
            n.description = description_of(parts.text);
        } else if (c.rest.starts_with('"')) {
            n.description = description_of(c.rest.substr(1));
            throw defect{"the name in the comment has no closing quote", "enclose the name in quotes"};
        } else { // ibsim also accepts a comment without quotes as the description
            const auto name_end = std::min({c.rest.find(" base port 0"), c.rest.find(" enhanced port 0"),
                                            c.rest.find(" lid "), c.rest.find(" lmc "), c.rest.size()});
            if (name_end != 0) n.description = description_of(c.rest.substr(0, name_end));
            facts = c.rest.substr(name_end);
        }
        if (!n.is_switch()) return;
        n.has_enhanced_port0 = facts.find("enhanced port 0") != facts.npos;
        read_lid(facts, n.LID, n.LMC);
    }

    // ... lid 3 lmc 0 ...
    static void read_lid(std::string_view facts, std::optional<iba::lid>& LID, std::optional<u8>& LMC) {
        cursor c{facts};
        for (auto word = c.word(); !word.empty(); word = c.word()) {
            if (word != "lid" && word != "lmc") continue;
            const bool is_lid = word == "lid";
            c.skip_blanks();
            const auto number = c.number();
            constexpr u64 none = 0xffff; // the LID of ports that no subnet manager has configured
            const bool exists = number && (is_lid ? *number <= 0xbfff || *number == none : *number <= 7);
            if (!exists)
                throw defect{fmt::format("invalid {}", cut(word)), "a lid must be 0..49151 or 65535, an lmc 0..7"};
            if (is_lid) LID = iba::lid{static_cast<u16>(*number)};
            else LMC = static_cast<u8>(*number);
        }
    }

    // ---- ports ------------------------------------------------------------------------------------------------------

    /// Parses `[7]` at the start, the number of a port that the node has.
    u8 read_port_number(cursor& c) {
        if (!c.rest.starts_with('[') || c.rest.size() < 2 || !is_digit(c.rest[1]))
            throw defect{"unrecognized line: '[' without a port number", "write a port as [1]"}; // [root@host ~]#
        if (current_ == no_node)
            throw defect{"a port line outside of a node",
                         "write it below the Switch, Ca or Rt line of its node, without an empty line"};
        node& n = contents_.nodes[current_];
        c.eat("[");
        const auto number = c.number();
        if (number && c.rest.starts_with("]+"))
            throw defect{"unrecognized line: it looks like the output of a shell", "write a port as [1]"};
        if (!number || !c.eat("]") || *number < 1 || *number > n.num_ports) {
            lose_port(n);
            throw defect{fmt::format("node \"{}\" does not have this port", cut(n.id)),
                         fmt::format("its ports are [1]..[{}]", n.num_ports)};
        }
        return static_cast<u8>(*number);
    }

    static void lose_port(node& n) noexcept { n.known = extent::some; }

    // [1](2c90300001) "S-0002c902400c3f80"[17](guid) w=3 s=7 e=3   # lid 4 lmc 0 "name" lid 3 4xEDR
    void read_port(cursor c, bool is_after_blank) {
        const u8 number = read_port_number(c);
        node& n = contents_.nodes[current_];
        named_end end{current_, number, 1, line_, {}, {}, {}, {}};
        port parsed; // collects the whole line before any part of it is used
        try {
            if (const auto GUID = read_decoration(c); GUID && !n.is_switch()) parsed.GUID = iba::guid{*GUID};
            read_other_end(c, end);
        } catch (const defect&) {
            lose_port(n);
            throw;
        }
        if (is_after_blank && number <= last_port_) { // the lines in between belonged to another node
            lose_stanza();
            throw defect{"a port line outside of a node", "write it below the Switch, Ca or Rt line of its node"};
        }
        last_port_ = number;
        std::optional<defect> bad; // a defect outside of the link itself
        try {
            read_link_facts(c, n, parsed, end);
        } catch (const defect& d) {
            bad = d;
        }
        take_line(n, number, parsed);
        ends_.push_back(std::move(end));
        if (bad) throw *bad;
    }

    static port& port_at(node& n, u8 number) {
        auto at = std::ranges::lower_bound(n.ports, number, {}, &port::number);
        if (at != n.ports.end() && at->number == number) return *at;
        at = n.ports.insert(at, port{});
        at->number = number;
        return *at;
    }

    /// Stores the line of a port. If a port has two lines, the first one is used.
    void take_line(node& n, u8 number, const port& parsed) {
        port& p = port_at(n, number);
        if (p.has_line) return;
        p = parsed;
        p.number = number;
        p.has_line = true;
        p.line = line_;
    }

    static void read_other_end(cursor& c, named_end& end) {
        c.skip_blanks();
        const auto id = c.quoted();
        if (!id)
            throw defect{"the link has no neighbor",
                         "write the id of the neighbor in quotes, then its port, such as \"S-1\"[1]"};
        end.remote_id = *id;
        if (id->find('@') != id->npos) {
            end.remote_port = 0;
        } else if (c.eat("[")) {
            const auto remote = c.number();
            if (!remote || *remote < 1 || *remote > max_ports || !c.eat("]"))
                throw defect{"the neighbor has no valid port number", "write its port number in brackets after its id"};
            end.remote_port = static_cast<u8>(*remote);
        } else if (!c.rest.empty() && blanks.find(c.rest.front()) == blanks.npos && c.rest.front() != '#') {
            throw defect{"the id of the neighbor has no closing quote",
                         "write it in quotes, then its port, such as \"S-1\"[1]"};
        }
        c.skip_blanks(); // ibnetdiscover prints a blank here between two CAs
        if (const auto GUID = read_decoration(c)) end.remote_guid = iba::guid{*GUID};
    }

    /// Parses the optional parts after a port: `[ext 3]` and `(guid)`.
    static std::optional<u64> read_decoration(cursor& c) {
        if (c.eat("[ext ") && (!c.number() || !c.eat("]")))
            throw defect{"an external port has no number", "write it as [ext 3]"};
        if (!c.eat("(")) return std::nullopt;
        const auto guid = c.number(16);
        if (!guid || !c.eat(")")) throw defect{"a port GUID is not a number", "write it as (2c9030000001)"};
        return guid;
    }

    void read_link_facts(cursor c, const node& n, port& p, named_end& end) {
        const auto hash = c.rest.find('#');
        if (hash != c.rest.npos) read_link_comment(c.rest.substr(hash + 1), n, p, end);
        read_masks({c.rest.substr(0, hash)}, p);
    }

    void read_link_comment(std::string_view remark, const node& n, port& p, named_end& end) {
        const comment parts(remark);
        if (!parts.has_text && remark.find('"') != remark.npos)
            throw defect{"the name in the comment has no closing quote", "enclose the name of the neighbor in quotes"};
        if (parts.has_text) end.remote_description = description_of(parts.text);
        std::optional<u8> no_lmc;
        if (!n.is_switch()) read_lid(parts.before, p.LID, p.LMC);
        read_lid(parts.after, end.remote_lid, no_lmc);
        read_rate(parts.after, p);
        read_masks({parts.after}, p); // ibnetdiscover -f prints them here
    }

    static void read_rate(std::string_view facts, port& p) {
        cursor c{facts};
        for (auto word = c.word(); !word.empty(); word = c.word()) {
            const iba::link_word rate = iba::parse_link_word(word);
            if (rate.what == iba::link_word::kind::invalid)
                throw defect{fmt::format("{} is not a width and a speed", iba::as_given(word)),
                             fmt::format("expected one of {} and one of {}, as in 4xEDR", iba::all_width_names(),
                                         iba::all_speed_names())};
            if (rate.what != iba::link_word::kind::known) continue;
            p.width = rate.width;
            p.speed = rate.speed;
        }
    }

    // w=3 s=7 e=3 x=1 f=1
    void read_masks(cursor c, port& p) {
        for (auto word = c.word(); !word.empty(); word = c.word()) {
            if (word.size() < 3 || word[1] != '=') continue;
            const char what = word[0];
            if (std::string_view("wsevxf").find(what) == std::string_view::npos) continue;
            cursor digits{word.substr(2)};
            const auto number = digits.number();
            if (!number || !digits.rest.empty())
                throw defect{fmt::format("'{}' is not a mask", cut(word)), "write it as w=3"};
            if (what == 'w') p.width_mask = mask(*number, 1, 31, "w");
            else if (what == 's') p.speed_mask = mask(*number, 0, 7, "s");
            else if (what == 'e') p.extended_speed_mask = mask(*number, 0, 15, "e");
            else if (what == 'x') p.extended_speed2_mask = mask(*number, 0, 1, "x");
            else if (what == 'f') p.fdr10_mask = mask(*number, 0, 1, "f");
            else p.VLCap = mask(*number, 0, 15, "v");
        }
    }

    // @[1] "alias"
    void read_alias(cursor c) {
        const u8 number = read_port_number(c);
        c.skip_blanks();
        const auto alias = c.quoted();
        if (!alias || alias->empty()) throw defect{"the alias has no name", "write it in quotes after the port"};
        if (!aliases_.emplace("@" + std::string(*alias), link_end{current_, number}).second)
            throw defect{fmt::format("alias \"{}\" is already taken", cut(*alias)),
                         "give each port an alias of its own"};
    }

    // ---- links ------------------------------------------------------------------------------------------------------

    /// Returns the port at the remote end of a link; nullopt if its node has no stanza, and its id does not contain
    /// type and GUID.
    std::optional<link_end> remote_of(const named_end& end) {
        if (end.remote_port == 0) {
            const auto alias = aliases_.find(end.remote_id);
            if (alias == aliases_.end())
                throw defect{fmt::format("unknown alias \"{}\"", cut(end.remote_id)),
                             "define it with @[port] \"alias\" below its node"};
            return alias->second;
        }
        auto id = ids_.find(end.remote_id);
        if (id == ids_.end() || contents_.nodes[id->second].known == extent::links_only) {
            if (how_ == reading::strict)
                fail(end.line, {fmt::format("unknown node \"{}\"", cut(end.remote_id)), "add it, or remove this link"});
            lose_link(end);
            if (id == ids_.end()) id = add_unlisted(end);
            if (id == ids_.end()) return std::nullopt;
            node& n = contents_.nodes[id->second];
            n.num_ports = std::max<unsigned>(n.num_ports, end.remote_port);
        }
        const node& n = contents_.nodes[id->second];
        if (end.remote_port > n.num_ports)
            throw defect{fmt::format("\"{}\" has no port {}", cut(n.id), end.remote_port),
                         fmt::format("its ports are 1..{}", n.num_ports)};
        return link_end{id->second, end.remote_port};
    }

    void lose_link(const named_end& end) {
        skipped& s = contents_.skipped;
        ++s.lost_links;
        if (s.first_lost_link == 0) {
            s.first_lost_link = end.line;
            s.first_lost_id = iba::escaped(cut(end.remote_id));
        }
        if (lost_ids_.emplace(end.remote_id, 0).second) ++s.missing_nodes;
    }

    /// Adds a node without a stanza, if its id contains type and GUID.
    std::unordered_map<std::string, u32>::iterator add_unlisted(const named_end& end) {
        const u64 GUID = guid_in_id(end.remote_id);
        if (GUID == 0 || guids_.contains(GUID)) return ids_.end();
        node n;
        n.type = type_in_id(end.remote_id);
        n.known = extent::links_only;
        n.num_ports = end.remote_port;
        n.nodeGUID = n.portGUID = iba::guid{GUID};
        n.id = end.remote_id;
        n.description = end.remote_description.value_or(n.id);
        if (n.is_switch()) n.LID = end.remote_lid;
        add_node(std::move(n));
        return ids_.find(end.remote_id);
    }

    void connect(named_end& end) {
        line_ = end.line;
        try {
            const auto remote = remote_of(end);
            if (remote) connect(end, *remote);
        } catch (const defect& d) {
            lose_port(contents_.nodes[end.node]);
            skip(end.line, d);
        }
    }

    void connect(const named_end& end, link_end remote) {
        // Adds both ports first, so that the references below stay valid.
        port_at(contents_.nodes[remote.node], remote.port);
        port& here = port_at(contents_.nodes[end.node], end.port);
        port& other = port_at(contents_.nodes[remote.node], remote.port);
        const bool is_connected = here.peer_node == remote.node && here.peer_port == remote.port;
        if (!is_connected) {
            for (const port* p : {&here, &other}) {
                if (p->peer_port == 0) continue;
                const link_end at = p == &here ? link_end{end.node, end.port} : remote;
                lose_port(contents_.nodes[remote.node]);
                throw defect{fmt::format("port {} of \"{}\" is already cabled to \"{}\"[{}]", at.port,
                                         cut(contents_.nodes[at.node].id), cut(contents_.nodes[p->peer_node].id),
                                         p->peer_port),
                             "both ends of a link must name each other"};
            }
            here.peer_node = remote.node;
            here.peer_port = remote.port;
            other.peer_node = end.node;
            other.peer_port = end.port;
            if (other.line == 0) other.line = end.line;
        }
        // Values of the remote end count if the remote end does not specify them itself.
        node& there_node = contents_.nodes[remote.node];
        if (!there_node.is_switch()) {
            if (!other.GUID) other.GUID = end.remote_guid;
            if (!other.LID) other.LID = end.remote_lid;
        } else if (!there_node.LID) {
            there_node.LID = end.remote_lid;
        }
    }

    void finish() {
        const skipped& s = contents_.skipped;
        contents_.may_lack_nodes |= s.stanzas != 0 || s.lost_links != 0;
        for (node& n : contents_.nodes) {
            std::erase_if(n.ports, [](const port& p) { return !p.has_line && p.peer_port == 0; });
            if (n.known != extent::all) continue;
            // ibnetdiscover prints a link at both ends.
            if (std::ranges::any_of(n.ports, [](const port& p) { return !p.has_line; })) n.known = extent::some;
        }
    }

    std::string_view name_;
    reading how_;
    contents contents_;
    unsigned line_ = 0, last_skipped_ = 0;
    bool is_double_spaced_ = false, is_after_blank_ = false;
    u32 current_ = no_node;     // the node that the port lines belong to
    u8 last_port_ = 0;          // last port number of that node
    unsigned pending_line_ = 0; // the first line of a stanza whose node line has not been read yet; 0: none
    unsigned pending_keys_ = 0; // the settings of that stanza so far, as a set of bits
    u32 vendid_ = 0;
    u16 devid_ = 0;
    u64 sysimgguid_ = 0, portguid_ = 0;
    u8 width_mask_ = 2, speed_mask_ = 1, extended_speed_mask_ = 0; // 4x SDR, the default of ibsim
    guid_counter cas_{0x100000, 0x100000}, switches_{0x200000, 0x200000}, routers_{0x300000, 0x300000};
    std::size_t ports_ = 0;
    std::unordered_map<std::string, u32> ids_, lost_ids_;
    std::unordered_map<u64, u32> guids_;
    std::unordered_map<std::string, link_end> aliases_;
    std::vector<named_end> ends_;
};

} // namespace

const port* node::find(unsigned number) const noexcept {
    const auto at = std::ranges::lower_bound(ports, number, {}, &port::number);
    return at != ports.end() && at->number == number ? &*at : nullptr;
}

std::string skipped::text() const {
    const auto s = [](std::size_t n) { return n == 1 ? "" : "s"; };
    std::string text;
    const auto add = [&](std::string part) { text += (text.empty() ? "" : "; ") + part; };
    if (lines != 0)
        add(fmt::format("skipped {} line{}; first at line {}: {}", lines, s(lines), first_line, first_reason));
    if (marks != 0) add(fmt::format("skipped {} byte-order mark{}, in line {}", marks, s(marks), first_mark));
    if (stanzas != 0) add(fmt::format("{} node{} of the file cannot be read", stanzas, s(stanzas)));
    if (lost_links != 0)
        add(fmt::format("{} link{} lead{} to {} node{} not in the file, the first in line {} to \"{}\"", lost_links,
                        s(lost_links), lost_links == 1 ? "s" : "", missing_nodes, s(missing_nodes), first_lost_link,
                        first_lost_id));
    return text;
}

contents read(std::string_view text, std::string_view name, reading how) {
    return is_subnet_lst(text) ? read_subnet_lst(text, name, how) : reader(name, how).read(text);
}

} // namespace comad::topology_file
