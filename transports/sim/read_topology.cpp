// SPDX-License-Identifier: MIT
// read_topology.cpp - the topology format of ibnetdiscover and ibsim, read. Decides nothing about the subnet beyond it.
#include "cursor.hpp"
#include <comad/iba/text.hpp>
#include <comad/transports/sim/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace comad::transports::sim {
namespace {

/// One end of a cable as a line told it.
struct told_link {
    u32 node;
    u8 port;
    u8 remote_port; // 0: where the alias says
    unsigned line;
    std::string remote_id;
};

struct place {
    u32 node;
    u8 port;
};

class reader {
public:
    explicit reader(std::string_view name) : name_(name) {}

    topology read(std::istream& in) {
        std::string line;
        while (std::getline(in, line)) {
            ++line_;
            cursor c{std::string_view(line).substr(0, line.find_last_not_of(blanks) + 1)};
            c.skip_blanks();
            read_line(c);
        }
        if (topology_.nodes.empty()) {
            fail("there is no node in it", "give a file that ibnetdiscover or ibsim understands");
        }
        for (const told_link& l : links_) connect(l);
        activate_if_managed();
        return std::move(topology_);
    }

private:
    [[noreturn]] void fail(std::string_view what, std::string_view remedy) const {
        // What is wrong quotes the file, and the file may contain anything.
        throw std::runtime_error(fmt::format("{}:{}: {}; {}", name_, line_, iba::escaped(what), remedy));
    }

    void read_line(cursor c) {
        if (c.rest.empty()) {
            current_ = topology::nobody;
        } else if (c.rest.starts_with('#') || c.rest.starts_with("Chassis ") || c.rest.starts_with("Non-Chassis") ||
                   c.rest.starts_with("Hostname: ")) {
            // comments, and the headings of ibnetdiscover -g
        } else if (c.rest.starts_with('[')) {
            read_port(c);
        } else if (c.eat("@")) {
            read_alias(c);
        } else if (c.eat("Switch")) {
            read_node(c, iba::NodeType::Switch, switches_);
        } else if (c.eat("Hca") || c.eat("Ca")) {
            read_node(c, iba::NodeType::CA, cas_);
        } else if (c.eat("Rt")) {
            read_node(c, iba::NodeType::Router, routers_);
        } else {
            read_setting(c);
        }
    }

    // vendid=0x2c9, switchguid=0x1(1), hcaguids+16
    void read_setting(cursor c) {
        const auto key = c.rest.substr(0, c.rest.find_first_of(" \t=+"));
        c.eat(key);
        if (key == "include" || key == "module" || key == "do") {
            fail(fmt::format("'{}' is not understood here", key),
                 "write the nodes and links out, as ibsim-run ibnetdiscover prints them");
        }
        c.skip_blanks();
        const bool relative = c.rest.starts_with('+');
        if (!c.eat("=") && !c.eat("+")) {
            fail(fmt::format("'{}' begins no line that is known", key),
                 "expected Switch, Ca, Rt, [port], a setting such as caguid=0x1, or a comment");
        }
        c.skip_blanks();
        const auto number = c.number();
        if (!number) fail(fmt::format("'{}' has no number", key), "write it as in caguid=0x1");

        if (key == "vendid") {
            vendid_ = static_cast<u32>(*number & 0xffffff);
        } else if (key == "devid") {
            devid_ = static_cast<u16>(*number);
        } else if (key == "sysimgguid") {
            sysimgguid_ = *number;
        } else if (key == "switchguid" || key == "switchguids") {
            switches_.set(*number, relative);
        } else if (key == "caguid" || key == "caguids" || key == "hcaguids") {
            cas_.set(*number, relative);
        } else if (key == "rtguid" || key == "rtguids") {
            routers_.set(*number, relative);
        } else if (key == "width") {
            enabled_.width = mask(*number, 1, 31, "width");
        } else if (key == "speed") {
            set_legacy_speed(enabled_, mask(*number, 1, 7, "speed"));
        } else if (key == "extspeed") {
            set_extended_speed(enabled_, mask(*number, 0, 15, "extspeed"));
        } else if (key != "pdebug") {
            fail(fmt::format("setting '{}' is not known", key),
                 "expected vendid, devid, sysimgguid, switchguid, caguid, rtguid, width, speed or extspeed");
        }
    }

