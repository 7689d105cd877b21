// SPDX-License-Identifier: MIT
// file_tree.hpp - the directories and files of the virtual devices, by inode number. Opens nothing.
#pragma once
#include "comad.hpp"
#include <comad/transports/detail/vumad/sysfs_files.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Directories below the root: `dev/` for /dev/infiniband, and `infiniband/` and `infiniband_mad/` for those in /sys/class.
class file_tree {
public:
    enum class kind { directory, described, umad, issm };
    struct entry {
        std::string name;
        kind what;
        std::size_t parent; ///< the parent of the root is the root
        std::size_t port;   ///< for a device: index in the list of ports
        std::size_t file;   ///< for a described file: index in files()
        std::vector<std::size_t> children{};
    };

    explicit file_tree(const std::vector<comad::transports::vumad::described_port>& ports);

    static constexpr std::size_t root = 0;
    /// The entry with this number; null: there is none.
    const entry* find(std::size_t number) const noexcept;
    std::optional<std::size_t> child(std::size_t directory, std::string_view name) const noexcept;
    const std::vector<comad::transports::vumad::sysfs_file>& files() const noexcept { return files_; }

private:
    std::size_t directory(std::size_t in, const std::string& name);
    std::size_t add(entry);

    std::vector<comad::transports::vumad::sysfs_file> files_;
    std::vector<entry> entries_;
};

} // namespace ibtool
