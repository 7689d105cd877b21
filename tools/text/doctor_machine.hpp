// SPDX-License-Identifier: MIT
// doctor_machine.hpp - what `doctor` judges: what was read of this machine, and what came back from the fabric. Reads and asks nothing.
#pragma once
#include "text/managers.hpp"
#include <comad/iba/detail/smp/node.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sysfs.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// A file of /dev/infiniband, which sysfs says should be there.
struct device_file {
    std::string name;       ///< `umad0`, `issm0`
    std::string path;       ///< `/dev/infiniband/umad0`
    std::string port;       ///< `mlx5_0/1`
    int error = 0;          ///< errno for who would open it to read and write; 0: this user may
    unsigned mode = 0;      ///< permissions; this and what follows mean nothing where there is no file
    std::string user_owner; ///< names, or numbers where they have none
    std::string group_owner;
};

/// An adapter on the PCI bus that an InfiniBand device may be made of.
struct pci_adapter {
    std::string address; ///< `0000:04:00.0`
    unsigned vendor = 0, product = 0;
    bool is_infiniband = false; ///< by its PCI class; else a network adapter of a vendor who makes both
    std::string driver;         ///< empty: none has it
};

/// What a device of sysfs is made of. Software devices have neither.
struct device_origin {
    std::string device; ///< `mlx5_0`
    std::string driver; ///< `mlx5_core`
    std::string address;
};

/// The machine as sysfs and /dev describe it to this user.
struct machine {
    std::string user;
    std::string kernel; ///< its release
    std::vector<comad::transports::device> devices;
    std::vector<device_origin> origins;                ///< of the devices
    std::vector<pci_adapter> adapters;                 ///< in the order of their addresses
    std::optional<unsigned> umad_abi;                  ///< nothing: the module ib_umad is not loaded
    std::vector<device_file> files;                    ///< umad, then issm, each by its number
    bool needs_umad = true;                            ///< false: the fabric is a queue pair of verbs
    std::optional<comad::transports::end_port> used;   ///< the port that commands would use
    std::string no_port;                               ///< why there is none
    std::optional<unsigned> send_queue, receive_queue; ///< parameters of ib_core; nothing: they are not to be read
};

/// All ports of all devices.
std::vector<comad::transports::end_port> ports_of(const machine&);
/// The files by which the port that is used sends and receives: two where its SMI and GSI are ports of two devices.
std::vector<device_file> files_in_use(const machine&);

/// What a question to the fabric came to.
struct reply_facts {
    std::string error; ///< one line; empty: it was answered
    comad::mad::duration round_trip{0};
};

struct fabric_facts {
    bool has_smps = true; ///< false: the transport has none, or --sa forbids them
    unsigned SM_LID = 0;  ///< where the local port has its SM; 0: it knows none
    reply_facts local;    ///< of the local port's SMA; this and what follows: where it was asked
    reply_facts SM;
    comad::iba::smp::SMInfo sm_info;
    reply_facts SA;
    comad::u8 sa_response_time = 0;      ///< of its ClassPortInfo: 4.096 us * 2^n
    std::vector<manager_facts> managers; ///< all that were found, masters first
    std::string at;                      ///< options by which a command reaches the same port, for a shell
};

struct name_map_facts {
    struct place {
        std::string file;
        int error; ///< errno for who would read it
    };
    std::vector<place> looked_at; ///< up to the file that counts
    bool is_named = false;        ///< by --node-name-map
    std::string problem;          ///< why the file that counts could not be read whole
    std::size_t names = 0;
    std::vector<std::string> warnings; ///< lines of the file that name nobody
};

} // namespace ibtool
