// SPDX-License-Identifier: MIT
// pcap.cpp - libpcap's files.
#include "input/pcap.hpp"

#include "input/frame.hpp"
#include <comad/iba/bits.hpp>
#include <comad/iba/keys.hpp>
#include <comad/iba/text.hpp>
#include <comad/mad/packet.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <pcap/pcap.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ibtool {
namespace {

using comad::u8;

constexpr int snapshot_length = 1 << 16;

/// What an ERF record begins with (Endace; Wireshark's wiretap/erf_record.h). Big-endian but for the time.
struct erf_header {
    static constexpr std::size_t size = 16;
    static constexpr u8 type_infiniband = 21;
    static constexpr u8 type_bits = 0x7f, has_extension = 0x80; // an extension of 8 bytes follows, which says the same
};

/// A record of `length` bytes of packet: seconds since 1970 in 32.32 fixed point, type, flags, sizes.
std::array<u8, erf_header::size> make_erf_header(std::uint64_t seconds, std::uint64_t nanoseconds, std::size_t length) {
    std::array<u8, erf_header::size> h{};
    const std::uint64_t time = seconds << 32 | (nanoseconds << 32) / 1'000'000'000;
    for (unsigned i = 0; i < 8; ++i) h[i] = static_cast<u8>(time >> 8 * i);
    h[8] = erf_header::type_infiniband;
    h[9] = 0x04; // of varying length
    comad::iba::store_be<comad::u16>(&h[10], static_cast<comad::u16>(length + h.size()));
    comad::iba::store_be<comad::u16>(&h[14], static_cast<comad::u16>(length));
    return h;
}

/// The packet in an ERF record; empty if the record holds none of InfiniBand.
std::span<const u8> packet_of(std::span<const u8> record) {
    if (record.size() < erf_header::size || (record[8] & erf_header::type_bits) != erf_header::type_infiniband)
        return {};
    std::size_t begin = erf_header::size;
    for (u8 type = record[8]; (type & erf_header::has_extension) != 0 && begin + 8 <= record.size(); begin += 8)
        type = record[begin];
    const std::size_t length = comad::iba::load_be<comad::u16>(&record[14]);
    return record.subspan(begin, std::min(length, record.size() - begin));
}

struct close_pcap {
    void operator()(pcap_t* p) const noexcept { ::pcap_close(p); }
};
struct close_dump {
    void operator()(pcap_dumper_t* d) const noexcept { ::pcap_dump_close(d); }
};
using pcap_ptr = std::unique_ptr<pcap_t, close_pcap>;

} // namespace

namespace {

/// `-` is the standard output, as libpcap has it.
std::FILE* open_private(const std::string& name) {
    if (name == "-") return stdout;
    constexpr mode_t owner_alone = 0600;
    const int opened = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, owner_alone);
    struct stat about {};
    const bool is_ours = opened >= 0 && ::fstat(opened, &about) == 0 &&
                         (!S_ISREG(about.st_mode) || ::fchmod(opened, owner_alone) == 0); // it may have been there
    std::FILE* const file = is_ours ? ::fdopen(opened, "wb") : nullptr;
    if (file) return file;
    const int why = errno;
    if (opened >= 0) ::close(opened);
    throw std::runtime_error(
        fmt::format("cannot write the capture '{}': {}", comad::iba::escaped(name), std::strerror(why)));
}

} // namespace

struct pcap_writer::file {
    pcap_ptr format{::pcap_open_dead_with_tstamp_precision(DLT_ERF, snapshot_length, PCAP_TSTAMP_PRECISION_NANO)};
    std::unique_ptr<pcap_dumper_t, close_dump> dump;
};

pcap_writer::pcap_writer(const std::string& name) : file_(std::make_unique<file>()), name_(name) {
    file_->dump.reset(::pcap_dump_fopen(file_->format.get(), open_private(name)));
    if (!file_->dump)
        throw std::runtime_error(fmt::format("cannot write the capture: {}", ::pcap_geterr(file_->format.get())));
}
pcap_writer::~pcap_writer() = default;

