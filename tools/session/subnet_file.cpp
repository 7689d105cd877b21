// SPDX-License-Identifier: MIT
// subnet_file.cpp - reads and writes subnet files, and calculates their ages.
#include "session/subnet_file.hpp"

#include "comad.hpp"
#include "text/output.hpp"
#include <comad/discovery/compare/difference.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/mad/detail/unique_fd.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ibtool {

using discovery::subnet;

void add_load_cache_option(arguments& takes, std::string& file, const std::string& names) {
    takes.option(names, file).file(file_use::read_regular);
}

namespace {

constexpr std::size_t most_cache = std::size_t{1} << 30;

[[noreturn]] void refuse_cache(const std::string& file, std::string_view why) {
    throw std::runtime_error(fmt::format("cannot read the subnet cache '{}': {}", iba::escaped(file), why));
}

std::vector<u8> bytes_of(const std::string& file) {
    const comad::mad::unique_fd in(iba::open_to_read(file));
    if (in.get() < 0) throw iba::cannot_read(file);
    struct stat found {};
    if (::fstat(in.get(), &found) != 0 || !S_ISREG(found.st_mode)) refuse_cache(file, "it is not a regular file");
    try {
        const std::string bytes = iba::bytes_in(in.get(), most_cache);
        return {bytes.begin(), bytes.end()};
    } catch (const std::runtime_error& e) {
        refuse_cache(file, e.what());
    }
}

std::chrono::sys_seconds now_in_seconds() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

std::string_view text_of(std::span<const u8> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns whether the file may be a topology file: caches contain bytes that a text does not.
bool is_text(std::span<const u8> bytes) {
    return !discovery::is_cache(bytes) && std::ranges::find(bytes, u8{0}) == bytes.end();
}

discovery::cached_subnet read_cache_of(const std::string& file, std::span<const u8> bytes) {
    try {
        return discovery::read_cache(bytes);
    } catch (const std::runtime_error& e) {
        refuse_cache(file, e.what());
    }
}

subnet read_with_age(const std::string& file, std::string_view advice, const global_options& o) {
    discovery::cached_subnet c = read_subnet_file(file, o);
    const bool is_topology_file = std::ranges::any_of(c.found.nodes, discovery::is_of_file);
    if (is_topology_file) {
        if (!is_called_by_link()) print_message("read the subnet from the topology file '{}'", iba::escaped(file));
        return std::move(c.found);
    }
    std::string age = "of unknown age";
    if (c.discovered_at) age = format_age(now_in_seconds() - *c.discovered_at);
    // No message under the name of an infiniband-diags program: the user named the file, and scripts take text on stderr for a failure.
    if (!advice.empty() || !is_called_by_link())
        print_message("read the subnet from the cache '{}', {}{}", iba::escaped(file), age, advice);
    return std::move(c.found);
}

constexpr std::string_view how_to_refresh = "; use --refresh-cache to discover it again";

std::optional<subnet> subnet_of_cache(const global_options& o, const std::string& file) {
    if (o.refresh_cache || ::access(file.c_str(), F_OK) != 0) return std::nullopt;
    return read_with_age(file, how_to_refresh, o);
}

/// Recalculates order and routes from this end port.
void begin_at(subnet& s, iba::guid from) {
    if (s.nodes.empty() || from == iba::guid{} || s.nodes[0].info.portGUID == from) return;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const discovery::node& here = s.nodes[n];
        for (unsigned p = here.is_switch() ? 0 : 1; p < (here.is_switch() ? 1 : here.ports.size()); ++p)
            if (here.ports[p].portGUID == from) {
                put_in_order(s, n, static_cast<u8>(p));
                return;
            }
    }
    throw std::runtime_error(
        fmt::format("the cached subnet does not contain the local port {}: the cache is outdated or belongs to another "
                    "subnet; use --refresh-cache to discover it again",
                    from));
}

} // namespace

