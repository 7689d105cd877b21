// SPDX-License-Identifier: MIT
// options.cpp - the global options. Letters and meanings are those of infiniband-diags (ibdiag_common.c) if it has the option.
#include "input/options.hpp"

#include "input/arguments.hpp"
#include "input/split_text.hpp"
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/iba/parse.hpp>
#include <comad/mad/detail/port_tables.hpp>
#include <comad/transports/detail/key_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ibtool {
namespace {

using comad::mad::key_kind;

/// Parses the number of requests in flight; 0: adaptive.
unsigned read_window(const std::string& text) {
    if (text == "adaptive") return 0;
    const unsigned window = read_number(text, "the window", 65536);
    if (window == 0) throw usage_error("the window must be 1..65536 or adaptive");
    return window;
}

comad::transports::kernel_timeout read_umad_timeout(const std::string& text) {
    using comad::transports::kernel_timeout;
    if (text == "auto") return kernel_timeout::automatic;
    if (text == "operation") return kernel_timeout::operation;
    if (text == "attempt") return kernel_timeout::attempt;
    throw usage_error(fmt::format("must be auto, operation or attempt, not {}", comad::iba::as_given(text)));
}

comad::u16 read_pkey(const std::string& text) {
    const auto number = comad::iba::parse_number(text);
    const bool is_valid = number && number->value <= 0xffff && !number->is_larger &&
                          comad::mad::is_valid_pkey(static_cast<comad::u16>(number->value));
    if (!is_valid)
        throw usage_error(
            fmt::format("must be a P_Key, 0x0001..0xffff except 0x8000, not {}", comad::iba::as_given(text)));
    return static_cast<comad::u16>(number->value);
}

/// Checks that a number is a valid port number. Other texts are compared with the local devices later.
std::string read_port(const std::string& text) {
    const auto number = comad::iba::parse_number(text);
    if (number && (number->value == 0 || number->value > 255))
        throw usage_error(fmt::format("--Port: must be a number from 1 to 255, not {}", comad::iba::as_given(text)));
    return text;
}

constexpr const char* default_config = "/etc/infiniband-diags/ibdiag.conf";

/// Parses a secret, which must not appear in messages.
comad::u64 parse_key(const std::string& text, const std::string& what) {
    const auto number = comad::iba::parse_number(text);
    if (!number || number->is_larger) throw usage_error(what + " must be a number of at most 64 bits");
    return number->value;
}

bool is_readable_by_others(const std::string& file) {
    struct stat found {};
    return ::stat(file.c_str(), &found) != 0 || (found.st_mode & (S_IRGRP | S_IROTH)) != 0;
}

std::istringstream open_config(const std::string& name) {
    try {
        return comad::iba::open_text_file(name);
    } catch (const std::runtime_error& e) {
        throw usage_error(e.what());
    }
}

/// Stores a key of a configuration file.
void take_key(global_options& options, key_kind kind, const std::string& name, const char* key,
              const std::string& value) {
    const comad::u64 number = parse_key(value, fmt::format("{}: {}", name, key));
    if (is_readable_by_others(name))
        options.warnings.push_back(fmt::format("{}: {} ignored: other users can read the file; run chmod 600",
                                               comad::iba::escaped(name), key));
    else options.add_keys([kind, number](comad::mad::port_keys& keys) { keys.set_default(kind, number); });
}

/// Parses a timeout; 0 means the default, as in infiniband-diags (ibdiag_common.c: a timeout is set if it is not 0).
std::chrono::nanoseconds config_timeout(const std::string& value) {
    const auto number = comad::iba::parse_number(value);
    return number && number->value == 0 ? std::chrono::nanoseconds(0) : parse_duration(value);
}

// Reads the configuration of infiniband-diags: `key=value`, with comments after `#`. The command line has priority, so this function runs
// before it is parsed.
void read_config(global_options& options, std::istringstream file, const std::string& name) {
    for (std::string line; std::getline(file, line);) {
        line.resize(std::min(line.find('#'), line.size()));
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos) continue;
        const std::string key = trimmed(line.substr(0, equals));
        const std::string value = trimmed(line.substr(equals + 1));
        if (key == "CA") options.default_ca = value;
        else if (key == "Port") options.default_ca_port = read_number(value, (name + ": Port").c_str(), 255);
        else if (key == "timeout") options.timeout = config_timeout(value);
        else if (key == "m_key") take_key(options, key_kind::MKey, name, "m_key", value);
        else if (key == "sa_key") take_key(options, key_kind::SMKey, name, "sa_key", value);
        else if (key == "MLX_EPI") options.mlnx_ext_port_info = value.starts_with("true") || value.starts_with("TRUE");
    }
}

