// SPDX-License-Identifier: MIT
// cache.cpp - writes and reads the cache format of this library.
#include "cache_bytes.hpp"
#include "diags_cache.hpp"
#include <comad/discovery/formats/subnet_file.hpp>
#include <comad/iba/detail/text.hpp>

#include <boost/crc.hpp>

#include <algorithm>
#include <utility>

namespace comad::discovery {
namespace {

using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;

constexpr std::string_view own_magic = "comadsub";
constexpr u32 own_version = 2;
constexpr u32 described_version = 3; // for topology files; also contains what the file did not provide
constexpr std::size_t checksum_bytes = 4;

// Flags: which parts of a port follow.
constexpr u8 begins_at_lid = 128; // flag in the hop count of a route
constexpr u8 info_there = 1, guid_there = 2, peer_there = 4, fdr10_runs = 8, fdr10_supported = 16, all_port_flags = 31;
constexpr u8 assumed_shift = 5, all_described_flags = 255;
constexpr u8 extent_shift = 1; // above the bit for SwitchInfo

u32 checksum_of(std::span<const u8> bytes) {
    boost::crc_32_type sum;
    sum.process_bytes(bytes.data(), bytes.size());
    return sum.checksum();
}

std::span<const u8> as_bytes(std::string_view text) { return {reinterpret_cast<const u8*>(text.data()), text.size()}; }

void write_route(byte_writer& out, const mad::IBDRPath& route) {
    const bool begins_by_lid = route.drSLID != iba::permissive_lid;
    out.number<u8>(route.hopCount | (begins_by_lid ? begins_at_lid : 0));
    if (begins_by_lid) {
        out.number<u16>(value(route.DLID));
        out.number<u16>(value(route.drSLID));
    }
    for (const u8 hop : route.hops()) out.number<u8>(hop);
}

void write_text(byte_writer& out, std::string_view text) {
    out.number<u32>(static_cast<u32>(text.size()));
    out.bytes(text);
}

bool is_described(const subnet& s) {
    return s.may_lack_nodes || std::ranges::any_of(s.nodes, [](const node& n) {
               return n.known != topology_file::extent::all ||
                      std::ranges::any_of(n.ports, [](const port& p) { return p.assumed != 0; });
           });
}

void write_port(byte_writer& out, const port& p) {
    const bool has_portGUID = p.portGUID != iba::guid{};
    out.number<u8>(static_cast<u8>((p.info ? info_there : 0) | (has_portGUID ? guid_there : 0) |
                                   (p.peer ? peer_there : 0) | (p.fdr10 ? fdr10_runs : 0) |
                                   (p.fdr10_supported ? fdr10_supported : 0) | p.assumed << assumed_shift));
    if (p.info) out.structure(without_key(*p.info));
    if (has_portGUID) out.number<u64>(value(p.portGUID));
    if (p.peer) {
        out.number<u32>(p.peer.node);
        out.number<u8>(p.peer.port);
    }
}

void write_node(byte_writer& out, const node& n) {
    out.structure(n.info);
    write_text(out, n.description);
    write_route(out, n.route);
    out.number<u16>(static_cast<u16>(std::min(n.hops, 0xffffu)));
    out.number<u8>(static_cast<u8>((n.switch_info ? 1 : 0) | static_cast<u8>(n.known) << extent_shift));
    if (n.switch_info) out.structure(*n.switch_info);
    out.number<u16>(static_cast<u16>(n.ports.size()));
    for (const port& p : n.ports) write_port(out, p);
}

/// Reads what follows the header.
class cache_reader {
public:
    cache_reader(byte_reader& in, subnet& out, bool is_described) : in_(in), out_(out), is_described_(is_described) {}

    void read_nodes(u32 count) {
        out_.nodes.reserve(std::min<std::size_t>(count, in_.left() / iba::info_of<NodeInfo>.bytes));
        for (u32 i = 0; i < count; ++i) read_node(i);
        check_peers();
    }

