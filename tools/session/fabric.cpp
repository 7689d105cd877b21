// SPDX-License-Identifier: MIT
// fabric.cpp - interprets the options that select a fabric, its local port and its P_Key.
#include "session/fabric.hpp"

#include "comad.hpp"
#include "session/pkey_choice.hpp"
#include "session/unreachable_nodes.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>
#include <comad/mad/detail/port_tables.hpp>
#include <comad/transports/sysfs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace ibtool {
namespace {

namespace sa = comad::sa;

constexpr const char* sys_class = "/sys/class";

/// Splits `umad:mlx5_0/1` into `umad` and the text after the colon.
std::string_view fabric_kind(std::string_view text) { return text.substr(0, text.find(':')); }
std::string_view fabric_place(std::string_view text) {
    const std::string_view kind = fabric_kind(text);
    return kind.size() < text.size() ? text.substr(kind.size() + 1) : std::string_view{};
}

std::string port_name(const std::string& device, unsigned port) {
    return port ? fmt::format("{}/{}", device, port) : device;
}

/// Returns the port that -C and -P name: DEVICE/PORT, DEVICE, /PORT, or a GID or GUID of the port.
std::string chosen_port(const global_options& o, const std::filesystem::path& classes) {
    const auto number = iba::parse_number(o.ca_port);
    if (!o.ca.empty() && !o.ca_port.empty() && !number)
        throw usage_error(fmt::format("-P {} already selects a device; leave out -C", iba::as_given(o.ca_port)));
    const std::string device = iba::parse_guid(o.ca) ? transports::get_device(o.ca, classes).name : o.ca;
    if (o.ca_port.empty() || number) return port_name(device, number ? static_cast<unsigned>(number->value) : 0);
    return o.ca_port;
}

std::string format_no_device(std::string_view why) {
    return fmt::format("{}; --fabric sim:... simulates a fabric", why);
}
[[noreturn]] void throw_no_device(std::string_view why) { throw transports::no_device(format_no_device(why)); }

/// Returns the name of the local port: from the fabric's text, from -C and -P, or the default of the configuration. Empty: none was
/// selected.
std::string chosen_name(const std::string& name, const global_options& o, const comad::mad::address* target,
                        const std::filesystem::path& classes) {
    const bool is_chosen = !o.ca.empty() || !o.ca_port.empty();
    if (is_chosen && !name.empty())
        throw usage_error(
            "the local port is given twice; use either --fabric umad:DEVICE/PORT (or verbs:) or -C and -P");
    if (is_chosen) return chosen_port(o, classes);
    return name.empty() && !(target && target->end_port) ? port_name(o.default_ca, o.default_ca_port) : name;
}

transports::end_port chosen_end_port(const std::string& name, const global_options& o, transports::port_use use,
                                     const std::filesystem::path& classes = sys_class) {
    try {
        return transports::get_end_port(chosen_name(name, o, nullptr, classes), classes, use);
    } catch (const transports::no_device& e) {
        throw_no_device(e.what());
    }
}

using reading = comad::coro::task<comad::mad::result<sa::local_port>>;

reading read_with_sa(sa::port_reader reader, sa::local_port otherwise) {
    if (!reader) co_return otherwise;
    auto reads = reader();
    auto now = co_await std::move(reads);
    if (now) now.value().sa_path = otherwise.sa_path;
    co_return now;
}

} // namespace

transports::end_port local_port_for_verbs(const global_options& o) {
    const std::string_view text = o.fabric;
    if (fabric_kind(text) != "verbs" && !text.empty())
        throw usage_error(
            fmt::format("this command needs a local device, but the fabric is '{}'; use --fabric verbs:DEVICE/PORT",
                        iba::escaped(text)));
    return chosen_end_port(std::string(fabric_place(text)), o, transports::port_use::GMPs);
}

bool is_local(const global_options& o) {
    const std::string_view kind = fabric_kind(o.fabric);
    return kind.empty() || kind == "umad" || kind == "verbs";
}

transports::end_port local_port_for_mads(const global_options& o, const std::filesystem::path& classes) {
    const auto use = fabric_kind(o.fabric) == "verbs" ? transports::port_use::GMPs : transports::port_use::umad;
    return chosen_end_port(std::string(fabric_place(o.fabric)), o, use, classes);
}

sa::port_reader with_fixed_sa(sa::port_reader reader, const sa::local_port& port) {
    return [reader = std::move(reader), port] { return read_with_sa(reader, port); };
}

fabric::fabric(std::unique_ptr<comad::mad::transport> own, const sa::local_port& local_port, sa::port_reader reader)
    : port_(std::in_place, std::move(own), local_port, reader), local_port_(local_port),
      port_reader_(std::move(reader)) {}

namespace {

std::map<std::string, fabric_opener, std::less<>>& added_kinds() {
    static std::map<std::string, fabric_opener, std::less<>> kinds;
    return kinds;
}

} // namespace

void add_fabric_kind(std::string kind, fabric_opener open) { added_kinds()[std::move(kind)] = std::move(open); }