    u8 mask(u64 number, u64 least, u64 most, std::string_view what) const {
        if (number < least || number > most) {
            fail(fmt::format("{}={} is no mask of that kind", what, number),
                 fmt::format("give the sum of the enabled bits, {} to {}", least, most));
        }
        return static_cast<u8>(number);
    }
    static void set_legacy_speed(link_codes& c, u8 bits) noexcept { set_bits(c, 0x07, bits); }
    static void set_extended_speed(link_codes& c, u8 bits) noexcept {
        set_bits(c, 0x0f << iba::lane_speed::first_extended_bit, bits << iba::lane_speed::first_extended_bit);
    }
    static void set_bits(link_codes& c, unsigned which, unsigned bits) noexcept {
        c.speed = static_cast<u16>((c.speed & ~which) | bits);
    }

    /// GUIDs of nodes that name none: ibsim counts up from the last one given.
    struct guid_counter {
        u64 base, next;

        void set(u64 number, bool relative) noexcept {
            if (!relative) base = number;
            next = relative ? base + number : number;
        }
        iba::guid take(u64 how_many) noexcept { return iba::guid{std::exchange(next, next + how_many)}; }
    };

    // Switch 36 "S-0002c902400c3f80"  # "name" base port 0 lid 3 lmc 0
    void read_node(cursor c, iba::NodeType type, guid_counter& guids) {
        c.skip_blanks();
        const auto ports = c.number();
        if (!ports || *ports < 1 || *ports > topology::max_ports) {
            fail("the node has no number of ports", fmt::format("write 1 to {} after its kind", topology::max_ports));
        }
        c.skip_blanks();
        const auto id = c.quoted();
        if (!id || id->empty()) fail("the node has no id", "write it in quotes after the number of ports");

        const iba::guid guid = guids.take(type == iba::NodeType::Switch ? 1 : *ports + 1);
        current_ = topology_.add_node(type, static_cast<unsigned>(*ports), guid, std::string(*id), enabled_);
        node& n = topology_.nodes[current_];
        n.id = *id;
        n.vendorID = std::exchange(vendid_, 0); // ibsim keeps devid for the next node, and nothing else
        n.deviceID = devid_;
        if (const auto given = std::exchange(sysimgguid_, 0)) n.systemImageGUID = iba::guid{given};

        c.skip_blanks();
        if (c.eat("#")) read_node_comment(n, c);
        if (!ids_.emplace(n.id, current_).second) {
            fail(fmt::format("node id \"{}\" is already taken", n.id), "give each node an id of its own");
        }
        if (!guids_.emplace(value(n.nodeGUID), current_).second) {
            fail(fmt::format("node GUID {:#x} is already taken", value(n.nodeGUID)),
                 "give each node a GUID of its own");
        }
    }

    void read_node_comment(node& n, cursor c) {
        c.skip_blanks();
        const comment said(c.rest);
        std::string_view facts = said.after;
        if (said.has_text) {
            n.description = said.text;
        } else { // ibsim takes a comment without quotes for the description, too
            const auto name_end = std::min({c.rest.find(" base port 0"), c.rest.find(" enhanced port 0"),
                                            c.rest.find(" lid "), c.rest.find(" lmc "), c.rest.size()});
            if (name_end != 0) n.description = c.rest.substr(0, name_end);
            facts = c.rest.substr(name_end);
        }
        if (!n.is_switch()) return;
        n.enhanced_port0 = facts.find("enhanced port 0") != facts.npos;
        read_lid(facts, n.ports[0]);
    }

    // ... lid 3 lmc 0 ...
    void read_lid(std::string_view facts, port& p) {
        cursor c{facts};
        for (auto word = c.word(); !word.empty(); word = c.word()) {
            if (word != "lid" && word != "lmc") continue;
            const bool is_lid = word == "lid";
            c.skip_blanks();
            const auto number = c.number();
            if (!number || *number > (is_lid ? 0xbfff : 7)) {
                fail(fmt::format("there is no such {}", word), "a lid is 0 to 49151, an lmc 0 to 7");
            }
            if (is_lid) {
                p.LID = iba::lid{static_cast<u16>(*number)};
            } else {
                p.LMC = static_cast<u8>(*number);
            }
        }
    }

    /// `[7]` at the front, in a node that has it.
    u8 read_port_number(cursor& c) {
        if (current_ == topology::nobody) {
            fail("a port outside of a node",
                 "write it below the Switch, Ca or Rt line of its node, without an empty line");
        }
        const node& n = topology_.nodes[current_];
        const auto number = c.eat("[") ? c.number() : std::nullopt;
        if (!number || !c.eat("]") || *number < 1 || *number > n.num_ports()) {
            fail(fmt::format("no port of \"{}\"", n.id), fmt::format("its ports are [1] to [{}]", n.num_ports()));
        }
        return static_cast<u8>(*number);
    }

