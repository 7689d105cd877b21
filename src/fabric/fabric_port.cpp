// SPDX-License-Identifier: MIT
// fabric_port.cpp - opens the transport that a fabric text selects, and describes its local port.
#include <comad/fabric/detail/fabric_port.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/port_tables.hpp>
#include <comad/sa/client.hpp>
#include <comad/transports/gmp.hpp>
#include <comad/transports/ibsim.hpp>
#include <comad/transports/sim/transport.hpp>
#include <comad/transports/smi_gsi.hpp>
#include <comad/transports/sysfs.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace comad {

/// The parts of an open fabric_port.
struct fabric_port::parts {
    std::string text{};
    transports::sim::simulation simulation{};
    std::unique_ptr<mad::transport> own{};
    mad::transport* transport = nullptr;
    sa::local_port local_port{};
    sa::port_reader reader{};
    std::optional<transports::end_port> end_port{};
    std::vector<std::string> notes{};
    std::string why_not_umad{};
};

namespace {

using transports::port_use;

/// A port that does not have the chosen P_Key.
struct missing_pkey : std::runtime_error {
    using std::runtime_error::runtime_error;
};

transports::end_port find_end_port(const std::string& place, const fabric_options& o, port_use use) {
    const std::string& name = place.empty() ? o.port : place;
    return o.target ? transports::end_port_for(*o.target, name, o.sys_class, use)
                    : transports::get_end_port(name, o.sys_class, use);
}

/// Returns the port that sends GMPs. On planarized hosts, it belongs to another device.
transports::end_port gsi_of(const transports::end_port& port, const std::filesystem::path& sys_class) {
    const transports::smi_gsi sides = transports::smi_gsi_pair(port, transports::end_ports(sys_class));
    return sides.gsi ? *sides.gsi : port;
}

void choose_pkey(mad::port_tables& tables, const fabric_options& o) {
    if (o.pkey_index) tables.use_pkey_index(*o.pkey_index);
    else if (o.pkey) tables.use_pkey(*o.pkey);
    else return;
    const mad::IBPath any;
    if (tables.find(any).miss != mad::table_miss::none) throw missing_pkey(tables.text_of_miss(any));
}

sa::local_port local_port_of(const transports::end_port& p) {
    return {p.LID, p.gids.empty() ? iba::gid(p.GIDPrefix, p.portGUID) : p.gids.front(), p.sa_path(), p.LMC};
}

sa::local_port local_port_of(transports::ibsim_transport& t) {
    iba::smp::NodeInfo node;
    iba::decode(node, t.node_info().data());
    iba::smp::PortInfo port;
    iba::decode(port, t.port_info().data());
    sa::local_port local{port.LID, {}, sa::sa_path_of(port), port.LMC};
    // ibsim reports the GUID of a CA's node as the GUID of its port.
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

coro::task<mad::result<sa::local_port>> read_sysfs(std::string name, port_use use, std::string sys_class,
                                                   mad::port_tables* tables) {
    try {
        const transports::end_port port = transports::get_end_port(name, sys_class, use);
        if (tables) {
            const transports::end_port gsi = gsi_of(port, sys_class);
            tables->update(gsi.PKeys, gsi.gids);
        }
        co_return local_port_of(port);
    } catch (const std::runtime_error& e) {
        mad::mad_error why;
        why.code = mad::errc::transport_failed;
        why.message(e.what());
        co_return why;
    }
}

/// Returns what an option needs that this kind of fabric does not have, as a message; empty if all options are supported.
std::string option_problem(const fabric_text& text, const fabric_options& o) {
    const bool is_umad = text.kind == fabric_kind::umad || text.kind == fabric_kind::automatic;
    const auto needs = [&](std::string_view option, std::string_view device) {
        return fmt::format("{} needs {}, but the fabric is {}", option, device, iba::as_given(text.to_string()));
    };
    if (!is_umad && o.descriptors > 1) return needs("more than one file descriptor", "a umad device");
    if (!is_umad && o.timeout != transports::kernel_timeout::automatic)
        return needs("a kernel timeout", "a umad device");
    if (!is_umad && text.kind != fabric_kind::verbs && o.target && o.target->end_port)
        return needs(fmt::format("the local port {} of the target", iba::as_given(*o.target->end_port)),
                     "a local device");
    return {};
}

} // namespace

/// Opens each kind of fabric. Reports errors as exceptions, like the transports.
struct fabric_opener {
    const fabric_options& options;
    fabric_port::parts made{};

    void open_umad(const std::string& place) {
        const transports::end_port port = find_end_port(place, options, port_use::umad);
        transports::umad_options umad;
        umad.timeout = options.timeout;
        made.own = transports::open_end_port(port, options.sys_class, options.descriptors, umad);
        take("umad:", port, port_use::umad, made.own->tables());
    }

