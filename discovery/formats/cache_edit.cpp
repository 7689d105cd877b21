// SPDX-License-Identifier: MIT
// cache_edit.cpp - rewrites the records of a cache with other GUIDs, and without M_Keys (format: rdma-core,
// libibnetdisc/ibnetdisc_cache.c).
#include "cache_bytes.hpp"
#include "diags_cache.hpp"
#include <comad/discovery/formats/detail/cache_edit.hpp>

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace comad::discovery {
namespace {

// Offsets of the fields that are edited or that identify a record. Numbers are little-endian, except for those within NodeInfo.
constexpr std::size_t head_bytes = 28, node_bytes = 206, port_bytes = 95, nodes_at = 8, from_at = 16;
constexpr std::size_t node_guid_at = 68, node_type_at = 76, system_guid_at = 78 + 4; // NodeInfo starts at 78
constexpr std::size_t port_number_at = 8, key_at = 13, owner_at = 77, has_peer_at = 85, peer_at = 86,
                      peer_number_at = 94;

u64 number_at(std::string_view bytes, std::size_t at) {
    u64 n = 0;
    for (std::size_t i = 8; i-- > 0;) n = n << 8 | static_cast<u8>(bytes[at + i]);
    return n;
}
void put_number(std::string& bytes, std::size_t at, u64 n) {
    for (std::size_t i = 0; i < 8; ++i, n >>= 8) bytes[at + i] = static_cast<char>(n & 0xff);
}
u64 big_number_at(std::string_view bytes, std::size_t at) { return __builtin_bswap64(number_at(bytes, at)); }

/// A port record as bytes. GUIDs are replaced when it is written.
struct cached_port {
    std::string bytes;
    u64 guid;
    u8 number;
    std::size_t owner = 0;
    std::optional<std::size_t> peer;
};
/// A node record as bytes.
struct cached_node {
    std::string bytes;
    u64 guid;
    std::vector<std::size_t> ports; // indices, in the order in which the node lists its ports

    bool is(iba::NodeType t) const noexcept { return static_cast<u8>(bytes[node_type_at]) == value(t); }
};

/// Reads the records of a cache, changes them, and writes them again.
class cache_editor {
public:
    explicit cache_editor(std::span<const u8> bytes) {
        if (!is_diags_cache(bytes)) throw std::runtime_error("the file is not a libibnetdisc cache");
        read_diags_cache(bytes); // throws if anything is wrong
        read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }

    void change_nodes(iba::NodeType type, const char* what, const guid_change& c) {
        bool is_found = false;
        for (cached_node& n : nodes_)
            if (n.is(type) && n.guid == value(c.before)) {
                rename(n, value(c.after));
                is_found = true;
            }
        require(is_found, what, c.before);
    }

    void change_system(const guid_change& c) {
        bool is_found = false;
        for (cached_node& n : nodes_)
            if (big_number_at(n.bytes, system_guid_at) == value(c.before)) {
                put_number(n.bytes, system_guid_at, __builtin_bswap64(value(c.after)));
                is_found = true;
            }
        require(is_found, "sysimgguid", c.before);
    }

    void change_port(iba::guid node, const guid_change& c) {
        bool has_node = false, is_found = false;
        for (cached_node& n : nodes_) {
            if (n.guid != value(node)) continue;
            has_node = true;
            if (n.is(iba::NodeType::Switch)) {
                if (n.guid != value(c.before)) continue;
                rename(n, value(c.after));
                is_found = true;
                continue;
            }
            for (const std::size_t p : n.ports) {
                if (ports_[p].guid != value(c.before) || ports_[p].number == 0) continue;
                ports_[p].guid = value(c.after);
                is_found = true;
                break;
            }
        }
        require(has_node, "nodeguid", node);
        require(is_found, "portguid", c.before);
    }

    std::string bytes() const {
        std::string all = head_;
        put_number(all, nodes_at, nodes_.size() | u64{order_.size()} << 32); // two 32-bit numbers
        put_number(all, from_at, nodes_[from_].guid);
        for (const cached_node& n : nodes_) all += bytes_of(n);
        for (const std::size_t p : order_) all += bytes_of(ports_[p]);
        return all;
    }

private:
    void read(std::string_view in) {
        const auto take = [&](std::size_t n) { return std::string(std::exchange(in, in.substr(n)).substr(0, n)); };
        const auto count_at = [](std::string_view head, std::size_t at) { return number_at(head, at) & 0xffffffff; };
        head_ = take(head_bytes);
        using key = std::pair<u64, u8>; // GUID and port number
        std::vector<std::vector<key>> named;
        for (u64 n = count_at(head_, 8); n > 0; --n) {
            const std::string bytes = take(node_bytes);
            nodes_.push_back({bytes, number_at(bytes, node_guid_at), {}});
            named.emplace_back();
            for (u8 left = static_cast<u8>(take(1)[0]); left > 0; --left) {
                const std::string port = take(9);
                named.back().emplace_back(number_at(port, 0), static_cast<u8>(port[8]));
            }
        }
        std::map<key, std::size_t> by_key;
        for (u64 n = count_at(head_, 12); n > 0; --n) {
            std::string bytes = take(port_bytes);
            put_number(bytes, key_at, 0); // the M_Key, the first field of PortInfo
            const key its_own{number_at(bytes, 0), static_cast<u8>(bytes[port_number_at])};
            by_key[its_own] = ports_.size();
            ports_.push_back({bytes, its_own.first, its_own.second, 0, {}});
        }
        connect(named, by_key);
    }

    template <class Named, class Keys> void connect(const Named& named, const Keys& by_key) {
        std::map<u64, std::size_t> by_guid;
        std::set<std::size_t> taken;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            by_guid[nodes_[n].guid] = n;
            for (const auto& name : named[n]) {
                const auto found = by_key.find(name);
                if (found == by_key.end())
                    throw std::runtime_error(
                        fmt::format("node {:#x} refers to a port that the file does not contain", nodes_[n].guid));
                if (!taken.insert(found->second).second)
                    throw std::runtime_error(
                        fmt::format("a port belongs to two nodes, one of them {:#x}", nodes_[n].guid));
                nodes_[n].ports.push_back(found->second);
            }
        }
        from_ = by_guid.at(number_at(head_, from_at));
        for (cached_port& p : ports_) {
            p.owner = by_guid.at(number_at(p.bytes, owner_at));
            if (p.bytes[has_peer_at] != 0)
                p.peer = by_key.at({number_at(p.bytes, peer_at), static_cast<u8>(p.bytes[peer_number_at])});
        }
        put_in_order();
    }

    /// Sorts the ports as libibnetdisc writes them: in the order of its hash table, by the GUID that they had when loaded. For ports in
    /// one bucket, the last one comes first. Nodes are loaded from the last to the first.
    void put_in_order() {
        constexpr std::size_t rows = 137;
        std::array<std::vector<std::size_t>, rows> table;
        for (std::size_t n = nodes_.size(); n-- > 0;)
            for (const std::size_t p : nodes_[n].ports) {
                const u32 low = static_cast<u32>(ports_[p].guid), high = static_cast<u32>(ports_[p].guid >> 32);
                table[(low * 101u ^ high * 103u) % rows].push_back(p);
            }
        for (const auto& row : table) order_.insert(order_.end(), row.rbegin(), row.rend());
    }

    void rename(cached_node& n, u64 guid) {
        n.guid = guid;
        if (!n.is(iba::NodeType::Switch)) return;
        for (const std::size_t p : n.ports) ports_[p].guid = guid;
    }

    std::string bytes_of(const cached_node& n) const {
        std::string bytes = n.bytes;
        put_number(bytes, node_guid_at, n.guid);
        bytes += static_cast<char>(n.ports.size());
        for (const std::size_t p : n.ports) {
            bytes.append(9, '\0');
            put_number(bytes, bytes.size() - 9, ports_[p].guid);
            bytes.back() = static_cast<char>(ports_[p].number);
        }
        return bytes;
    }
    std::string bytes_of(const cached_port& p) const {
        std::string bytes = p.bytes;
        put_number(bytes, 0, p.guid);
        put_number(bytes, owner_at, nodes_[p.owner].guid);
        if (p.peer) put_number(bytes, peer_at, ports_[*p.peer].guid);
        return bytes;
    }

    static void require(bool is_found, const char* what, iba::guid g) {
        if (!is_found) throw std::runtime_error(fmt::format("{} = {:x} not found", what, value(g)));
    }

    std::string head_;
    std::vector<cached_node> nodes_;
    std::vector<cached_port> ports_;
    std::vector<std::size_t> order_; // indices into ports_, in the order of writing
    std::size_t from_ = 0;
};

} // namespace

std::string edited_diags_cache(std::span<const u8> bytes, const cache_edits& e) {
    cache_editor cache(bytes);
    if (e.switch_guid) cache.change_nodes(iba::NodeType::Switch, "switchguid", *e.switch_guid);
    if (e.ca_guid) cache.change_nodes(iba::NodeType::CA, "caguid", *e.ca_guid);
    if (e.system_image_guid) cache.change_system(*e.system_image_guid);
    if (e.port_guid) cache.change_port(e.node, *e.port_guid);
    return cache.bytes();
}

} // namespace comad::discovery
