// SPDX-License-Identifier: MIT
// file_tree.hpp - the directories and files of the virtual devices, by inode number. Opens no files.
#pragma once
#include "comad.hpp"
#include <comad/transports/detail/vumad/sysfs_files.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The tree of the virtual devices. `dev/` stands for /dev/infiniband; `infiniband/` and `infiniband_mad/` stand for the directories in
/// /sys/class.
class file_tree {
public:
    enum class kind { directory, described, umad, issm };
    struct entry {
        std::string name;
        kind what;
        std::size_t parent; ///< number of the directory; the root is its own parent
        std::size_t port;   ///< for a device: index in the list of ports
        std::size_t file;   ///< for a described file: index in files()
        std::vector<std::size_t> children{};
    };

    explicit file_tree(const std::vector<comad::transports::vumad::described_port>& ports);

    static constexpr std::size_t root = 0;
    /// Returns the entry with this number; null if the number is unknown.
    const entry* find(std::size_t number) const noexcept;
    /// Returns the number of the entry with this name in a directory; nullopt if the directory does not contain it.
    std::optional<std::size_t> child(std::size_t directory, std::string_view name) const noexcept;
    const std::vector<comad::transports::vumad::sysfs_file>& files() const noexcept { return files_; }

private:
    std::size_t directory(std::size_t in, const std::string& name);
    std::size_t add(entry);

    std::vector<comad::transports::vumad::sysfs_file> files_;
    std::vector<entry> entries_;
};

} // namespace ibtool
