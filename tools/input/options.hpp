// SPDX-License-Identifier: MIT
// options.hpp - the options that every command has, and the exit codes. Knows no command.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/mad/port_keys.hpp>
#include <comad/transports/detail/held_requests.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

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

/// How a subnet is discovered.
enum class discovery_mode : comad::u8 {
    automatic, ///< by LIDs where the local port has one
    DR,
    LID,
    SA,
};

struct global_options {
    std::string
        fabric; ///< `umad[:DEVICE[/PORT]]`, `verbs[...]`, `ibsim[:SOCKNAME[,NODE]]`, `sim:...`; empty: umad, or verbs where there is none
    std::string ca;                      ///< -C: device name or node GUID, for umad
    std::string ca_port;                 ///< -P: number of a port, or an end port; empty: any
    std::vector<std::string> fabrics;    ///< --fabric, as often as it is given: `fabric` of each, see each_fabric()
    std::vector<std::string> cas;        ///< -C, likewise
    std::vector<std::string> ca_ports;   ///< -P, likewise
    std::string default_ca;              ///< CA of the configuration file, for umad when nothing else names a port
    unsigned default_ca_port = 0;        ///< Port, likewise
    unsigned descriptors = 1;            ///< how often the umad device is opened
    unsigned outstanding = 0;            ///< MADs in flight; 0: adaptive
    unsigned max_rate = 0;               ///< MADs per second; 0: any number
    bool polite = false;                 ///< give way when round trips grow
    std::chrono::nanoseconds timeout{0}; ///< per attempt; 0: measured for Gets, else 1 s
    int retries = -1;                    ///< attempts after the first; -1: as measured for Gets, 6 for Sets, else 2
    comad::mad::port_keys keys;          ///< of --key-file, and for all other ports those of -y, --smkey, --cckey
    comad::u64 max_nodes = 200'000;      ///< that a discovery may find
    std::chrono::nanoseconds max_time = std::chrono::hours(1); ///< that one may take
    std::string subnet_cache;   ///< a file, with $C, $P, $A in its name, that keeps what was discovered; empty: none
    bool refresh_cache = false; ///< discover although it is there
    std::string load_cache;     ///< a cache of a subnet that is read instead of discovering; empty: none
    bool strict = false;        ///< --strict: nothing in a topology file is skipped
    std::string pcap;           ///< a capture of every MAD that is sent or arrives; empty: none
    bool pcap_keys = false;     ///< with the keys in them
    unsigned sm_port = 0;       ///< -s: LID to ask as the SA; 0: where the local port knows one
    std::optional<unsigned> pkey_index; ///< -Y: index in the local port's P_Key table for GMPs
    std::optional<comad::u16> pkey;     ///< --pkey: P_Key for GMPs; never with pkey_index
    std::string sa_path; ///< --sa-path: where the SA is, as a target; empty: where the local port knows one
    bool by_sa = false;  ///< --sa: the SA's records instead of SMPs
    discovery_mode discovery = discovery_mode::automatic;
    bool iba_names = false;         ///< --int-names: fields by the names of the IBA instead of infiniband-diags'
    unsigned verbosity = 0;         ///< -v: 1 counts, 2 structures as annotated words
    unsigned debug = 0;             ///< -d: 1 a line for each MAD, 2 its words, too; and so much more of an error
    bool mlnx_ext_port_info = true; ///< MLX_EPI of the configuration file

    bool discovers_by_sa() const noexcept { return by_sa || discovery == discovery_mode::SA; }

    /// How long the kernel is told to hold a request.
    comad::transports::kernel_timeout umad_timeout = comad::transports::kernel_timeout::automatic;

    std::vector<std::string> warnings; ///< lines about what was ignored

    /// Where keys come from, in the order in which they are put into `keys`.
    using key_source = std::function<void(comad::mad::port_keys&)>;
    std::vector<key_source> key_sources;
    /// One more of them, from now on.
    void add_keys(key_source);
    /// Asks all sources again, so that key files are read again. What they throw leaves `keys` as they were.
    void read_keys_anew();

    comad::coro::schedule_options schedule() const;
    /// Of an error not only what a user has to know, and each thing that is missing has a line of its own.
    bool tells_all() const noexcept { return verbosity > 0 || debug > 0; }
};

/// The keys of the sources, in that order. Throws what they throw.
comad::mad::port_keys keys_of(const std::vector<global_options::key_source>&);

/// Adds the options to the program; they are accepted before and after the command.
void add_global_options(arguments& takes, global_options& options);

/// The same options for each fabric that --fabric names, or -C with its -P: one, where neither is there or but once.
/// Throws usage_error for a list that makes no sense.
std::vector<global_options> each_fabric(const global_options&);

/// Reads the file that is always read, if there is one: that it cannot be read is a warning.
void read_default_config(global_options& options, const std::string& file);

/// `500` and `500ms` are milliseconds, `1s`, `1.5s` seconds, `200us` microseconds, `5min`, `36h`, `30d` minutes, hours and days. Throws
/// usage_error.
std::chrono::nanoseconds parse_duration(const std::string& text,
                                        std::chrono::seconds longest = std::chrono::seconds(2000));

/// A number of a command line, `what` in messages, in decimal or behind 0x. Throws usage_error if it is none or above
/// `highest`.
comad::u32 read_number(const std::string& text, const char* what, comad::u32 highest);

} // namespace ibtool
