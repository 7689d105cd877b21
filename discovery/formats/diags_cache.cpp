// SPDX-License-Identifier: MIT
// diags_cache.cpp - writes and reads libibnetdisc's format (rdma-core, libibnetdisc/ibnetdisc_cache.c, comment `Cache format`).
#include "diags_cache.hpp"

#include "cache_bytes.hpp"
#include <comad/discovery/formats/subnet_file.hpp>

#include <map>
#include <utility>

namespace comad::discovery {
namespace {

using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;

constexpr u32 diags_magic = 0x8fe7832b;
constexpr u32 diags_version = 1;
constexpr std::size_t smp_data = 64; ///< the size of the attribute in an SMP; the format contains all of it
constexpr std::size_t diags_port_bytes = 31 + smp_data, diags_node_bytes = 15 + 3 * smp_data;

/// Returns whether libibnetdisc has a record of this port.
bool is_kept(const port& p) { return p.info || p.peer; }

const PortInfo& info_of_kept(const port& p) {
    static const PortInfo unknown{};
    return p.info ? *p.info : unknown;
}

void write_diags_node(byte_writer& out, const node& n) {
    const PortInfo& end = info_of_kept(n.ports[0]);
    out.number<u16>(n.is_switch() ? value(end.LID) : u16{0});
    out.number<u8>(n.is_switch() ? end.LMC : u8{0});
    out.number<u8>(n.switch_info && n.switch_info->enhancedPort0 ? 1 : 0);
    out.structure(n.switch_info.value_or(SwitchInfo{}), smp_data);
    out.number<u64>(value(n.info.nodeGUID));
    out.number<u8>(static_cast<u8>(n.info.nodeType));
    out.number<u8>(n.info.numPorts);
    out.structure(n.info, smp_data);
    std::string description = n.description;
    description.resize(smp_data);
    out.bytes(description);
    u8 kept = 0;
    for (const port& p : n.ports) kept = static_cast<u8>(kept + is_kept(p));
    out.number<u8>(kept);
    for (u8 number = 0; const port& p : n.ports) {
        if (is_kept(p)) {
            out.number<u64>(value(p.portGUID));
            out.number<u8>(number);
        }
        ++number;
    }
}

void write_diags_port(byte_writer& out, const subnet& s, port_ref here) {
    const port& p = s.at(here);
    const PortInfo &info = info_of_kept(p),
                   &end = info_of_kept(s.end_port(here)); // the LID of port 0 is written for each port of a switch
    out.number<u64>(value(p.portGUID));
    out.number<u8>(here.port);
    out.number<u8>(0); // the external number, which the reader calculates again
    out.number<u16>(value(end.LID));
    out.number<u8>(end.LMC);
    out.structure(without_key(info), smp_data);
    out.number<u64>(value(s.nodes[here.node].info.nodeGUID));
    out.number<u8>(p.peer ? 1 : 0);
    out.number<u64>(p.peer ? value(s.at(p.peer).portGUID) : 0);
    out.number<u8>(p.peer ? p.peer.port : u8{0});
}

} // namespace

std::string diags_cache_bytes(const subnet& s) {
    byte_writer nodes(std::endian::little), ports(std::endian::little), out(std::endian::little);
    u32 ports_kept = 0;
    // From the last node on, as libibnetdisc writes them: readers number chassis in this order (chassis.hpp).
    for (auto n = static_cast<u32>(s.nodes.size()); n-- > 0;) {
        write_diags_node(nodes, s.nodes[n]);
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p) {
            if (!is_kept(s.nodes[n].ports[p])) continue;
            write_diags_port(ports, s, {n, static_cast<u8>(p)});
            ++ports_kept;
        }
    }
    out.number<u32>(diags_magic);
    out.number<u32>(diags_version);
    out.number<u32>(static_cast<u32>(s.nodes.size()));
    out.number<u32>(ports_kept);
    out.number<u64>(s.nodes.empty() ? 0 : value(s.nodes[0].info.nodeGUID));
    out.number<u32>(s.max_hops());
    out.bytes(nodes.text());
    out.bytes(ports.text());
    return std::move(out.text());
}

bool is_diags_cache(std::span<const u8> bytes) noexcept {
    return bytes.size() >= 4 && bytes[0] == 0x2b && bytes[1] == 0x83 && bytes[2] == 0xe7 && bytes[3] == 0x8f;
}

namespace {

/// Reads a subnet from a libibnetdisc cache.
class diags_cache_reader {
public:
    explicit diags_cache_reader(std::span<const u8> bytes) : in_(bytes, std::endian::little) {}

