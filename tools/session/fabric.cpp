// SPDX-License-Identifier: MIT
// fabric.cpp - which transport a fabric text means.
#include "session/fabric.hpp"

#include "comad.hpp"
#include "session/pkey_choice.hpp"
#include "session/unreachable_nodes.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/port_tables.hpp>
#include <comad/transports/detail/gmp.hpp>
#include <comad/transports/smi_gsi.hpp>
#include <comad/transports/sysfs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace ibtool {
namespace {

namespace sa = comad::sa;

constexpr const char* sys_class = "/sys/class";

/// `umad` of `umad:mlx5_0/1`, and what stands behind the colon.
std::string_view fabric_kind(std::string_view text) { return text.substr(0, text.find(':')); }
std::string_view fabric_place(std::string_view text) {
    const std::string_view kind = fabric_kind(text);
    return kind.size() < text.size() ? text.substr(kind.size() + 1) : std::string_view{};
}

std::string port_name(const std::string& device, unsigned port) {
    return port ? fmt::format("{}/{}", device, port) : device;
}

/// What -C and -P say: DEVICE/PORT, DEVICE, /PORT, or a port's GID or GUID.
std::string chosen_port(const global_options& o, const std::filesystem::path& classes) {
    const auto number = iba::parse_number(o.ca_port);
    if (!o.ca.empty() && !o.ca_port.empty() && !number)
        throw usage_error(fmt::format("-P {} already selects a device; leave out -C", iba::as_given(o.ca_port)));
    const std::string device = iba::parse_guid(o.ca) ? transports::get_device(o.ca, classes).name : o.ca;
    if (o.ca_port.empty() || number) return port_name(device, number ? static_cast<unsigned>(number->value) : 0);
    return o.ca_port;
}

transports::end_port chosen_end_port(std::string name, const global_options& o, const comad::mad::address* target,
                                     transports::port_use use, const std::filesystem::path& classes = sys_class) {
    try {
        if (!o.ca.empty() || !o.ca_port.empty()) {
            if (!name.empty())
                throw usage_error(
                    "the local port is given twice; use either --fabric umad:DEVICE/PORT (or verbs:) or -C and -P");
            name = chosen_port(o, classes);
        }
        if (name.empty() && !(target && target->end_port)) name = port_name(o.default_ca, o.default_ca_port);
        return target ? transports::end_port_for(*target, name, classes, use)
                      : transports::get_end_port(name, classes, use);
    } catch (const transports::no_device& e) {
        throw transports::no_device(fmt::format("{}; --fabric sim:... simulates a fabric", e.what()));
    }
}

sa::local_port local_port_of(const transports::end_port& p) {
    return {p.LID, p.gids.empty() ? iba::gid(p.GIDPrefix, p.portGUID) : p.gids.front(), p.sa_path(), p.LMC};
}

using reading = comad::coro::task<comad::mad::result<sa::local_port>>;

/// GMPs leave by the GSI's port, which on planarized hosts is another one.
void update(comad::mad::port_tables& tables, const transports::end_port& port, const std::filesystem::path& classes) {
    const transports::smi_gsi sides = transports::smi_gsi_pair(port, transports::end_ports(classes));
    const transports::end_port& gsi = sides.gsi ? *sides.gsi : port;
    tables.update(gsi.PKeys, gsi.gids);
}

reading read_sysfs(std::string name, transports::port_use use, std::filesystem::path classes,
                   comad::mad::port_tables* tables) {
    try {
        const transports::end_port port = transports::get_end_port(name, classes, use);
        if (tables) update(*tables, port, classes);
        co_return local_port_of(port);
    } catch (const std::runtime_error& e) {
        comad::mad::mad_error why;
        why.code = comad::mad::errc::transport_failed;
        why.message(e.what());
        co_return why;
    }
}

reading read_with_sa(sa::port_reader reader, sa::local_port otherwise) {
    if (!reader) co_return otherwise;
    auto reads = reader();
    auto now = co_await std::move(reads);
    if (now) now.value().sa_path = otherwise.sa_path;
    co_return now;
}

sa::local_port local_port_of(transports::ibsim_transport& t) {
    iba::smp::NodeInfo node;
    iba::decode(node, t.node_info().data());
    iba::smp::PortInfo port;
    iba::decode(port, t.port_info().data());
    sa::local_port local{port.LID, {}, sa::sa_path_of(port), port.LMC};
    // Of a CA ibsim says the node's GUID for the port's.
    if (node.nodeType == iba::NodeType::Switch) local.GID = iba::gid(port.GIDPrefix, node.portGUID);
    return local;
}

sa::local_port local_port_of(const transports::sim::simulation& s) {
    const transports::sim::topology& graph = s.fabric->graph();
    const transports::sim::port& port = graph.nodes[s.place->node()].ports[s.place->port()];
    sa::local_port local{port.LID, {iba::link_local_prefix, port.GUID}};
    local.sa_path.DLID = graph.sm_lid;
    local.sa_path.SLID = port.LID;
    return local;
}

} // namespace