    void read_failure() {
        failure p;
        p.kind = failure_kind{in_.number<u8>("the kind of a failure", static_cast<u8>(failure_kind::limit))};
        p.where.nodeGUID = iba::guid{in_.number<u64>("the node GUID of a failure")};
        const node* at = out_.find(p.where.nodeGUID);
        p.where.port = in_.number<u8>("the port of a failure", at ? at->ports.size() - 1 : 255);
        p.where.route = read_route();
        p.text = read_line("the text of a failure");
        p.cause = read_line("the cause of a failure");
        out_.failures.push_back(std::move(p));
    }

private:
    void read_node(u32 index) {
        const std::size_t begin = in_.offset();
        begins_.push_back(begin);
        node n;
        n.info = in_.structure<NodeInfo>("a NodeInfo");
        constexpr std::size_t most_description = 64;
        n.description = in_.text(in_.number<u32>("the length of a description", most_description), "a description");
        n.route = read_route();
        n.hops = in_.number<u16>("the hop count of a node");
        constexpr u8 last_extent = static_cast<u8>(topology_file::extent::links_only);
        const u8 head = in_.number<u8>("the flags of a node", is_described_ ? last_extent << extent_shift | 1 : 1);
        n.known = topology_file::extent{static_cast<u8>(head >> extent_shift)};
        if (head & 1) n.switch_info = in_.structure<SwitchInfo>("a SwitchInfo");
        const u16 ports = in_.number<u16>("the number of ports", 256);
        if (ports == 0 || ports <= n.info.numPorts || ports <= n.info.localPortNum)
            in_.fail(fmt::format("a node has ports 0..{}, but the file contains only {} of them",
                                 std::max(n.info.numPorts, n.info.localPortNum), ports),
                     begin);
        if ((ports_ += ports) > max_cached_ports)
            in_.fail(fmt::format("the file has too many ports; the maximum is {}", max_cached_ports), begin);
        n.ports.reserve(ports);
        for (unsigned p = 0; p < ports; ++p) n.ports.push_back(read_port());
        if (!out_.by_guid.emplace(n.info.nodeGUID, index).second)
            in_.fail(fmt::format("the file contains two nodes with GUID {}", n.info.nodeGUID), begin);
        out_.nodes.push_back(std::move(n));
    }

    port read_port() {
        port p;
        const u8 there = in_.number<u8>("the flags of a port", is_described_ ? all_described_flags : all_port_flags);
        if (there & info_there) p.info = in_.structure<PortInfo>("a PortInfo");
        if (there & guid_there) p.portGUID = iba::guid{in_.number<u64>("a port GUID")};
        if (there & peer_there) {
            p.peer.node = in_.number<u32>("the neighbor of a port", max_cached_nodes);
            p.peer.port = in_.number<u8>("the neighbor of a port");
        }
        p.fdr10 = there & fdr10_runs;
        p.fdr10_supported = there & fdr10_supported;
        p.assumed = static_cast<u8>(there >> assumed_shift);
        return p;
    }

    /// Checks that both ends of each link refer to each other.
    void check_peers() const {
        for (u32 i = 0; i < out_.nodes.size(); ++i) {
            for (unsigned number = 0; number < out_.nodes[i].ports.size(); ++number) {
                const port_ref here{i, static_cast<u8>(number)}, there = out_.at(here).peer;
                if (!there) continue;
                if (there.node >= out_.nodes.size() || there.port >= out_.nodes[there.node].ports.size() ||
                    out_.at(there).peer != here)
                    in_.fail(fmt::format(
                                 "port {} of a node names a neighbor port that does not name this port as its neighbor",
                                 number),
                             begins_[i]);
            }
        }
    }

    mad::IBDRPath read_route() {
        const u8 head = in_.number<u8>("the length of a route", begins_at_lid | mad::IBDRPath::max_hops);
        const unsigned hops = head & ~unsigned{begins_at_lid};
        if (hops > mad::IBDRPath::max_hops)
            in_.fail(fmt::format("a route has {} hops; the maximum is {}", hops, mad::IBDRPath::max_hops));
        const bool begins_by_lid = head & begins_at_lid;
        const iba::lid first{begins_by_lid ? in_.number<u16>("the LID of a switch") : u16{}};
        const iba::lid own{begins_by_lid ? in_.number<u16>("the local LID") : u16{}};
        mad::IBDRPath route(in_.bytes(hops, "a route"));
        if (begins_by_lid) {
            route.DLID = first;
            route.SLID = route.drSLID = own;
        }
        return route;
    }

