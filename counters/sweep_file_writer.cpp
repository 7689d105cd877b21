// SPDX-License-Identifier: MIT
// sweep_file_writer.cpp - writes the records of a sweep file: the ports if they differ from those before, then the sweep.
#include "sweep_file_bytes.hpp"

#include <algorithm>
#include <utility>

namespace comad::counters {
namespace {

using namespace file_format;

std::string framed(char kind, std::string_view payload) {
    std::string record(1, kind);
    append<u32>(record, static_cast<u32>(payload.size()));
    append<u32>(record, checksum_of(record)); // otherwise, a wrong size would look like the end of the file
    record += payload;
    append<u32>(record, checksum_of(record));
    return record;
}

/// Returns the record payload of the ports of a sweep. The ports of a node are adjacent.
std::string ports_of_sweep(const sweep& s, const discovery::subnet& in) {
    constexpr std::size_t longest_description = 64;
    std::string nodes;
    u64 count = 0;
    for (std::size_t i = 0; i < s.ports.size(); ++count) {
        const u32 node = s.ports[i].where.node;
        std::size_t end = i;
        while (end < s.ports.size() && s.ports[end].where.node == node) ++end;
        const discovery::node& n = in.nodes[node];
        const std::string_view description = std::string_view(n.description).substr(0, longest_description);
        append<u64>(nodes, value(n.info.nodeGUID));
        append<u8>(nodes, value(n.info.nodeType));
        append<u8>(nodes, static_cast<u8>(description.size()));
        nodes += description;
        append_short(nodes, end - i);
        for (; i < end; ++i) {
            append<u8>(nodes, s.ports[i].where.port);
            append<u16>(nodes, value(in.lid_at(s.ports[i].where)));
        }
    }
    std::string payload;
    append_short(payload, count);
    return payload + nodes;
}

u64 nanoseconds(mad::duration d, u64 most = longest_time) noexcept {
    return std::min(static_cast<u64>(std::max<mad::duration::rep>(d.count(), 0)), most);
}

/// What a port has in common with the port before it, in the same sweep.
struct repeated_parts {
    u64 microseconds = 0;
    u32 present = 0, wide = 0, mask = 0;
};

/// Appends the row of a port, and replaces its last values.
void append_row(std::string& to, const reading& r, mad::time_point begin, std::array<u64, counter_count>& last,
                repeated_parts& repeated) {
    if (!r.valid) return append<u8>(to, 0);
    const counter_values& values = r.counters.counters;
    u32 present = 0, wide = 0, mask = 0;
    std::array<u64, counter_count> more{};
    for_each_counter([&](counter c) {
        if (!values.has(c)) return;
        present |= 1u << index(c);
        if (values.width(c) == 64) wide |= 1u << index(c);
        more[index(c)] = values[c] - std::exchange(last[index(c)], values[c]);
    });
    for_each_unicast([&](counter c, counter all, counter multicast) {
        if (values.has(c)) more[index(c)] -= more[index(all)] - more[index(multicast)];
    });
    for (unsigned i = 0; i < counter_count; ++i)
        if (more[i]) mask |= 1u << i;
    const bool is_other_kind = present != repeated.present || wide != repeated.wide;
    append<u8>(to,
               static_cast<u8>(is_valid | (is_other_kind ? has_kinds : 0) | (mask != repeated.mask ? has_mask : 0)));
    const u64 microseconds = nanoseconds(r.counters.at - begin) / 1000;
    append_signed(to, microseconds - repeated.microseconds);
    if (is_other_kind) {
        append_short(to, present);
        append_short(to, wide);
    }
    if (mask != repeated.mask) append_short(to, mask);
    for (unsigned i = 0; i < counter_count; ++i)
        if (more[i]) append_signed(to, more[i]);
    repeated = {microseconds, present, wide, mask};
}

} // namespace

std::string sweep_file_writer::header() {
    std::string bytes(magic);
    append<u32>(bytes, version);
    append<u32>(bytes, checksum_of(bytes));
    return bytes;
}

std::string sweep_file_writer::add(const sweep& s, const discovery::subnet& in, mad::duration unix_begin) {
    std::string records;
    if (std::string ports = ports_of_sweep(s, in); ports != state_.ports) {
        records = framed(kind_ports, ports);
        state_.ports = std::move(ports);
        state_.last.assign(s.ports.size(), {});
    }
    std::string payload;
    append_short(payload, ++state_.sweeps);
    append<u64>(payload, nanoseconds(unix_begin, latest_time));
    append_short(payload, nanoseconds(s.end - s.begin));
    append_short(payload, s.mads);
    append<u8>(payload, s.is_stopped ? stopped : 0);
    repeated_parts repeated;
    for (std::size_t i = 0; i < s.ports.size(); ++i) append_row(payload, s.ports[i], s.begin, state_.last[i], repeated);
    return records + framed(kind_sweep, payload);
}

} // namespace comad::counters