namespace {

/// Throws usage_error for options that this kind of fabric does not support.
void check_options(const global_options& o, std::string_view text, std::string_view kind,
                   const comad::mad::address* target) {
    const bool is_device = kind == "umad" || kind == "verbs";
    if (!is_device && (!o.ca.empty() || !o.ca_port.empty())) {
        print_message("-C and -P ignored: they select a port of a local device, but the fabric is '{}'",
                      iba::escaped(text));
    }
    if (kind != "umad" && o.descriptors > 1) {
        throw usage_error(fmt::format("--descriptors needs a umad device, but the fabric is '{}'", text));
    }
    if (kind != "umad" && o.umad_timeout != transports::kernel_timeout::automatic) {
        throw usage_error(fmt::format("--umad-timeout needs a umad device, but the fabric is '{}'", text));
    }
    if (!is_device && target && target->end_port) {
        throw usage_error(fmt::format("the target names the local port '{}', but the fabric is '{}'",
                                      iba::escaped(*target->end_port), text));
    }
}

[[noreturn]] void throw_error(const comad::fabric_error& e, const global_options& o) {
    switch (e.code) {
    case comad::fabric_errc::invalid_text:
    case comad::fabric_errc::invalid_option: throw usage_error(e.text);
    case comad::fabric_errc::no_device: throw_no_device(e.text);
    case comad::fabric_errc::no_pkey:
        throw std::runtime_error(fmt::format("cannot use {}: {}", pkey_option(o), e.text));
    case comad::fabric_errc::not_opened: break;
    }
    throw std::runtime_error(e.text);
}

} // namespace

comad::fabric_port fabric::open(const comad::fabric_text& text, const global_options& o,
                                const comad::mad::address* target) {
    comad::fabric_options options;
    try {
        if (is_local(o)) options.port = chosen_name(text.place, o, target, sys_class);
    } catch (const transports::no_device& e) {
        throw_no_device(e.what());
    }
    if (target) options.target = *target;
    if (o.pkey_index) options.pkey_index = static_cast<comad::u16>(*o.pkey_index);
    else options.pkey = o.pkey;
    options.descriptors = o.descriptors;
    options.timeout = o.umad_timeout;
    options.on_port_event = [notify = on_port_event_, is_verbose = o.verbosity > 0](std::string_view event,
                                                                                    const transports::end_port& now) {
        if (is_verbose)
            print_error("{}: {} (LID {}, SM LID {}, {})\n", now.name(), event, value(now.LID), value(now.masterSMLID),
                        comad::iba::name_or_number(now.portState));
        if (*notify) (*notify)();
    };
    auto opened = open_fabric_port(text, options);
    if (!opened) throw_error(opened.error(), o);
    return std::move(opened.value());
}

fabric::fabric(const global_options& o, const comad::mad::address* target) : place_(o.fabric) {
    if (const auto added = added_kinds().find(fabric_kind(o.fabric)); added != added_kinds().end()) {
        *this = added->second(fabric_place(o.fabric));
        place_ = o.fabric;
        return;
    }
    const std::string_view text = o.fabric.empty() ? "umad" : std::string_view(o.fabric);
    check_options(o, text, fabric_kind(text), target);
    auto named = comad::parse_fabric(o.fabric);
    if (!named) throw_error(named.error(), o);
    const bool is_simulated = named.value().kind == comad::fabric_kind::sim;
    if (is_simulated && o.strict) named.value().place += ",strict";
    port_.emplace(open(named.value(), o, target));
    local_port_ = port_->local_port();
    port_reader_ = port_->port_reader();
    for (const std::string& note : port_->notes()) print_message("{}", note);
    if (const auto* const simulated = port_->simulation()) {
        const sim_place here{simulated->place->node(), simulated->place->port()};
        warn_of_unreachable_nodes(simulated->fabric->graph(), {&here, 1});
    }
    if (const transports::end_port* const device = port_->end_port()) {
        place_ = port_->text();
        if (o.verbosity && device->sa_max_outstanding && place_.starts_with("umad:"))
            print_message(
                "{}: its driver sends at most {} requests to the SA at a time and may drop others (mad_sa_cc); "
                "ibtool keeps to this limit",
                transport().name(), device->sa_max_outstanding);
    }
    if (o.verbosity > 0 && !port_->why_not_umad().empty())
        print_error("{}: {}\n", comad::iba::escaped(transport().name()),
                    comad::iba::escaped(format_no_device(port_->why_not_umad())));
    if (o.sm_port) {
        local_port_.sa_path.DLID = comad::iba::lid(o.sm_port);
        port_reader_ = with_fixed_sa(std::move(port_reader_), local_port_);
    }
    const comad::mad::port_tables* const tables = transport().tables();
    if ((o.pkey_index || o.pkey) && (!tables || tables->PKeys().empty()))
        print_message("-Y and --pkey ignored: the fabric '{}' has no P_Keys", iba::escaped(text));
}

} // namespace ibtool
