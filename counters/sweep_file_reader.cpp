// SPDX-License-Identifier: MIT
// sweep_file_reader.cpp - reads the records of a sweep file. Every length and number is checked before it is used.
#include "sweep_file_bytes.hpp"
#include <comad/discovery/formats/subnet_file.hpp>
#include <comad/iba/detail/format.hpp>

#include <algorithm>
#include <utility>

namespace comad::counters {

using namespace file_format;

namespace {

u32 number_at(std::string_view bytes, std::size_t at) noexcept {
    u32 value = 0;
    for (const char c : bytes.substr(at, 4)) value = value << 8 | static_cast<u8>(c);
    return value;
}

[[noreturn]] void refuse_file(const std::string& why, bool is_truncated = false) {
    throw sweep_file_error(why, is_truncated);
}

/// Builds the subnet of a record of ports.
class port_list_reader {
public:
    port_list_reader(std::string_view payload, u64 begin) : in_(payload, begin) {}

    discovery::subnet made;
    std::vector<discovery::port_ref> places;

    void read() {
        const u64 nodes = in_.short_number("the number of nodes", discovery::max_cached_nodes);
        for (u64 i = 0; i < nodes; ++i) read_node(static_cast<u32>(i));
        if (in_.left()) in_.fail("the record of the ports has more bytes than its nodes");
    }

private:
    void read_node(u32 index) {
        discovery::node n;
        n.info.nodeGUID = iba::guid{in_.number<u64>("a node GUID")};
        n.info.nodeType = iba::NodeType{in_.number<u8>("a node type")};
        const auto length = in_.number<u8>("the length of a description");
        n.description = in_.bytes(length, "a description");
        const u64 ports = in_.short_number("the number of ports of a node", 255);
        if (ports == 0) in_.fail("a node has no ports");
        for (u64 i = 0; i < ports; ++i) read_port(n, index);
        n.info.numPorts = static_cast<u8>(n.ports.size() - 1);
        ports_ += n.ports.size();
        if (ports_ > discovery::max_cached_ports)
            in_.fail(fmt::format("the file has too many ports; the maximum is {}", discovery::max_cached_ports));
        if (!made.by_guid.emplace(n.info.nodeGUID, index).second)
            in_.fail(fmt::format("the file contains two nodes with GUID {}", n.info.nodeGUID));
        made.nodes.push_back(std::move(n));
    }
    void read_port(discovery::node& n, u32 index) {
        const auto number = in_.number<u8>("a port number");
        const iba::lid LID{in_.number<u16>("a LID")};
        if (number < n.ports.size()) in_.fail(fmt::format("port {} is not in order", number));
        n.ports.resize(number + 1u);
        n.ports[n.is_switch() ? 0 : number].info.emplace().LID = LID;
        n.ports[number].info.emplace().LID = LID;
        places.push_back({index, number});
    }

    record_reader in_;
    std::size_t ports_ = 0;
};

/// Reads the rows of a sweep.
class row_reader {
public:
    row_reader(record_reader& in, mad::time_point begin) : in_(in), begin_(begin) {}

    void read(reading& r, std::array<u64, counter_count>& last) {
        const auto head = in_.number<u8>("the flags of a port");
        if (head > all_row || (head && !(head & is_valid))) in_.fail(fmt::format("the flags of a port are {}", head));
        if (!head) return;
        microseconds_ += in_.difference("the time of a port");
        if (microseconds_ > longest_time / 1000) in_.fail("the time of a port is after the end of its sweep");
        if (head & has_kinds) read_kinds();
        if (head & has_mask) mask_ = static_cast<u32>(in_.short_number("the changed counters", all_counters));
        if (mask_ & ~present_) in_.fail("a counter changed that the port does not have");
        std::array<u64, counter_count> more{};
        for (unsigned i = 0; i < counter_count; ++i)
            if (mask_ >> i & 1) more[i] = in_.difference("a counter");
        for_each_unicast([&](counter c, counter all, counter multicast) {
            if (present_ >> index(c) & 1) more[index(c)] += more[index(all)] - more[index(multicast)];
        });
        r.valid = true;
        r.counters.at = begin_ + std::chrono::microseconds(microseconds_);
        for (unsigned i = 0; i < counter_count; ++i) {
            if (!(present_ >> i & 1)) continue;
            last[i] += more[i];
            if (!r.counters.counters.set(static_cast<counter>(i), last[i], wide_ >> i & 1))
                in_.fail(
                    fmt::format("{} is {}, which its field cannot contain", name_of(static_cast<counter>(i)), last[i]));
        }
    }

private:
    void read_kinds() {
        present_ = static_cast<u32>(in_.short_number("the counters of a port", all_counters));
        wide_ = static_cast<u32>(in_.short_number("the 64-bit counters of a port", all_counters));
        if (wide_ & ~present_) in_.fail("a counter has 64 bits that the port does not have");
    }