void pcap_writer::write(const comad::transports::captured_mad& m, bool with_keys) noexcept {
    std::array<u8, comad::mad::mad_size> mad;
    std::copy(m.mad.begin(), m.mad.end(), mad.begin());
    if (!with_keys) comad::iba::hide_keys(mad);
    const auto packet = comad::mad::make_packet(m.address, PSN_++ & 0xffffff, mad);
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(m.when.time_since_epoch()).count();
    pcap_pkthdr header{};
    header.ts.tv_sec = since / 1'000'000'000;
    header.ts.tv_usec = since % 1'000'000'000; // nanoseconds in this format
    const auto erf = make_erf_header(static_cast<std::uint64_t>(header.ts.tv_sec),
                                     static_cast<std::uint64_t>(header.ts.tv_usec), packet.size());
    std::array<u8, erf.size() + packet.size()> record;
    std::copy(packet.begin(), packet.end(), std::copy(erf.begin(), erf.end(), record.begin()));
    header.caplen = header.len = static_cast<bpf_u_int32>(record.size());
    errno = 0;
    ::pcap_dump(reinterpret_cast<u_char*>(file_->dump.get()), &header, record.data());
    if (error_ == 0 && errno != 0 && std::ferror(::pcap_dump_file(file_->dump.get()))) error_ = errno;
}

void pcap_writer::finish() {
    errno = 0;
    if (::pcap_dump_flush(file_->dump.get()) != 0 && error_ == 0) error_ = errno;
    if (error_ != 0)
        throw std::runtime_error(fmt::format("the capture '{}' is not complete: {}", name_, std::strerror(error_)));
}

namespace {

/// What a record of a link type starts with; nothing: none that has InfiniBand packets in it.
std::optional<frame_start> frame_start_of(int type) {
    switch (type) {
    case DLT_EN10MB: return frame_start::ethernet;
    case DLT_LINUX_SLL: return frame_start::cooked;
    case DLT_LINUX_SLL2: return frame_start::cooked2;
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6: return frame_start::ip;
    default: return std::nullopt;
    }
}

captured_packet packet_in_record(std::span<const u8> record, int type, std::optional<frame_start> frame) {
    if (!frame) return {0, type == DLT_ERF ? packet_of(record) : record};
    framed_packet found = packet_in_frame(record, *frame);
    return {0, found.bytes, found.starts_with, std::move(found.where)};
}

} // namespace

void read_pcap(std::FILE* opened, const std::string& name, const std::function<void(const captured_packet&)>& use) {
    char error[PCAP_ERRBUF_SIZE] = {};
    const pcap_ptr in(::pcap_fopen_offline(opened, error));
    if (!in) throw std::runtime_error(fmt::format("cannot read {}: {}", name, error));
    const int type = ::pcap_datalink(in.get());
    const std::optional<frame_start> frame = frame_start_of(type);
    if (type != DLT_INFINIBAND && type != DLT_ERF && !frame) {
        const char* known = ::pcap_datalink_val_to_name(type);
        throw std::runtime_error(
            fmt::format("{} has packets of link type {}; InfiniBand, ERF and Ethernet are supported", name,
                        known ? known : std::to_string(type)));
    }
    bool has_any = false;
    for (std::size_t number = 1;; ++number) {
        pcap_pkthdr* header = nullptr;
        const u_char* data = nullptr;
        const int result = ::pcap_next_ex(in.get(), &header, &data);
        if (result == PCAP_ERROR_BREAK) { // the end of the file
            if (has_any || number == 1) return;
            throw std::runtime_error(fmt::format("{} has {} packets, and none of InfiniBand", name, number - 1));
        }
        if (result < 0) throw std::runtime_error(fmt::format("{}: {}", name, ::pcap_geterr(in.get())));
        captured_packet packet = packet_in_record({data, header->caplen}, type, frame);
        if (packet.bytes.empty()) continue;
        has_any = true;
        packet.number = number;
        use(packet);
    }
}

} // namespace ibtool