    // [1](2c90300001) "S-0002c902400c3f80"[17](guid) w=3 s=7 e=3   # lid 4 lmc 0 "name" lid 3 4xEDR
    void read_port(cursor c) {
        const u8 number = read_port_number(c);
        node& n = topology_.nodes[current_];
        port& p = n.ports[number];
        if (const auto guid = read_decoration(c); guid && !n.is_switch()) p.GUID = iba::guid{*guid};
        c.skip_blanks();
        const auto id = c.quoted();
        if (!id) {
            fail("the link has no other end", "write the id of the other node in quotes, then its port, as \"S-1\"[1]");
        }

        told_link l{current_, number, 1, line_, std::string(*id)};
        const bool is_alias = id->find('@') != id->npos;
        if (is_alias) {
            l.remote_port = 0;
        } else if (c.eat("[")) {
            const auto remote = c.number();
            if (!remote || *remote < 1 || *remote > topology::max_ports || !c.eat("]")) {
                fail("the other end has no such port", "write its port number in brackets after its id");
            }
            l.remote_port = static_cast<u8>(*remote);
        }
        read_decoration(c);
        read_link_facts(c, n, p);
        links_.push_back(std::move(l));
    }

    /// What may follow a port: `[ext 3]` and `(guid)`.
    std::optional<u64> read_decoration(cursor& c) {
        if (c.eat("[ext ") && (!c.number() || !c.eat("]"))) {
            fail("an external port has no number", "write it as [ext 3]");
        }
        if (!c.eat("(")) return std::nullopt;
        const auto guid = c.number(16);
        if (!guid || !c.eat(")")) fail("a port GUID is no number", "write it as (2c9030000001)");
        return guid;
    }

    /// Leaves in `active` what the line says, and 0 where it does not: connect() needs both ends to decide.
    void read_link_facts(cursor c, const node& n, port& p) {
        const auto hash = c.rest.find('#');
        const std::string_view options = c.rest.substr(0, hash);
        if (hash != c.rest.npos) {
            const comment said(c.rest.substr(hash + 1));
            if (!n.is_switch()) read_lid(said.before, p);
            cursor facts{said.after};
            for (auto word = facts.word(); !word.empty(); word = facts.word()) {
                const iba::link_word said_of_link = iba::parse_link_word(word);
                if (said_of_link.what == iba::link_word::kind::invalid) {
                    fail(fmt::format("'{}' is not a width and a speed", word),
                         fmt::format("expected one of {} and one of {}, as in 4xEDR", iba::all_width_names(),
                                     iba::all_speed_names()));
                }
                if (value(said_of_link.width) != 0 && said_of_link.speed != 0)
                    p.active = {value(said_of_link.width), static_cast<u16>(said_of_link.speed)};
            }
            if (p.active.width != 0) p.enabled = capable_of(p.active);
            read_masks({said.after}, p); // where ibnetdiscover -f has them
        }
        read_masks({options}, p);
    }

    // w=3 s=7 e=3
    void read_masks(cursor c, port& p) {
        for (auto word = c.word(); !word.empty(); word = c.word()) {
            if (word.size() < 3 || word[1] != '=') continue;
            const char what = word[0];
            cursor digits{word.substr(2)};
            const auto number = digits.number();
            if (!number || !digits.rest.empty()) fail(fmt::format("'{}' is no mask", word), "write it as w=3");
            if (what == 'w') {
                p.enabled.width = mask(*number, 1, 31, "w");
            } else if (what == 's') {
                set_legacy_speed(p.enabled, mask(*number, 0, 7, "s"));
            } else if (what == 'e') {
                set_extended_speed(p.enabled, mask(*number, 0, 15, "e"));
            } else if (what == 'x') { // linkSpeedExtEnabled2
                set_bits(p.enabled, iba::lane_speed::XDR, mask(*number, 0, 1, "x") != 0 ? iba::lane_speed::XDR : 0);
            } else if (what == 'f') { // LinkSpeedEnabled of MlnxExtPortInfo
                set_bits(p.enabled, iba::lane_speed::FDR10, mask(*number, 0, 1, "f") != 0 ? iba::lane_speed::FDR10 : 0);
            } // v=, the VL capability of ibnetdiscover -f, has no place here
        }
    }

