// SPDX-License-Identifier: MIT
// options.hpp - the options that every command has, and the exit codes. Does not depend on a particular command.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/mad/port_keys.hpp>
#include <comad/transports/detail/held_requests.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

namespace ibtool {

class arguments;

/// The exit codes of all commands.
enum exit_code : int {
    complete = 0, ///< everything that was requested
    failed = 1,   ///< failed, or could not start
    usage = 2,    ///< the command line is wrong
    partial = 3,  ///< a partial result; its failures are on stderr
};

/// The command line requests something impossible: exit code 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How a subnet is discovered.
enum class discovery_mode : comad::u8 {
    automatic, ///< uses LIDs if the local port has one
    DR,
    LID,
    SA,
};

/// The values of the options that all commands share.
struct global_options {
    std::string
        fabric; ///< `umad[:DEVICE[/PORT]]`, `verbs[...]`, `ibsim[:SOCKNAME[,NODE]]`, `sim:...`; empty: umad, or verbs if umad is missing
    std::string fabric_name; ///< NAME of `--fabric NAME=FABRIC`; empty: none
    std::string ca;          ///< -C: device name or node GUID, for umad
    std::string ca_port;     ///< -P: number of a port, or an end port; empty: any
    /// --fabric, as often as it is given: `fabric` and `fabric_name` of each, see each_fabric()
    std::vector<std::string> fabrics;
    std::vector<std::string> cas;      ///< -C, likewise
    std::vector<std::string> ca_ports; ///< -P, likewise
    std::vector<std::string> ports; ///< --local-ports: the fabric of each port that discovers; see fabrics_of_ports()
    bool all_fabrics = false;       ///< --all-fabrics
    /// The end ports of all subnets that were discovered so far; null: not recorded. For several fabrics, of which two may be one subnet.
    std::shared_ptr<std::unordered_set<comad::iba::guid>> found_ports;
    std::string default_ca;              ///< CA of the configuration file: umad device if nothing else specifies a port
    unsigned default_ca_port = 0;        ///< Port of the configuration file, likewise
    unsigned descriptors = 1;            ///< how many times the umad device is opened
    unsigned outstanding = 0;            ///< MADs in flight; 0: adaptive
    unsigned max_rate = 0;               ///< MADs per second; 0: unlimited
    bool polite = false;                 ///< reduce the rate when round-trip times grow
    std::chrono::nanoseconds timeout{0}; ///< per attempt; 0: measured for Gets, 1 s otherwise
    int retries = -1;                    ///< attempts after the first; -1: as measured for Gets, 6 for Sets, else 2
    comad::mad::port_keys keys;          ///< keys from --key-file; for all other ports from -y, --smkey, --cckey
    comad::u64 max_nodes = 200'000;      ///< limit of nodes in a discovery
    std::chrono::nanoseconds max_time = std::chrono::hours(1); ///< time limit of a discovery
    std::string subnet_cache;           ///< file name, with $C, $P, $A, that stores a discovered subnet; empty: none
    bool refresh_cache = false;         ///< discover even if the cache exists
    std::string load_cache;             ///< cache that is read instead of a discovery; empty: none
    bool strict = false;                ///< --strict: nothing in a topology file is skipped
    std::string pcap;                   ///< capture file for every MAD sent or received; empty: none
    bool pcap_keys = false;             ///< the capture contains keys
    unsigned sm_port = 0;               ///< -s: LID of the SA; 0: the SA that the local port knows
    std::optional<unsigned> pkey_index; ///< -Y: index in the local port's P_Key table for GMPs
    std::optional<comad::u16> pkey;     ///< --pkey: P_Key for GMPs; never with pkey_index
    std::string sa_path;                ///< --sa-path: target of the SA; empty: the SA that the local port knows
    bool by_sa = false;                 ///< --sa: query the SA's records instead of sending SMPs
    discovery_mode discovery = discovery_mode::automatic;
    bool iba_names = false;         ///< --int-names: print field names of the IBA instead of those of infiniband-diags
    unsigned verbosity = 0;         ///< -v: 1 prints counts, 2 structures as annotated words
    unsigned debug = 0;             ///< -d: 1 prints a line for each MAD, 2 also its words, and more details of errors
    bool trace_keys = false;        ///< -dd also prints keys, because the command has -K
    bool mlnx_ext_port_info = true; ///< MLX_EPI of the configuration file

    bool discovers_by_sa() const noexcept { return by_sa || discovery == discovery_mode::SA; }

    /// The time for which the kernel holds a request.
    comad::transports::kernel_timeout umad_timeout = comad::transports::kernel_timeout::automatic;

    std::vector<std::string> warnings; ///< lines about ignored settings

    /// The sources of keys, in the order in which they are added to `keys`.
    using key_source = std::function<void(comad::mad::port_keys&)>;
    std::vector<key_source> key_sources;
    /// Adds a source, and its keys.
    void add_keys(key_source);
    /// Reads all sources again, for example key files. If one of them throws, `keys` stay as they were.
    void reread_keys();

    comad::coro::schedule_options schedule() const;
    /// Returns the options of a command with or without -K.
    global_options with_trace_keys(bool shown) const {
        global_options options = *this;
        options.trace_keys = shown;
        return options;
    }
    /// Returns whether errors are printed with all details, and failures one by one.
    bool shows_all() const noexcept { return verbosity > 0 || debug > 0; }
};

/// Returns the keys of the sources, in that order. Passes on the exceptions of sources.
comad::mad::port_keys keys_of(const std::vector<global_options::key_source>&);

/// Declares these options; they are accepted before and after the command.
void add_global_options(arguments& takes, global_options& options);

/// Returns the options for each fabric that --fabric names, or -C with its -P. Without these options, or with only one, the result has one
/// element. Throws usage_error if the combination is invalid.
std::vector<global_options> each_fabric(const global_options&);

/// Returns the fabric that the options select, as the text of --fabric: `umad:mlx5_0/1`; `umad` if they select none.
std::string selected_fabric(const global_options&);

/// Returns the name of the fabric for users: the NAME that they gave it, else `place`, else selected_fabric().
std::string name_of_fabric(const global_options&, const std::string& place = {});

/// Returns the fabrics of the values of --local-ports: `mlx5_0/1,mlx5_1/1` is `umad:mlx5_0/1` and `umad:mlx5_1/1`. A value that names a
/// kind of fabric, such as `ibsim:...`, is one fabric. Throws usage_error if a port is missing or given twice.
std::vector<std::string> fabrics_of_ports(const std::vector<std::string>& values);

/// Reads the default configuration file, if it exists. If it cannot be read, this is a warning.
void read_default_config(global_options& options, const std::string& file);

/// Parses a duration: `500` and `500ms` are milliseconds, `200us` microseconds, `1s` and `1.5s` seconds, `5min` minutes, `36h` hours, `30d`
/// days. Throws usage_error.
std::chrono::nanoseconds parse_duration(const std::string& text,
                                        std::chrono::seconds longest = std::chrono::seconds(2000));

/// Parses a decimal or hexadecimal number from the command line; `what` is its name in messages. Throws usage_error if the text is not a
/// number, or if it is greater than `highest`.
comad::u32 read_number(const std::string& text, const char* what, comad::u32 highest);

} // namespace ibtool
