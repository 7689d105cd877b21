// SPDX-License-Identifier: MIT
// sweep_file.hpp - converts sweeps to and from the records of a sweep file, which docs/reference/sweep-files.md describes. Opens no files
// and reads no clock.
//
//     counters::sweep_file_writer writer;
//     std::string bytes = writer.header() + writer.add(sweep, subnet, begin_in_unix_time);
//
//     counters::sweep_file_reader reader;
//     reader.take(bytes); // any number of bytes, as often as needed
//     while (const auto saved = reader.next()) use(*saved);
//     reader.finish();
//
// A sweep in a file contains the counters of each port and the time at which they were read. It contains neither failures, sums nor
// details. Both classes need memory for one sweep, however long the file is.
#pragma once
#include <comad/counters/sweep.hpp>

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace comad::counters {

/// A sweep from a file.
struct saved_sweep {
    u64 number = 0; ///< in its file, from 1
    /// The nodes and ports of the sweep, with GUIDs, types, descriptions and LIDs. It contains no links, and no other ports.
    std::shared_ptr<const discovery::subnet> subnet;
    /// `begin`, `end` and the times of the samples are Unix time, in nanoseconds since 1970, and not times of a schedule's clock. See
    /// shift_times().
    sweep values;
};

/// The error of a file that is not a sweep file, or of a damaged one: what() is one line without the file's name.
struct sweep_file_error : std::runtime_error {
    sweep_file_error(const std::string& text, bool ends_early) : std::runtime_error(text), is_truncated(ends_early) {}
    bool is_truncated; ///< the file ends within a record, and everything before is correct
};

/// What the next record depends on. A writer that continues a file takes it from the reader of the file.
struct sweep_file_state {
    std::string ports; ///< payload of the last record of ports; empty: none
    /// The last known values of each port in the last record of ports.
    std::vector<std::array<u64, counter_count>> last;
    u64 sweeps = 0; ///< sweeps so far
};

/// Writes a sweep file.
class sweep_file_writer {
public:
    sweep_file_writer() = default;
    /// Continues a file after its last sweep.
    explicit sweep_file_writer(sweep_file_state from) : state_(std::move(from)) {}

    /// Returns the bytes at the start of a file.
    static std::string header();
    /// Returns the records of a sweep. They must be written completely, after those of the sweep before.
    /// `unix_begin`: the Unix time of the start of the sweep; not negative.
    std::string add(const sweep&, const discovery::subnet&, mad::duration unix_begin);

    /// The number of sweeps in the file.
    u64 sweeps() const noexcept { return state_.sweeps; }

private:
    sweep_file_state state_;
};

/// Reads a sweep file. The bytes are not trusted: all lengths, numbers and checksums are checked before they are used, and memory is
/// bounded by the size of the file and by the largest numbers of nodes and ports in a subnet cache.
class sweep_file_reader {
public:
    /// Takes the next bytes of the file.
    void take(std::string_view bytes) { bytes_.append(bytes); }
    /// Returns the next sweep whose bytes were all taken; nullopt: more bytes are needed.
    /// Errors: throws sweep_file_error; then no further sweep can be read.
    std::optional<saved_sweep> next();
    /// Call this after the last byte. Errors: throws sweep_file_error if the file is empty or ends within a record.
    void finish() const;

    /// The length of the header and all complete sweeps so far, in bytes.
    u64 complete_bytes() const noexcept { return complete_; }
    /// What a writer needs to continue the file after its last complete sweep.
    const sweep_file_state& state() const noexcept { return state_; }

private:
    std::optional<std::string_view> record();
    void read_header();
    void read_ports(std::string_view payload, u64 begin);
    saved_sweep read_sweep(std::string_view payload, u64 begin);

    std::string bytes_;    // the bytes from offset_ on
    std::size_t used_ = 0; // of bytes_
    u64 offset_ = 0;       // in the file, of bytes_[0]
    u64 complete_ = 0;
    bool has_header_ = false;
    bool has_new_ports_ = false; // the ports were read after the last complete sweep
    sweep_file_state state_;
    std::shared_ptr<const discovery::subnet> subnet_;
    std::vector<discovery::port_ref> places_;
};

/// Adds `by` to all times of a sweep.
void shift_times(sweep&, mad::duration by) noexcept;

} // namespace comad::counters