bool is_missing(const std::string& file) {
    return ::access(file.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

} // namespace

std::chrono::nanoseconds parse_duration(const std::string& text, std::chrono::seconds longest) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const std::string unit = end;
    double scale = 0;
    if (unit.empty() || unit == "ms") scale = 1e6;
    else if (unit == "s") scale = 1e9;
    else if (unit == "us") scale = 1e3;
    else if (unit == "min") scale = 60e9;
    else if (unit == "h") scale = 3600e9;
    else if (unit == "d") scale = 86400e9;
    if (end == text.c_str() || scale == 0 || !(number * scale >= 1) ||
        number * scale > 1e9 * static_cast<double>(longest.count())) {
        throw usage_error(fmt::format(
            "invalid duration {}; expected milliseconds, or a number with us, ms, s, min, h or d, up to {}s",
            comad::iba::as_given(text), longest.count()));
    }
    return std::chrono::nanoseconds(static_cast<std::int64_t>(number * scale));
}

comad::u32 read_number(const std::string& text, const char* what, comad::u32 highest) {
    const auto number = comad::iba::parse_number(text);
    if (!number || number->value > highest)
        throw usage_error(
            fmt::format("{} must be a number up to {}, not {}", what, highest, comad::iba::as_given(text)));
    return static_cast<comad::u32>(number->value);
}

comad::coro::schedule_options global_options::schedule() const {
    comad::coro::schedule_options s;
    s.max_outstanding = outstanding;
    s.max_rate = max_rate;
    s.polite = polite;
    s.unmeasured_timeout = std::chrono::seconds(1); // the timeout of infiniband-diags
    s.timeout = timeout;
    if (retries >= 0) { // an explicit number needs a fixed timeout
        s.retries = static_cast<comad::u8>(retries);
        if (timeout.count() == 0) s.timeout = s.unmeasured_timeout;
    }
    s.seed = std::random_device{}(); // a run must not accept late replies to the previous run
    return s;
}

void global_options::add_keys(key_source source) {
    source(keys);
    key_sources.push_back(std::move(source));
}

void global_options::reread_keys() { keys = keys_of(key_sources); }

comad::mad::port_keys keys_of(const std::vector<global_options::key_source>& sources) {
    comad::mad::port_keys keys;
    for (const global_options::key_source& source : sources) source(keys);
    return keys;
}

void read_default_config(global_options& options, const std::string& name) {
    if (is_missing(name)) return;
    try {
        read_config(options, comad::iba::open_text_file(name), name);
    } catch (const usage_error&) {
        throw;
    } catch (const std::runtime_error& e) { // the user may lack permission to read it, because it can contain an M_Key
        options.warnings.push_back(fmt::format("{}; file ignored", e.what()));
    }
}

namespace {

/// A fabric, and the name that the user gave it; empty: none.
struct named_fabric {
    std::string name, fabric;
};

/// Splits `NAME=FABRIC`. The name ends before the first character of a fabric that a name cannot contain.
named_fabric split_name(const std::string& text) {
    const std::size_t end = text.find_first_of("=:/,");
    if (end == std::string::npos || text[end] != '=') return {{}, text};
    const auto is_usual = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    };
    named_fabric n{text.substr(0, end), text.substr(end + 1)};
    if (n.name.empty() || !std::ranges::all_of(n.name, is_usual))
        throw usage_error(
            fmt::format("--fabric: invalid name in {}; expected NAME=FABRIC with a NAME of letters, digits, "
                        "'.', '_' and '-'",
                        comad::iba::as_given(text)));
    if (n.fabric.empty())
        throw usage_error(
            fmt::format("--fabric: the fabric is missing in {}; expected NAME=FABRIC", comad::iba::as_given(text)));
    return n;
}

} // namespace

std::vector<global_options> each_fabric(const global_options& o) {
    const std::size_t ports = std::max(o.cas.size(), o.ca_ports.size());
    if (o.fabrics.size() > 1 && ports > 0)
        throw usage_error("cannot select several fabrics with both --fabric and -C or -P; use one of the two");
    if (ports > 1 && o.cas.size() != ports)
        throw usage_error(fmt::format("-P is given {} times; give a -C for each of them", ports));
    if (ports > 1 && !o.ca_ports.empty() && o.ca_ports.size() != ports)
        throw usage_error(fmt::format("-C is given {} times; give a -P for each of them or for none", ports));
    std::vector<global_options> all;
    for (std::size_t i = 0; i < std::max({o.fabrics.size(), ports, std::size_t{1}}); ++i) {
        global_options one = o;
        if (i < o.fabrics.size()) {
            auto [name, fabric] = split_name(o.fabrics[i]);
            const auto has_it = [&name](const global_options& other) { return other.fabric_name == name; };
            if (!name.empty() && std::ranges::any_of(all, has_it))
                throw usage_error(fmt::format("--fabric: the name '{}' is given twice; use a different name", name));
            one.fabric_name = std::move(name);
            one.fabric = std::move(fabric);
        }
        if (i < o.cas.size()) one.ca = o.cas[i];
        if (i < o.ca_ports.size()) one.ca_port = read_port(o.ca_ports[i]);
        all.push_back(std::move(one));
    }
    return all;
}