    /// Reads a line that is printed unchanged, and checks that this is safe.
    std::string read_line(std::string_view what) {
        std::string line = in_.text(in_.number<u32>(what), what);
        const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
        return std::ranges::all_of(line, is_plain) ? line : iba::escaped(line);
    }

    byte_reader& in_;
    subnet& out_;
    const bool is_described_;         // contains which data a topology file lacks
    std::vector<std::size_t> begins_; // offsets of the nodes
    std::size_t ports_ = 0;
};

cached_subnet read_own_cache(std::span<const u8> bytes) {
    byte_reader in(bytes, std::endian::big);
    in.bytes(own_magic.size(), "the header");
    const u32 version = in.number<u32>("the version");
    if (version != own_version && version != described_version)
        in.fail(fmt::format("unsupported version {} of the cache format; must be {} or {}", version, own_version,
                            described_version));
    const bool is_described = version == described_version;
    if (in.left() < checksum_bytes) in.fail("the file is truncated within the header");
    const std::size_t end = bytes.size() - checksum_bytes;
    byte_reader tail(bytes.subspan(end), std::endian::big);
    if (tail.number<u32>("the checksum") != checksum_of(bytes.first(end)))
        in.fail("the checksum is wrong: the file was modified or truncated", end);

    in = byte_reader(bytes.first(end), std::endian::big);
    in.bytes(own_magic.size() + sizeof version, "the header");
    cached_subnet c;
    constexpr u64 year_9999 = 253'402'300'799;
    c.discovered_at = std::chrono::sys_seconds(std::chrono::seconds(in.number<u64>("the time", year_9999)));
    subnet& s = c.found;
    s.start_port = in.number<u8>("the local port");
    if (is_described) s.may_lack_nodes = in.number<u8>("the flag for missing nodes", 1) != 0;
    const u32 nodes = in.number<u32>("the number of nodes", max_cached_nodes);
    const u32 failures = in.number<u32>("the number of failures");
    cache_reader rest(in, s, is_described);
    rest.read_nodes(nodes);
    if (!s.nodes.empty() && s.start_port >= s.nodes[0].ports.size())
        in.fail("the first node does not have the local port that the header names");
    for (u32 i = 0; i < failures; ++i) rest.read_failure();
    if (in.left()) in.fail("unexpected data after the last failure");
    return c;
}

} // namespace

std::string cache_bytes(const subnet& s, std::chrono::sys_seconds discovered_at) {
    byte_writer out(std::endian::big);
    out.bytes(own_magic);
    const bool has_more = is_described(s);
    out.number<u32>(has_more ? described_version : own_version);
    out.number<u64>(static_cast<u64>(discovered_at.time_since_epoch().count()));
    out.number<u8>(s.start_port);
    if (has_more) out.number<u8>(s.may_lack_nodes ? 1 : 0);
    out.number<u32>(static_cast<u32>(s.nodes.size()));
    out.number<u32>(static_cast<u32>(s.failures.size()));
    for (const node& n : s.nodes) write_node(out, n);
    for (const failure& p : s.failures) {
        out.number<u8>(static_cast<u8>(p.kind));
        out.number<u64>(value(p.where.nodeGUID));
        out.number<u8>(p.where.port);
        write_route(out, p.where.route);
        write_text(out, p.text);
        write_text(out, p.cause);
    }
    out.number<u32>(checksum_of(as_bytes(out.text())));
    return std::move(out.text());
}

bool is_cache(std::span<const u8> bytes) noexcept {
    const std::span<const u8> magic = as_bytes(own_magic);
    return is_diags_cache(bytes) ||
           (bytes.size() >= magic.size() && std::ranges::equal(bytes.first(magic.size()), magic));
}

cached_subnet read_cache(std::span<const u8> bytes) {
    if (is_diags_cache(bytes)) return {read_diags_cache(bytes), std::nullopt};
    if (!is_cache(bytes)) throw std::runtime_error("the file is not a subnet cache");
    return read_own_cache(bytes);
}

} // namespace comad::discovery
