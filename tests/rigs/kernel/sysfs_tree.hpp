// SPDX-License-Identifier: MIT
// sysfs_tree.hpp - a fake /sys/class for tests of code that reads sysfs.
#pragma once
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdlib.h>
#include <string>
#include <string_view>

namespace fs = std::filesystem;

/// A tree in a temporary directory with the structure of /sys/class.
class sysfs_tree {
public:
    sysfs_tree() {
        std::string name = fs::temp_directory_path() / "comad-sysfs-XXXXXX";
        REQUIRE(::mkdtemp(name.data()));
        root_ = name;
    }
    ~sysfs_tree() { fs::remove_all(root_); }
    sysfs_tree(const sysfs_tree&) = delete;
    sysfs_tree& operator=(const sysfs_tree&) = delete;

    const fs::path& root() const { return root_; }

    void write(const fs::path& file, std::string_view text) {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text;
    }
    void abi(std::string_view version = "5\n") { write("infiniband_mad/abi_version", version); }
    /// Adds a MAD device for a port, without files about the port.
    void umad(unsigned number, const std::string& device, unsigned port) {
        const fs::path mad = "infiniband_mad/umad" + std::to_string(number);
        write(mad / "ibdev", device + '\n');
        write(mad / "port", std::to_string(port) + '\n');
    }
    fs::path port_dir(const std::string& device, unsigned port) {
        return fs::path("infiniband") / device / "ports" / std::to_string(port);
    }
    /// Adds a MAD device for a port, with the files that the selection of a port depends on.
    void port(unsigned number, const std::string& device, unsigned port, std::string_view link_layer,
              std::string_view state, std::string_view phys_state) {
        umad(number, device, port);
        write(port_dir(device, port) / "link_layer", link_layer);
        write(port_dir(device, port) / "state", state);
        write(port_dir(device, port) / "phys_state", phys_state);
    }

    /// Writes the GIDs of a port. The first GID contains the port GUID.
    void gids(const std::string& device, unsigned port, std::initializer_list<const char*> table) {
        int index = 0;
        for (const char* gid : table)
            write(port_dir(device, port) / "gids" / std::to_string(index++), std::string(gid) + '\n');
    }
    void pkeys(const std::string& device, unsigned port, std::initializer_list<const char*> table) {
        int index = 0;
        for (const char* key : table)
            write(port_dir(device, port) / "pkeys" / std::to_string(index++), std::string(key) + '\n');
    }

protected:
    fs::path root_;
};
