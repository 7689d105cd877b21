// SPDX-License-Identifier: MIT
// pcap.cpp - reads and writes capture files with libpcap.
#include "input/pcap.hpp"

#include "comad.hpp"
#include "input/queued_writer.hpp"
#include "input/roce_frame.hpp"
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/mad/detail/packet.hpp>

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

constexpr int snapshot_length = 1 << 16;

/// The start of an ERF record (Endace; Wireshark's wiretap/erf_record.h). Big-endian except for the time.
struct erf_header {
    static constexpr std::size_t size = 16;
    static constexpr u8 type_infiniband = 21;
    static constexpr u8 type_bits = 0x7f, has_extension = 0x80; // each 8-byte extension starts with the second bit, too
};

/// Returns the header of a record with `length` bytes of packet: seconds since 1970 as 32.32 fixed point, type, flags, sizes.
std::array<u8, erf_header::size> make_erf_header(std::uint64_t seconds, std::uint64_t nanoseconds, std::size_t length) {
    std::array<u8, erf_header::size> h{};
    const std::uint64_t time = seconds << 32 | (nanoseconds << 32) / 1'000'000'000;
    for (unsigned i = 0; i < 8; ++i) h[i] = static_cast<u8>(time >> 8 * i);
    h[8] = erf_header::type_infiniband;
    h[9] = 0x04; // variable record length
    comad::iba::store_be<comad::u16>(&h[10], static_cast<comad::u16>(length + h.size()));
    comad::iba::store_be<comad::u16>(&h[14], static_cast<comad::u16>(length));
    return h;
}

/// Returns the packet in an ERF record; empty if the record does not contain an InfiniBand packet.
std::span<const u8> packet_of(std::span<const u8> record) {
    if (record.size() < erf_header::size || (record[8] & erf_header::type_bits) != erf_header::type_infiniband)
        return {};
    std::size_t begin = erf_header::size;
    for (u8 type = record[8]; (type & erf_header::has_extension) != 0 && begin + 8 <= record.size(); begin += 8)
        type = record[begin];
    const std::size_t length = comad::iba::load_be<comad::u16>(&record[14]);
    return record.subspan(begin, std::min(length, record.size() - begin));
}

/// Closes a capture that libpcap has opened.
struct close_pcap {
    void operator()(pcap_t* p) const noexcept { ::pcap_close(p); }
};
using pcap_ptr = std::unique_ptr<pcap_t, close_pcap>;

} // namespace

namespace {

/// The header of the file and the header of each record (pcap-savefile(5)), in the byte order of this machine.
struct pcap_file_start {
    comad::u32 magic = 0xa1b23c4d; // times in nanoseconds
    comad::u16 major = 2, minor = 4;
    comad::u32 zone = 0, accuracy = 0, snapshot = snapshot_length, link_type = 197; // LINKTYPE_ERF
};
/// The header of a record in a pcap file.
struct pcap_record_start {
    comad::u32 seconds, nanoseconds, length_in_file, length;
};

template <class Start> void add_start(std::string& to, const Start& start) {
    to.append(reinterpret_cast<const char*>(&start), sizeof start);
}

[[noreturn]] void refuse_capture(const std::string& name, int why) {
    throw std::runtime_error(
        fmt::format("cannot write the capture '{}': {}", comad::iba::escaped(name), std::strerror(why)));
}

/// Opens a file that only its owner may read; `-` is stdout. A FIFO without a reader is opened later.
std::unique_ptr<queued_writer> open_private(const std::string& name) {
    const queued_writer::settings how{.full = queued_writer::when_full::wait};
    constexpr mode_t owner_alone = 0600;
    comad::mad::unique_fd opened(
        name == "-"
            ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
            : ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, owner_alone));
    const int why = errno;
    struct stat about {};
    if (!opened && why == ENXIO && ::stat(name.c_str(), &about) == 0 && S_ISFIFO(about.st_mode))
        return std::make_unique<queued_writer>(name, how);
    if (!opened) refuse_capture(name, why);
    if (name != "-") {
        ::fcntl(opened.get(), F_SETFL, ::fcntl(opened.get(), F_GETFL) & ~O_NONBLOCK);
        const bool is_ours =
            ::fstat(opened.get(), &about) == 0 &&
            (!S_ISREG(about.st_mode) || ::fchmod(opened.get(), owner_alone) == 0); // the file may have existed before
        if (!is_ours) refuse_capture(name, errno);
    }
    return std::make_unique<queued_writer>(std::move(opened), how);
}

} // namespace