transports::end_port local_port_for_verbs(const global_options& o) {
    const std::string_view text = o.fabric;
    if (fabric_kind(text) != "verbs" && !text.empty())
        throw usage_error(
            fmt::format("this command needs a local device, but the fabric is '{}'; use --fabric verbs:DEVICE/PORT",
                        iba::escaped(text)));
    return chosen_end_port(std::string(fabric_place(text)), o, nullptr, transports::port_use::GMPs);
}

bool is_local(const global_options& o) {
    const std::string_view kind = fabric_kind(o.fabric);
    return kind.empty() || kind == "umad" || kind == "verbs";
}

transports::end_port local_port_for_mads(const global_options& o, const std::filesystem::path& classes) {
    const auto use = fabric_kind(o.fabric) == "verbs" ? transports::port_use::GMPs : transports::port_use::umad;
    return chosen_end_port(std::string(fabric_place(o.fabric)), o, nullptr, use, classes);
}

sa::port_reader sysfs_port_reader(std::string name, transports::port_use use, std::filesystem::path classes,
                                  comad::mad::port_tables* tables) {
    return [name = std::move(name), use, classes = std::move(classes), tables] {
        return read_sysfs(name, use, classes, tables);
    };
}

sa::port_reader with_fixed_sa(sa::port_reader reader, const sa::local_port& port) {
    return [reader = std::move(reader), port] { return read_with_sa(reader, port); };
}

transports::ibsim_options ibsim_place(std::string_view place) {
    transports::ibsim_options options;
    const std::size_t comma = place.find(',');
    if (!place.substr(0, comma).empty()) options.sockname = place.substr(0, comma);
    if (comma != std::string_view::npos) options.node = place.substr(comma + 1);
    return options;
}

fabric::fabric(std::unique_ptr<comad::mad::transport> own, const sa::local_port& local_port, sa::port_reader reader)
    : own_(std::move(own)), transport_(own_.get()), local_port_(local_port), port_reader_(std::move(reader)) {}

void fabric::open_umad(std::string_view place, const global_options& o, const comad::mad::address* target) {
    const transports::end_port port = chosen_end_port(std::string(place), o, target, transports::port_use::umad);
    transports::umad_options options;
    options.timeout = o.umad_timeout;
    own_ = transports::open_end_port(port, sys_class, o.descriptors, options);
    if (o.verbosity && port.sa_max_outstanding)
        print_message("{}: its driver sends at most {} requests to the SA at a time and may drop others (mad_sa_cc); "
                      "ibtool keeps to this limit",
                      own_->name(), port.sa_max_outstanding);
    place_ = "umad:" + port.name();
    local_port_ = local_port_of(port);
    port_reader_ = sysfs_port_reader(port.name(), transports::port_use::umad, sys_class, own_->tables());
}