    subnet read() {
        in_.number<u32>("the header");
        const u32 version = in_.number<u32>("the version");
        if (version != diags_version)
            in_.fail(
                fmt::format("unsupported version {} of the libibnetdisc format; must be {}", version, diags_version));
        const u32 nodes =
            in_.number<u32>("the number of nodes", std::min(max_cached_nodes, in_.left() / diags_node_bytes));
        const u32 ports =
            in_.number<u32>("the number of ports", std::min(max_cached_ports, in_.left() / diags_port_bytes));
        const std::size_t start_at = in_.offset();
        const iba::guid start{in_.number<u64>("the first node's GUID")};
        in_.number<u32>("the longest route");
        for (u32 i = 0; i < nodes; ++i) read_node(i);
        for (u32 i = 0; i < ports; ++i) read_port();
        if (in_.left()) in_.fail("unexpected data after the last port");
        connect();
        const auto first = s_.by_guid.find(start);
        if (first == s_.by_guid.end())
            in_.fail(fmt::format("the file does not contain node {}, at which the discovery started", start), start_at);
        const node& n = s_.nodes[first->second];
        put_in_order(s_, first->second, n.is_switch() ? u8{0} : n.info.localPortNum);
        return std::move(s_);
    }

private:
    void read_node(u32 index) {
        const std::size_t begin = in_.offset();
        node n;
        in_.bytes(3, "a node"); // LID and LMC of a switch; the record of port 0 has them, too
        const bool is_enhanced = in_.number<u8>("a node") != 0;
        const auto switch_info = in_.structure<SwitchInfo>("a SwitchInfo", smp_data);
        const iba::guid guid{in_.number<u64>("a node")};
        in_.bytes(2, "a node"); // type and number of ports; NodeInfo has them, too
        n.info = in_.structure<NodeInfo>("a NodeInfo", smp_data);
        n.info.nodeGUID = guid; // ibcacheedit does not change the GUID in NodeInfo
        const std::string description = in_.text(smp_data, "a description");
        n.description = description.substr(0, description.find('\0'));
        if (n.is_switch()) {
            n.switch_info = switch_info;
            n.switch_info->enhancedPort0 = is_enhanced;
        }
        if (n.info.localPortNum > n.info.numPorts)
            in_.fail(fmt::format("a node reports local port {}, but has only {} ports", n.info.localPortNum,
                                 n.info.numPorts),
                     begin);
        if ((ports_ += n.info.numPorts + 1u) > max_cached_ports)
            in_.fail(fmt::format("the file has too many ports; the maximum is {}", max_cached_ports), begin);
        n.ports.resize(n.info.numPorts + 1u);
        if (n.is_switch())
            for (port& p : n.ports) p.portGUID = n.info.portGUID;
        in_.bytes(9u * in_.number<u8>("a node"), "the ports of a node"); // each port record names its node
        if (!s_.by_guid.emplace(n.info.nodeGUID, index).second)
            in_.fail(fmt::format("the file contains two nodes with GUID {}", n.info.nodeGUID), begin);
        s_.nodes.push_back(std::move(n));
    }

    void read_port() {
        const std::size_t begin = in_.offset();
        port p;
        p.portGUID = iba::guid{in_.number<u64>("a port")};
        const u8 number = in_.number<u8>("a port");
        in_.bytes(4, "a port"); // external number, LID and LMC
        p.info = in_.structure<PortInfo>("a PortInfo", smp_data);
        const iba::guid owner{in_.number<u64>("a port")};
        const bool has_peer = in_.number<u8>("a port") != 0;
        const iba::guid peer{in_.number<u64>("a port")};
        const u8 peer_number = in_.number<u8>("a port");
        const auto found = s_.by_guid.find(owner);
        if (found == s_.by_guid.end())
            in_.fail(fmt::format("a port belongs to node {}, which the file does not contain", owner), begin);
        const port_ref here{found->second, number};
        if (number >= s_.nodes[here.node].ports.size())
            in_.fail(fmt::format("the file contains port {} of node {}, which has only {} ports", number, owner,
                                 s_.nodes[here.node].info.numPorts),
                     begin);
        if (!by_key_.emplace(key{p.portGUID, number}, here).second)
            in_.fail(fmt::format("the file contains two ports with GUID {} and number {}", p.portGUID, number), begin);
        if (has_peer) links_.push_back({here, {peer, peer_number}, begin});
        s_.nodes[here.node].ports[number] = std::move(p);
    }

    void connect() {
        for (const link& l : links_) {
            const auto there = by_key_.find(l.to);
            if (there == by_key_.end()) in_.fail("a link leads to a port that the file does not contain", l.begin);
            s_.nodes[l.from.node].ports[l.from.port].peer = there->second;
        }
        for (const link& l : links_)
            if (s_.at(s_.at(l.from).peer).peer != l.from)
                in_.fail("a port names a neighbor port that does not name this port as its neighbor", l.begin);
    }

    using key = std::pair<iba::guid, u8>; // port GUID and port number
    struct link {
        port_ref from;
        key to;
        std::size_t begin;
    };

    byte_reader in_;
    subnet s_;
    std::size_t ports_ = 0;
    std::map<key, port_ref> by_key_;
    std::vector<link> links_;
};

} // namespace

subnet read_diags_cache(std::span<const u8> bytes) { return diags_cache_reader(bytes).read(); }

} // namespace comad::discovery
