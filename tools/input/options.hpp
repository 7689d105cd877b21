// SPDX-License-Identifier: MIT
// options.hpp - the options that every command has, and the exit codes. Knows no command.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/mad/port_keys.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace ibtool {

class arguments;

/// One table for all commands.
enum exit_code : int {
    complete = 0, ///< all that was asked for
    failed = 1,   ///< failed, or could not start
    usage = 2,    ///< the command line makes no sense
    partial = 3,  ///< a result with holes; the holes are on stderr
};

/// The command line asks for something that cannot be: exit code 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct global_options {
    std::string fabric;                  ///< `umad[:DEVICE[/PORT]]`, `ibsim[:SOCKNAME[,NODE]]`, `sim:...`; empty: umad
    std::string ca;                      ///< -C: device name, for umad
    unsigned ca_port = 0;                ///< -P; 0: any
    std::string default_ca;              ///< CA of the configuration file, for umad when nothing else names a port
    unsigned default_ca_port = 0;        ///< Port, likewise
    unsigned descriptors = 1;            ///< how often the umad device is opened
    unsigned outstanding = 0;            ///< MADs in flight; 0: adaptive
    unsigned max_rate = 0;               ///< MADs per second; 0: any number
    bool polite = false;                 ///< give way when round trips grow
    std::chrono::nanoseconds timeout{0}; ///< per attempt; 0: measured for Gets, else 1 s
    int retries = -1;                    ///< attempts after the first; -1: as measured for Gets, else 2
    comad::mad::port_keys keys;          ///< of --key-file, and for all other ports those of -y, --smkey, --cckey
    comad::u64 max_nodes = 200'000;      ///< that a discovery may find
    std::chrono::nanoseconds max_time = std::chrono::hours(1); ///< that one may take
    std::string pcap;               ///< a capture of every MAD that is sent or arrives; empty: none
    unsigned sm_port = 0;           ///< -s: LID to ask as the SA; 0: where the local port knows one
    bool by_SA = false;             ///< --sa: the SA's records instead of SMPs
    unsigned verbosity = 0;         ///< -v: counts
    unsigned debug = 0;             ///< -d: 1 a line for each MAD, 2 its words, too; and so much more of an error
    bool mlnx_ext_port_info = true; ///< MLX_EPI of the configuration file

    comad::coro::schedule_options schedule() const;
    /// Of an error not only what a user has to know, and each thing that is missing has a line of its own.
    bool tells_all() const noexcept { return verbosity > 0 || debug > 0; }
};

/// Adds the options to the program; they are accepted before and after the command.
void add_global_options(arguments& takes, global_options& options);

/// `500` and `500ms` are milliseconds, `1s`, `1.5s` seconds, `200us` microseconds. Throws usage_error.
std::chrono::nanoseconds parse_duration(const std::string& text,
                                        std::chrono::seconds longest = std::chrono::seconds(2000));

/// A number of a command line, `what` in messages, in decimal or behind 0x. Throws usage_error if it is none or above
/// `highest`.
comad::u32 read_number(const std::string& text, const char* what, comad::u32 highest);

} // namespace ibtool