void fabric::open_verbs(std::string_view place, const global_options& o, const comad::mad::address* target) {
    const transports::end_port port = chosen_end_port(std::string(place), o, target, transports::port_use::GMPs);
    transports::gmp_options options;
    options.on_event = [call = on_port_event_, is_verbose = o.verbosity > 0](std::string_view event,
                                                                             const transports::end_port& now) {
        if (is_verbose)
            print_error("{}: {} (LID {}, SM LID {}, {})\n", now.name(), event, value(now.LID), value(now.masterSMLID),
                        comad::iba::name_or_number(now.portState));
        if (*call) (*call)();
    };
    const transports::smi_gsi sides = transports::smi_gsi_pair(port, transports::end_ports(sys_class));
    options.pkey_index = chosen_pkey_index(sides.gsi ? *sides.gsi : port, o);
    own_ = transports::open_gmp_port(port, options);
    place_ = "verbs:" + port.name();
    local_port_ = local_port_of(port);
    port_reader_ = sysfs_port_reader(port.name(), transports::port_use::GMPs);
}

// Without a umad device anywhere there are still the GMPs: --sa, perfquery, ibping.
void fabric::open_default_fabric(const global_options& o, const comad::mad::address* target) {
    try {
        open_umad({}, o, target);
    } catch (const transports::no_device& no_umad) {
        if (!transports::has_verbs() || o.descriptors > 1) throw; // those are umad's
        try {
            open_verbs({}, o, target);
        } catch (const transports::no_device&) {
            throw no_umad;
        }
        if (o.verbosity > 0)
            print_error("{}: {}\n", comad::iba::escaped(own_->name()), comad::iba::escaped(no_umad.what()));
    }
}

namespace {

std::map<std::string, fabric_opener, std::less<>>& added_kinds() {
    static std::map<std::string, fabric_opener, std::less<>> kinds;
    return kinds;
}

} // namespace

void add_fabric_kind(std::string kind, fabric_opener open) { added_kinds()[std::move(kind)] = std::move(open); }

fabric::fabric(const global_options& o, const comad::mad::address* target) : place_(o.fabric) {
    if (const auto added = added_kinds().find(fabric_kind(o.fabric)); added != added_kinds().end()) {
        *this = added->second(fabric_place(o.fabric));
        place_ = o.fabric;
        return;
    }
    const std::string_view text = o.fabric.empty() ? "umad" : std::string_view(o.fabric);
    const std::string_view kind = fabric_kind(text), place = fabric_place(text);
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
    if (o.fabric.empty()) {
        open_default_fabric(o, target);
    } else if (kind == "umad") {
        open_umad(place, o, target);
    } else if (kind == "verbs") {
        open_verbs(place, o, target);
    } else if (kind == "ibsim") {
        auto opened = std::make_unique<transports::ibsim_transport>(ibsim_place(place));
        local_port_ = local_port_of(*opened);
        own_ = std::move(opened);
    } else if (kind == "sim" && !place.empty()) {
        simulation_ = transports::sim::make_sim(fmt::format("{}{}", place, o.strict ? ",strict" : ""));
        for (const std::string& note : simulation_.notes) print_message("{}", note);
        const sim_place here{simulation_.place->node(), simulation_.place->port()};
        warn_of_unreachable_nodes(simulation_.fabric->graph(), {&here, 1});
        local_port_ = local_port_of(simulation_);
    } else {
        throw usage_error(fmt::format("invalid fabric {}; expected umad[:DEVICE[/PORT]], verbs[:DEVICE[/PORT]], "
                                      "ibsim[:SOCKNAME[,NODE]], sim:FILE or "
                                      "sim:KIND,key=value... with KIND one of {}",
                                      iba::as_given(text), transports::sim::topology_kinds()));
    }
    if (o.sm_port) {
        local_port_.sa_path.DLID = comad::iba::lid(o.sm_port);
        port_reader_ = with_fixed_sa(std::move(port_reader_), local_port_);
    }
    transport_ = own_ ? own_.get() : simulation_.transport;
    if (comad::mad::port_tables* const tables = transport_->tables(); tables && !tables->PKeys().empty())
        choose_pkey(*tables, o);
    else if (o.pkey_index || o.pkey)
        print_message("-Y and --pkey ignored: the fabric '{}' has no P_Keys", iba::escaped(text));
}

} // namespace ibtool
