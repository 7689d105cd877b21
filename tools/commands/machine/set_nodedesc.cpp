// SPDX-License-Identifier: MIT
// set_nodedesc.cpp - set_nodedesc: prints the node descriptions of local devices, or sets them.
#include "comad.hpp"
#include "command.hpp"
#include "text/json.hpp"
#include "text/local_ports.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/mad/detail/unique_fd.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unistd.h>

namespace ibtool {
namespace {

using transports::device;

/// The command line of set_nodedesc.
struct set_nodedesc_settings : sysfs_root {
    std::string name;
    bool dry_run = false, json = false;
};

std::string read_description(const std::string& root, const std::string& device_name) {
    return transports::get_device(device_name, root).node_desc;
}

/// Writes the description through sysfs. Throws std::runtime_error with one line if this fails.
void write_description(const std::string& root, const std::string& device_name, const std::string& name) {
    const std::string file = fmt::format("{}/infiniband/{}/node_desc", root, device_name);
    const auto fail = [&](const char* why) {
        throw std::runtime_error(fmt::format("cannot write {}: {}", iba::escaped(file), why));
    };
    const comad::mad::unique_fd out(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK));
    if (!out) fail(std::strerror(errno));                                 // also fails for a FIFO without a reader
    const ssize_t written = ::write(out.get(), name.data(), name.size()); // the kernel accepts only one write
    if (written < 0) fail(std::strerror(errno));
    if (static_cast<std::size_t>(written) != name.size()) fail("the kernel did not accept the whole name");
}

/// Returns the devices to use: the device that -C names, else all devices.
std::vector<device> wanted_devices(const set_nodedesc_settings& s, const global_options& options) {
    if (!options.ca.empty()) return {transports::get_device(options.ca, s.path)};
    std::vector<device> devices = transports::get_devices(s.path);
    if (devices.empty()) throw std::runtime_error("no RDMA device in " + s.path);
    return devices;
}

/// Throws usage_error if the text cannot be a node description.
void require_name(const std::string& name) {
    constexpr std::size_t capacity = 64; // size of NodeDescription in bytes
    if (name.size() > capacity)
        throw usage_error(fmt::format("the name must have at most {} bytes, but has {}", capacity, name.size()));
    if (iba::escaped(name) != name) throw usage_error("the name contains characters that cannot be printed");
}

/// Sets the description and reads it back. Returns why the device does not have the new one; empty if it has.
std::string write_problem(const std::string& root, const device& d, const std::string& name) {
    try {
        write_description(root, d.name, name);
        const std::string now = read_description(root, d.name);
        return now == name ? std::string()
                           : fmt::format("the name of {} is {}, but {} was written", d.name, iba::as_given(now),
                                         iba::as_given(name));
    } catch (const std::runtime_error& e) {
        return e.what();
    }
}

int run_set_nodedesc(const set_nodedesc_settings& s, const global_options& options) {
    require_name(s.name);
    std::string text;
    std::vector<std::string> problems;
    const std::vector<device> devices = wanted_devices(s, options);
    for (const device& d : devices) {
        const bool writes = !s.name.empty() && !s.dry_run;
        const std::string problem = writes ? write_problem(s.path, d, s.name) : std::string();
        if (!problem.empty()) {
            problems.push_back(problem);
            continue;
        }
        const std::string now = writes ? s.name : d.node_desc;
        if (s.json) {
            nlohmann::ordered_json o{{"device", d.name}, {"description", json_string(now)}};
            if (!s.name.empty()) o["wanted"] = s.name, o["dry_run"] = s.dry_run;
            text += json_line(o);
        } else if (!s.name.empty() && s.dry_run) {
            text += fmt::format("{}: {}; without --dry-run it would be {}\n", d.name, iba::escaped(now), s.name);
        } else {
            text += fmt::format("{}: {}\n", d.name, iba::escaped(now));
        }
    }
    write_output(text);
    for (const std::string& problem : problems) print_message("{}", problem);
    if (problems.empty()) return complete;
    return problems.size() == devices.size() ? failed : partial;
}

} // namespace

command set_nodedesc_command() {
    return {.name = "set_nodedesc",
            .group = command_group::device,
            .no_sa_reason = "it accesses only local devices",
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<set_nodedesc_settings>();
                takes.option("name", s->name);
                takes.flag("--dry-run", s->dry_run);
                takes.flag("--json", s->json);
                s->add_to(takes);
                return [s](const global_options& options) { return run_set_nodedesc(*s, options); };
            }};
}

} // namespace ibtool