subnet read_described(std::string_view text, const std::string& name, const global_options& o,
                      discovery::described_order order) {
    using comad::topology_file::reading;
    auto read = discovery::read_topology_file(text, name, o.strict ? reading::strict : reading::tolerant, order);
    if (!read.skipped.empty()) print_message("{}: {}", iba::escaped(name), read.skipped);
    return std::move(read.found);
}

discovery::cached_subnet read_subnet_file(const std::string& file, const global_options& o) {
    const std::vector<u8> bytes = bytes_of(file);
    if (!is_text(bytes)) return read_cache_of(file, bytes);
    return {read_described(text_of(bytes), file, o, discovery::described_order::discovery), std::nullopt};
}

discovery::cached_subnet read_subnet_file(const std::string& file) {
    const std::vector<u8> bytes = bytes_of(file);
    if (!is_text(bytes)) return read_cache_of(file, bytes);
    return {discovery::read_topology_file(text_of(bytes), file).found, std::nullopt};
}

std::optional<subnet> subnet_without_device(const global_options& o) {
    if (!o.load_cache.empty()) return read_with_age(o.load_cache, {}, o);
    if (o.subnet_cache.empty() || o.subnet_cache.find('$') != std::string::npos) return std::nullopt;
    return subnet_of_cache(o, o.subnet_cache);
}

std::optional<subnet> known_subnet(const global_options& o, std::string_view place, iba::guid from) {
    std::optional<subnet> known;
    if (!o.load_cache.empty()) known = read_with_age(o.load_cache, {}, o);
    else if (!o.subnet_cache.empty()) known = subnet_of_cache(o, name_for_place(o.subnet_cache, place));
    if (known) begin_at(*known, from);
    return known;
}

void keep_subnet(const subnet& found, const global_options& o, std::string_view place) {
    if (o.subnet_cache.empty()) return;
    const auto was_cancelled = [](const discovery::failure& p) { return p.kind == discovery::failure_kind::cancelled; };
    if (std::ranges::any_of(found.failures, was_cancelled)) return; // an earlier file is more complete
    constexpr unsigned for_its_owner = 0600;
    replace_file(discovery::cache_bytes(found, now_in_seconds()), name_for_place(o.subnet_cache, place), for_its_owner);
}

std::string name_for_place(std::string_view name, std::string_view place) {
    const bool is_device = place.starts_with("umad:") || place.starts_with("verbs:");
    std::string device(is_device ? place.substr(place.find(':') + 1) : place), port = "1";
    if (const std::size_t slash = device.rfind('/'); is_device && slash != std::string::npos) {
        port = device.substr(slash + 1);
        device.resize(slash);
    }
    std::ranges::replace(device, '/', '_'); // in the name of a socket or topology file
    const std::pair<std::string_view, std::string> words[] = {
        {"$$", "$"}, {"${CA}", device}, {"$C", device}, {"${PORT}", port}, {"$P", port}, {"$A", device + "-" + port}};
    std::string made;
    while (!name.empty()) {
        const std::size_t begin = name.find('$');
        made += name.substr(0, begin);
        if (begin == std::string_view::npos) break;
        name.remove_prefix(begin);
        const auto known = std::ranges::find_if(words, [&](const auto& w) { return name.starts_with(w.first); });
        if (known == std::end(words))
            throw usage_error(
                fmt::format("--subnet-cache: unknown variable in {}; expected $C, ${{CA}}, $P, ${{PORT}}, $A or $$",
                            iba::as_given(name)));
        made += known->second;
        name.remove_prefix(known->first.size());
    }
    return made;
}

std::string format_age(std::chrono::seconds age) {
    using namespace std::chrono_literals;
    if (age < 0s) return "dated in the future";
    if (age < 120s) return fmt::format("{} s old", age.count());
    if (age < 2h) return fmt::format("{} min old", age / 1min);
    if (age < 48h) return fmt::format("{} h old", age / 1h);
    return fmt::format("{} days old", age / 24h);
}

} // namespace ibtool