    record_reader& in_;
    mad::time_point begin_;
    u64 microseconds_ = 0;
    u32 present_ = 0, wide_ = 0, mask_ = 0;
};

} // namespace

std::optional<saved_sweep> sweep_file_reader::next() {
    if (!has_header_) {
        if (bytes_.size() < header_bytes) return std::nullopt;
        read_header();
    }
    while (const auto found = record()) {
        const char kind = found->front();
        const std::string_view payload = found->substr(head_bytes, found->size() - frame_bytes);
        const u64 begin = offset_ + used_ + head_bytes;
        std::optional<saved_sweep> made;
        if (kind == kind_ports) read_ports(payload, begin);
        else made = read_sweep(payload, begin);
        used_ += found->size();
        if (!made) continue;
        complete_ = offset_ + used_;
        return made;
    }
    return std::nullopt;
}

void sweep_file_reader::read_header() {
    const std::string_view head = std::string_view(bytes_).substr(0, header_bytes);
    if (!head.starts_with(magic)) refuse_file("it is not a sweep file");
    const u32 written = number_at(head, magic.size());
    if (number_at(head, header_bytes - 4) != checksum_of(head.substr(0, header_bytes - 4)))
        refuse_file("the checksum of its header is wrong");
    if (written != version)
        refuse_file(fmt::format("it has format version {}, but this program reads version {}", written, version));
    has_header_ = true;
    complete_ = used_ = header_bytes;
}

/// Returns whether only zeros follow: file systems can add them to the end of a file when the machine crashes.
bool is_padding(std::string_view left) {
    return left.size() <= longest_padding && left.find_first_not_of('\0') == left.npos;
}

/// Returns the next record if all of it was taken.
std::optional<std::string_view> sweep_file_reader::record() {
    if (used_ > (std::size_t{1} << 20) && 2 * used_ > bytes_.size()) {
        bytes_.erase(0, used_);
        offset_ += std::exchange(used_, 0);
    }
    const std::string_view left = std::string_view(bytes_).substr(used_);
    if (left.size() < head_bytes || is_padding(left)) return std::nullopt;
    const char kind = left.front();
    if (kind != kind_ports && kind != kind_sweep)
        refuse_file(fmt::format("unknown record, at byte {}", offset_ + used_));
    const std::size_t size = number_at(left, 1);
    if (number_at(left, head_bytes - 4) != checksum_of(left.substr(0, head_bytes - 4)))
        refuse_file(fmt::format("the checksum of the head of the record at byte {} is wrong", offset_ + used_));
    if (size > largest_record) refuse_file(fmt::format("a record has {} bytes, at byte {}", size, offset_ + used_));
    if (left.size() < frame_bytes || left.size() - frame_bytes < size) return std::nullopt;
    if (number_at(left, head_bytes + size) != checksum_of(left.substr(0, head_bytes + size)))
        refuse_file(fmt::format("the checksum of the record at byte {} is wrong", offset_ + used_));
    return left.substr(0, frame_bytes + size);
}

void sweep_file_reader::finish() const {
    if (!has_header_ && bytes_.empty()) refuse_file("it is empty");
    if (!has_header_ && !magic.starts_with(std::string_view(bytes_).substr(0, magic.size())))
        refuse_file("it is not a sweep file");
    if (!has_header_ || used_ != bytes_.size() || has_new_ports_)
        refuse_file(fmt::format("it ends within a sweep, at byte {}", offset_ + bytes_.size()), has_header_);
}

void sweep_file_reader::read_ports(std::string_view payload, u64 begin) {
    port_list_reader reading_ports(payload, begin);
    reading_ports.read();
    state_.ports = payload;
    state_.last.assign(reading_ports.places.size(), {});
    places_ = std::move(reading_ports.places);
    subnet_ = std::make_shared<const discovery::subnet>(std::move(reading_ports.made));
    has_new_ports_ = true;
}

saved_sweep sweep_file_reader::read_sweep(std::string_view payload, u64 begin) {
    record_reader in(payload, begin);
    if (!subnet_) in.fail("the file contains a sweep before its ports");
    saved_sweep s;
    s.subnet = subnet_;
    s.number = in.short_number("the number of a sweep");
    if (s.number != state_.sweeps + 1) in.fail(fmt::format("sweep {} follows sweep {}", s.number, state_.sweeps));
    const auto unix_begin = in.number<u64>("the time of a sweep");
    if (unix_begin > latest_time) in.fail(fmt::format("the time of a sweep is {}", unix_begin));
    s.values.begin = mad::time_point(mad::duration(unix_begin));
    s.values.end = s.values.begin + mad::duration(in.short_number("the duration of a sweep", longest_time));
    s.values.mads = in.short_number("the number of MADs");
    const auto flags = in.number<u8>("the flags of a sweep");
    if (flags > stopped) in.fail(fmt::format("the flags of a sweep are {}", flags));
    s.values.is_stopped = flags & stopped;
    if (in.left() < places_.size()) in.fail("a sweep does not contain all of its ports");
    s.values.ports.resize(places_.size());
    row_reader rows(in, s.values.begin);
    for (std::size_t i = 0; i < places_.size(); ++i) {
        s.values.ports[i].where = places_[i];
        rows.read(s.values.ports[i], state_.last[i]);
    }
    if (in.left()) in.fail("a sweep has more bytes than its ports");
    ++state_.sweeps;
    has_new_ports_ = false;
    return s;
}

void shift_times(sweep& s, mad::duration by) noexcept {
    s.begin += by;
    s.end += by;
    for (auto* list : {&s.ports, &s.sums})
        for (reading& r : *list)
            if (r.valid) r.counters.at += by;
}

} // namespace comad::counters
