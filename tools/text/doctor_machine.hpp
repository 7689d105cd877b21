// SPDX-License-Identifier: MIT
// doctor_machine.hpp - the facts that `doctor` checks: data of this machine, and replies from the fabric. Reads and sends nothing.
#pragma once
#include "text/subnet_managers.hpp"
#include <comad/iba/detail/smp/node.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sysfs.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// A file in /dev/infiniband that should exist according to sysfs.
struct device_file {
    std::string name;       ///< `umad0`, `issm0`
    std::string path;       ///< `/dev/infiniband/umad0`
    std::string port;       ///< `mlx5_0/1`
    int error = 0;          ///< errno of opening it for reading and writing; 0: this user may open it
    unsigned mode = 0;      ///< permissions; valid only if the file exists, as are the following members
    std::string user_owner; ///< a name; without a name, the number
    std::string group_owner;
};

/// An adapter on the PCI bus that may provide an InfiniBand device.
struct pci_adapter {
    std::string address; ///< `0000:04:00.0`
    unsigned vendor = 0, product = 0;
    bool is_infiniband = false; ///< by its PCI class; false: network adapter of a vendor of InfiniBand adapters
    std::string driver;         ///< empty: no driver
};

/// The hardware of a device of sysfs. Software devices have no driver and no address.
struct device_origin {
    std::string device; ///< `mlx5_0`
    std::string driver; ///< `mlx5_core`
    std::string address;
};

/// The machine as sysfs and /dev describe it to this user.
struct machine {
    std::string user;
    std::string kernel; ///< kernel release
    std::vector<comad::transports::device> devices;
    std::vector<device_origin> origins;                ///< hardware of the devices
    std::vector<pci_adapter> adapters;                 ///< sorted by address
    std::optional<unsigned> umad_abi;                  ///< nullopt: the module ib_umad is not loaded
    std::vector<device_file> files;                    ///< umad, then issm, each sorted by number
    bool needs_umad = true;                            ///< false: the fabric uses a queue pair of verbs
    std::optional<comad::transports::end_port> used;   ///< the port that commands would use
    std::string no_port;                               ///< why no port can be used
    std::optional<unsigned> send_queue, receive_queue; ///< parameters of ib_core; nullopt: not readable
};

/// Returns all ports of all devices.
std::vector<comad::transports::end_port> ports_of(const machine&);
/// Returns the files for sending and receiving through the used port: two if its SMI and GSI are ports of two devices.
std::vector<device_file> files_in_use(const machine&);

/// The result of a query to the fabric.
struct reply_facts {
    std::string error; ///< one line; empty: the reply arrived
    comad::mad::duration round_trip{0};
};

/// The facts about the fabric.
struct fabric_facts {
    bool has_smps = true; ///< false: the transport does not support them, or --sa forbids them
    unsigned SM_LID = 0;  ///< LID of the SM that the local port knows; 0: none
    reply_facts local;    ///< from the local port's SMA; this and the following members: if it was queried
    reply_facts SM;
    comad::iba::smp::SMInfo sm_info;
    reply_facts SA;
    comad::u8 sa_response_time = 0;      ///< from ClassPortInfo of the SA: 4.096 us * 2^n
    std::vector<manager_facts> managers; ///< all managers that were found, masters first
    std::string at;                      ///< options with which a command uses the same port, for a shell
};

/// The facts about the node name map.
struct name_map_facts {
    struct candidate {
        std::string file;
        int error; ///< errno of reading it
    };
    std::vector<candidate> examined; ///< up to the file that is used
    bool is_named = false;           ///< --node-name-map names the file
    std::string problem;             ///< why the used file could not be read completely
    std::size_t names = 0;
    std::vector<std::string> warnings; ///< lines of the file that are invalid
};

} // namespace ibtool
