// SPDX-License-Identifier: MIT
// file_tree.cpp - builds the tree of directories and files once, because devices do not change.
#include "vumad/file_tree.hpp"

#include <fmt/format.h>

#include <utility>

namespace ibtool {

file_tree::file_tree(const std::vector<comad::transports::vumad::described_port>& ports)
    : files_(comad::transports::vumad::sysfs_files(ports)) {
    entries_.push_back({{}, kind::directory, root, 0, 0});
    const std::size_t devices = directory(root, "dev");
    for (std::size_t n = 0; n < ports.size(); ++n) {
        add({fmt::format("umad{}", n), kind::umad, devices, n, 0});
        add({fmt::format("issm{}", n), kind::issm, devices, n, 0});
    }
    for (std::size_t n = 0; n < files_.size(); ++n) {
        std::string_view path = files_[n].path;
        std::size_t at = root;
        for (std::size_t slash; (slash = path.find('/')) != path.npos; path.remove_prefix(slash + 1))
            at = directory(at, std::string(path.substr(0, slash)));
        add({std::string(path), kind::described, at, files_[n].port, n});
    }
}

std::size_t file_tree::add(entry e) {
    entries_[e.parent].children.push_back(entries_.size());
    entries_.push_back(std::move(e));
    return entries_.size() - 1;
}

std::size_t file_tree::directory(std::size_t in, const std::string& name) {
    if (const auto known = child(in, name)) return *known;
    return add({name, kind::directory, in, 0, 0});
}

const file_tree::entry* file_tree::find(std::size_t number) const noexcept {
    return number < entries_.size() ? &entries_[number] : nullptr;
}

std::optional<std::size_t> file_tree::child(std::size_t directory, std::string_view name) const noexcept {
    const entry* const in = find(directory);
    if (!in) return std::nullopt;
    for (const std::size_t n : in->children)
        if (entries_[n].name == name) return n;
    return std::nullopt;
}

} // namespace ibtool