    void open_verbs(const std::string& place) {
        const transports::end_port port = find_end_port(place, options, port_use::GMPs);
        transports::gmp_options gmps;
        gmps.on_event = options.on_port_event;
        gmps.sys_class = options.sys_class;
        if (options.pkey || options.pkey_index) {
            const transports::end_port gsi = gsi_of(port, options.sys_class);
            mad::port_tables tables(gsi.PKeys, gsi.gids);
            choose_pkey(tables, options);
            gmps.pkey_index = tables.find(mad::IBPath{}).pkey_index;
        }
        made.own = transports::open_gmp_port(port, gmps);
        take("verbs:", port, port_use::GMPs, nullptr); // the transport itself updates its tables
    }

    /// Opens a umad device; if the machine has none, a port for GMPs.
    void open_local_port() {
        try {
            open_umad({});
        } catch (const transports::no_device& no_umad) {
            if (!transports::has_verbs() || options.descriptors > 1) throw;
            try {
                open_verbs({});
            } catch (const transports::no_device&) {
                throw no_umad;
            }
            made.why_not_umad = no_umad.what();
        }
    }

    void open_ibsim(const std::string& place) {
        auto opened = std::make_unique<transports::ibsim_transport>(transports::ibsim_options(place));
        made.local_port = local_port_of(*opened);
        made.own = std::move(opened);
    }

    void open_sim(const std::string& place) {
        made.simulation = transports::sim::make_sim(place);
        made.notes = made.simulation.notes;
        made.local_port = local_port_of(made.simulation);
    }

    fabric_port open(const fabric_text& text) {
        made.text = text.to_string();
        switch (text.kind) {
        case fabric_kind::automatic: open_local_port(); break;
        case fabric_kind::umad: open_umad(text.place); break;
        case fabric_kind::verbs: open_verbs(text.place); break;
        case fabric_kind::ibsim: open_ibsim(text.place); break;
        case fabric_kind::sim: open_sim(text.place); break;
        }
        made.transport = made.own ? made.own.get() : made.simulation.transport;
        if (mad::port_tables* const tables = made.transport->tables(); tables && !tables->PKeys().empty())
            choose_pkey(*tables, options);
        return fabric_port(std::make_unique<fabric_port::parts>(std::move(made)));
    }

private:
    void take(const char* kind, const transports::end_port& port, port_use use, mad::port_tables* tables) {
        made.text = kind + port.name();
        made.local_port = local_port_of(port);
        made.end_port = port;
        made.reader = sysfs_port_reader(port.name(), use, options.sys_class, tables);
    }
};

fabric_port::fabric_port(std::unique_ptr<parts> made) noexcept : parts_(std::move(made)) {}
fabric_port::fabric_port(std::unique_ptr<mad::transport> own, const sa::local_port& local_port, sa::port_reader reader)
    : parts_(std::make_unique<parts>()) {
    parts_->own = std::move(own);
    parts_->transport = parts_->own.get();
    parts_->local_port = local_port;
    parts_->reader = std::move(reader);
}
fabric_port::fabric_port(fabric_port&&) noexcept = default;
fabric_port& fabric_port::operator=(fabric_port&&) noexcept = default;
fabric_port::~fabric_port() = default;

mad::transport& fabric_port::transport() const noexcept { return *parts_->transport; }
const std::string& fabric_port::text() const noexcept { return parts_->text; }
const sa::local_port& fabric_port::local_port() const noexcept { return parts_->local_port; }
const sa::port_reader& fabric_port::port_reader() const noexcept { return parts_->reader; }
const transports::end_port* fabric_port::end_port() const noexcept {
    return parts_->end_port ? &*parts_->end_port : nullptr;
}
const transports::sim::simulation* fabric_port::simulation() const noexcept {
    return parts_->simulation.fabric ? &parts_->simulation : nullptr;
}
const std::vector<std::string>& fabric_port::notes() const noexcept { return parts_->notes; }
const std::string& fabric_port::why_not_umad() const noexcept { return parts_->why_not_umad; }

sa::port_reader sysfs_port_reader(std::string name, port_use use, std::string sys_class, mad::port_tables* tables) {
    return [name = std::move(name), use, sys_class = std::move(sys_class), tables] {
        return read_sysfs(name, use, sys_class, tables);
    };
}

fabric_result<fabric_port> open_fabric_port(const fabric_text& text, const fabric_options& options) {
    if (std::string problem = option_problem(text, options); !problem.empty())
        return fabric_error{fabric_errc::invalid_option, std::move(problem)};
    try {
        fabric_opener opener{options};
        return opener.open(text);
    } catch (const transports::no_device& e) {
        return fabric_error{fabric_errc::no_device, e.what()};
    } catch (const missing_pkey& e) {
        return fabric_error{fabric_errc::no_pkey, e.what()};
    } catch (const std::runtime_error& e) { // std::system_error is one of them
        return fabric_error{fabric_errc::not_opened, e.what()};
    }
}

fabric_result<fabric_port> open_fabric_port(std::string_view text, const fabric_options& options) {
    const auto parsed = parse_fabric(text);
    if (!parsed) return parsed.error();
    return open_fabric_port(parsed.value(), options);
}

} // namespace comad