    // @[1] "alias"
    void read_alias(cursor c) {
        const u8 number = read_port_number(c);
        c.skip_blanks();
        const auto alias = c.quoted();
        if (!alias || alias->empty()) fail("the alias has no name", "write it in quotes after the port");
        if (!aliases_.emplace("@" + std::string(*alias), place{current_, number}).second) {
            fail(fmt::format("alias \"{}\" is already taken", *alias), "give each port an alias of its own");
        }
    }

    /// The place that a link's other end names. Errors name the link's line.
    place remote_of(const told_link& l) {
        line_ = l.line;
        if (l.remote_port == 0) {
            const auto alias = aliases_.find(l.remote_id);
            if (alias == aliases_.end()) {
                fail(fmt::format("there is no alias \"{}\"", l.remote_id),
                     "define it with @[port] \"alias\" below its node");
            }
            return alias->second;
        }
        const auto id = ids_.find(l.remote_id);
        if (id == ids_.end()) {
            fail(fmt::format("there is no node \"{}\"", l.remote_id), "add it, or remove this link");
        }
        const node& n = topology_.nodes[id->second];
        if (l.remote_port > n.num_ports()) {
            fail(fmt::format("\"{}\" has no port {}", n.id, l.remote_port),
                 fmt::format("its ports are 1 to {}", n.num_ports()));
        }
        return {id->second, l.remote_port};
    }

    void connect(const told_link& l) {
        const place remote = remote_of(l);
        port& here = topology_.nodes[l.node].ports[l.port];
        port& there = topology_.nodes[remote.node].ports[remote.port];
        if (&here == &there) fail("a port is cabled to itself", "name the other end");
        const bool is_told = here.linked() && here.peer_node == remote.node && here.peer_port == remote.port;
        if (is_told) return; // by the other end
        for (const port* end : {&here, &there}) {
            if (!end->linked()) continue;
            const place p = end == &here ? place{l.node, l.port} : remote;
            fail(fmt::format("port {} of \"{}\" is already cabled to \"{}\"[{}]", p.port, topology_.nodes[p.node].id,
                             topology_.nodes[end->peer_node].id, end->peer_port),
                 "let both ends of a link name each other");
        }
        // What was active when the file was overrides stands; an end that does not say takes it from the other one.
        const link_codes told_here = here.active, told_there = there.active;
        if (told_here.width == 0 && told_there.width != 0) here.enabled = capable_of(told_there);
        if (told_there.width == 0 && told_here.width != 0) there.enabled = capable_of(told_here);
        if (!topology_.link(l.node, l.port, remote.node, remote.port)) {
            fail("the two ports have no width or no speed in common", "change one end's w=, s= or e= mask");
        }
        settle(here, told_here.width != 0 ? told_here : told_there);
        settle(there, told_there.width != 0 ? told_there : told_here);
    }

    static void settle(port& p, link_codes told) noexcept {
        if (told.width != 0) p.active = told;
        p.enabled.width |= p.active.width;
        p.enabled.speed |= p.active.speed;
        p.supported = p.enabled;
    }

    void activate_if_managed() {
        bool managed = false;
        for (const node& n : topology_.nodes) {
            for (const port& p : n.ports) managed |= value(p.LID) != 0;
        }
        if (!managed) return;
        for (node& n : topology_.nodes) {
            for (port& p : n.ports) {
                if (p.linked()) p.state = iba::PortState::Active;
            }
        }
        // The format does not say where the subnet manager was; the default host is as good a place as any.
        for (const port& p : topology_.nodes[topology_.default_node()].ports) {
            if (value(topology_.sm_lid) == 0) topology_.sm_lid = p.LID;
        }
    }

    std::string_view name_;
    unsigned line_ = 0;
    topology topology_;
    u32 current_ = topology::nobody; // the node whose ports follow
    u32 vendid_ = 0;
    u16 devid_ = 0;
    u64 sysimgguid_ = 0;
    link_codes enabled_{2, 1}; // 4x SDR, ibsim's default
    guid_counter cas_{0x100000, 0x100000}, switches_{0x200000, 0x200000}, routers_{0x300000, 0x300000};
    std::unordered_map<std::string, u32> ids_;
    std::unordered_map<u64, u32> guids_;
    std::unordered_map<std::string, place> aliases_;
    std::vector<told_link> links_;
};

} // namespace

topology read_topology(std::istream& in, std::string_view name) { return reader(name).read(in); }

} // namespace comad::transports::sim