std::string selected_fabric(const global_options& o) {
    if (!o.fabric.empty()) return o.fabric;
    if (o.ca.empty() && o.ca_port.empty()) return "umad";
    return "umad:" + (o.ca.empty() ? o.ca_port : o.ca + (o.ca_port.empty() ? "" : "/" + o.ca_port));
}

std::string name_of_fabric(const global_options& o, const std::string& place) {
    if (!o.fabric_name.empty()) return o.fabric_name;
    return place.empty() ? selected_fabric(o) : place;
}

std::vector<std::string> fabrics_of_ports(const std::vector<std::string>& values) {
    std::vector<std::string> all;
    for (const std::string& value : values) {
        if (value.find(':') != std::string::npos || value.starts_with("ibsim")) all.push_back(value);
        else
            for (const std::string& port : split(value, ',')) all.push_back("umad:" + port);
    }
    for (auto place = all.begin(); place != all.end(); ++place) {
        if (*place == "umad:") throw usage_error("--local-ports: a port is missing; expected mlx5_0/1,mlx5_1/1");
        if (std::find(all.begin(), place, *place) != place)
            throw usage_error(fmt::format("--local-ports: {} is given twice", comad::iba::as_given(*place)));
    }
    return all;
}

void add_global_options(arguments& takes, global_options& o) {
    read_default_config(o, default_config);
    takes.option("--fabric", o.fabrics).one_each().environment("IBTOOL_FABRIC");
    takes.option("-C,--Ca", o.cas).one_each();
    takes.option("-P,--Port", o.ca_ports).one_each();
    takes.option("--local-ports,--ports", o.ports).one_each().yields();
    takes.flag("--all-fabrics", o.all_fabrics).yields();
    takes.option("--descriptors", o.descriptors).range(1, 64).shows_default();
    takes.option("--umad-timeout", [&o](const std::string& text) { o.umad_timeout = read_umad_timeout(text); });
    takes.option("--outstanding", [&o](const std::string& text) { o.outstanding = read_window(text); });
    takes.option("--max-rate", o.max_rate).range(0, 100'000'000).shows_default();
    takes.option("--max-nodes", o.max_nodes).range(1, 10'000'000).shows_default();
    takes.option("--max-time",
                 [&o](const std::string& text) { o.max_time = parse_duration(text, std::chrono::hours(240)); });
    takes.flag("--polite", o.polite);
    takes.option("-t,--timeout", [&o](const std::string& text) { o.timeout = parse_duration(text); });
    takes.option("--retries", o.retries).range(0, 255);
    takes
        .option("--key-file",
                [&o](const std::string& file) {
                    o.add_keys([file](comad::mad::port_keys& keys) { comad::transports::add_key_file(keys, file); });
                })
        .file(file_use::read_again)
        .at_once();
    const auto add_key = [&](const char* option, key_kind kind, const char* name) {
        const auto set = [&o, kind, name](const std::string& text) {
            o.add_keys([kind, key = parse_key(text, name)](comad::mad::port_keys& k) { k.set_default(kind, key); });
        };
        takes.option(option, set);
    };
    add_key("-y,--m_key", key_kind::MKey, "M_Key");
    add_key("--smkey", key_kind::SMKey, "SM_Key");
    add_key("--cckey", key_kind::CCKey, "CC_Key");
    takes.option("-s,--sm_port", [&o](const std::string& text) { o.sm_port = read_number(text, "the LID", 0xbfff); });
    const argument& pkey_index = takes.option("-Y,--pkey-idx", o.pkey_index).range(0, 65534);
    takes.option("--pkey", [&o](const std::string& text) { o.pkey = read_pkey(text); }).excludes(pkey_index);
    // Options on the command line have priority, whatever their position.
    takes.option("-z,--config", [&o](const std::string& name) { read_config(o, open_config(name), name); })
        .file(file_use::read)
        .at_once();
    const argument& cache = takes.option("--subnet-cache", o.subnet_cache).file(file_use::cached);
    takes.flag("--refresh-cache", o.refresh_cache).needs(cache);
    takes.flag("--strict", o.strict);
    takes.option("--pcap", o.pcap).file(file_use::streamed);
    takes.flag("--pcap-keys", o.pcap_keys);
    takes.flag("-v,--verbose,--verbosity", o.verbosity);
    takes.flag("-d,--debug", o.debug);
    takes
        .option("--discovery",
                [&o](const std::string& how) {
                    o.discovery = how == "SA"    ? discovery_mode::SA
                                  : how == "LID" ? discovery_mode::LID
                                                 : discovery_mode::DR;
                })
        .one_of({"DR", "LID", "SA"});
    takes.flag("--sa", o.by_sa);
    takes.option("--sa-path", [&o](const std::string& text) {
        o.sa_path = text;
        o.by_sa = true;
    });
    takes.flag("--int-names", o.iba_names);
    takes
        .option("--structures",
                [](const std::string& file) {
                    comad::iba::register_structures(comad::iba::open_text_file(file).str(), file);
                })
        .file(file_use::read)
        .at_once();
    takes.ignored_flag("-e,--errors");
}

} // namespace ibtool