pcap_writer::pcap_writer(const std::string& name) : out_(open_private(name)), name_(name) {
    add_start(buffer_, pcap_file_start{});
}
// Finishes the file also if an exception ends the command: the last packets show the cause.
pcap_writer::~pcap_writer() {
    if (is_finished_) return;
    flush();
    out_->finish(after(std::chrono::milliseconds(500)));
}

void pcap_writer::write(const comad::transports::captured_mad& m, bool with_keys) noexcept {
    std::array<u8, comad::mad::mad_size> mad;
    std::copy(m.mad.begin(), m.mad.end(), mad.begin());
    if (!with_keys) comad::iba::hide_keys(mad);
    const auto packet = comad::mad::make_packet(m.address, PSN_++ & 0xffffff, mad);
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(m.when.time_since_epoch()).count();
    const auto seconds = static_cast<std::uint64_t>(since / 1'000'000'000),
               nanoseconds = static_cast<std::uint64_t>(since % 1'000'000'000);
    const auto erf = make_erf_header(seconds, nanoseconds, packet.size());
    const auto length = static_cast<comad::u32>(erf.size() + packet.size());
    add_start(buffer_, pcap_record_start{static_cast<comad::u32>(seconds), static_cast<comad::u32>(nanoseconds), length,
                                         length});
    buffer_.append(erf.begin(), erf.end()).append(packet.begin(), packet.end());
    ++records_in_buffer_;
    constexpr std::size_t most_in_buffer = 4096;
    if (buffer_.size() >= most_in_buffer) flush();
}

void pcap_writer::flush() noexcept {
    out_->write(buffer_, records_in_buffer_, gives_up_);
    buffer_.clear();
    records_in_buffer_ = 0;
}

void pcap_writer::never_wait() { out_->when_queue_is_full(queued_writer::when_full::drop); }

comad::u64 pcap_writer::dropped() const noexcept { return out_->dropped(); }

void pcap_writer::finish() {
    is_finished_ = true;
    flush();
    out_->finish(gives_up_ ? gives_up_ : [] { return false; });
    const std::string name = comad::iba::escaped(name_);
    if (out_->error() != 0)
        throw std::runtime_error(fmt::format("the capture '{}' is incomplete: {}", name, std::strerror(out_->error())));
    if (const comad::u64 lost = out_->dropped())
        throw std::runtime_error(fmt::format("the capture '{}' is incomplete: its reader did not read {} packet{}",
                                             name, lost, lost == 1 ? "" : "s"));
}

namespace {

/// Returns the first header in records of a link type; nullopt if the type is not a type of frames that can contain RoCE.
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
            fmt::format("cannot read {}: unsupported link type {}; expected InfiniBand, ERF, Ethernet or IP", name,
                        known ? known : std::to_string(type)));
    }
    bool has_any = false;
    for (std::size_t number = 1;; ++number) {
        pcap_pkthdr* header = nullptr;
        const u_char* data = nullptr;
        const int result = ::pcap_next_ex(in.get(), &header, &data);
        if (result == PCAP_ERROR_BREAK) { // the end of the file
            if (has_any || number == 1) return;
            throw std::runtime_error(fmt::format("{} contains {} packet{}, but no InfiniBand packets", name, number - 1,
                                                 number == 2 ? "" : "s"));
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
