// SPDX-License-Identifier: MIT
// ibportstate.cpp - ibportstate: prints the state of a port and its link, or changes it with an operation.
#include "comad.hpp"
#include "command.hpp"
#include "commands/writing/port_change.hpp"
#include "commands/writing/port_reach.hpp"
#include "commands/writing/port_write.hpp"
#include "input/field_changes.hpp"
#include "session/port_view.hpp"
#include "session/queries.hpp"
#include "session/read_back.hpp"
#include "text/diags_text.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>

namespace ibtool {
namespace {

/// The command line of ibportstate.
struct ibportstate_settings {
    std::string target, port;
    std::vector<std::string> operations;
    target_options kind;
    bool show_keys = false, dry_run = false, force = false, json = false;
};

// ---- text and JSON ----------------------------------------------------------------------------------------------------

std::string format_viewed_port(const port_view& v, bool show_keys) {
    return fmt::format("# Port info: {} port {}\n{}", format_place(v.path), v.number,
                       format_port_state(v.info, v.has_extended_speeds(), v.is_end_port(), show_keys));
}
std::string format_mellanox(const port_view& v) {
    if (!v.mellanox) return {};
    return fmt::format("# MLNX ext Port info: {} port {}\n{}", format_place(v.path), v.number,
                       format_diags(*v.mellanox));
}

nlohmann::ordered_json json_without_key(const smp::PortInfo& info, bool show_keys) {
    auto object = json_object(info);
    if (!show_keys) object.erase("MKey");
    return object;
}
/// Returns a port as JSON. `LID` is that of the end port. `route` exists only if the port was queried by a directed route from the local
/// port.
nlohmann::ordered_json view_json(const port_view& v, bool show_keys) {
    nlohmann::ordered_json o{{"nodeType", iba::name_or_number(v.node.nodeType)},
                             {"nodeGUID", fmt::format("{}", v.node.nodeGUID)},
                             {"LID", value(v.end.LID)},
                             {"port", v.true_number()}};
    const mad::IBDRPath* const way = mad::directed(v.path);
    const bool begins_here = way && way->drSLID == iba::permissive_lid;
    if (begins_here) o["route"] = std::vector<u8>(way->drPath.begin(), way->drPath.begin() + way->hopCount + 1);
    o["PortInfo"] = json_without_key(v.info, show_keys);
    if (v.mellanox) o["MlnxExtPortInfo"] = json_object(*v.mellanox);
    return o;
}

nlohmann::ordered_json document_of(const port_view& v, bool show_keys) {
    nlohmann::ordered_json o{{"schema", "comad.port_state/1"}};
    o.update(view_json(v, show_keys));
    return o;
}

/// Returns the fields to write as `NAME=VALUE`.
std::vector<std::string> shown_fields(const port_change& c, bool show_keys) {
    std::vector<std::string> shown;
    for (const std::string& field : c.fields)
        shown.push_back(!show_keys && field.starts_with("MKey=") ? "MKey=<not displayed>" : field);
    if (c.FDR10) shown.push_back(fmt::format("MlnxExtPortInfo.LinkSpeedEnabled={}", *c.FDR10));
    return shown;
}

/// Formats a port and, if it is an external port of a switch with an Active link, its neighbor.
query_task<report> show_port(session& in, const port_view& here, const ibportstate_settings& s) {
    report result;
    auto object = document_of(here, s.show_keys);
    result.text = fmt::format("{} PortInfo:\n{}{}", here.is_switch() ? "Switch" : "CA/RT",
                              format_viewed_port(here, s.show_keys), format_mellanox(here));
    const bool has_other_end = here.is_switch() && here.number != 0 && here.info.portState == iba::PortState::Active;
    if (has_other_end) {
        auto there = co_await view_other_end(in, here);
        if (there) {
            result.text +=
                "Peer PortInfo:\n" + format_viewed_port(there.value(), s.show_keys) + format_mellanox(there.value());
            object["peer"] = view_json(there.value(), s.show_keys);
            result.notes = link_complaints(here, there.value());
            object["complaints"] = result.notes;
        } else {
            result.missing.push_back(failure_at(
                fmt::format("{} port {} is not compared with its neighbor", format_place(here.path), here.number),
                to_string(there.error()), plain_text(there.error())));
        }
    }
    if (s.json) result.text = json_line(object);
    co_return result;
}

/// Throws std::runtime_error if the port does not have the fields to write.
void require_fields(const port_view& v, const port_change& c) {
    if (c.is_of_end_port && !v.is_end_port())
        throw std::runtime_error(fmt::format("{} port {} has no LID and no M_Key: a switch has them only on port 0",
                                             format_place(v.path), v.number));
}

// ---- changes ----------------------------------------------------------------------------------------------------------

/// Returns the path to the port after the change, with its new LID and M_Key.
mad::any_path path_after(const port_view& before, const smp::PortInfo& wanted, const port_change& c) {
    mad::any_path path = before.path;
    const bool has_other_key = wanted.MKey != before.info.MKey;
    std::visit([&](mad::path_headers& h) { h.MKey = has_other_key ? wanted.MKey : h.MKey; }, path);
    if (auto* by_lid = std::get_if<mad::IBPath>(&path); by_lid && c.moves && before.is_end_port())
        by_lid->DLID = wanted.LID;
    return path;
}

/// Changes a port with one or two Sets, and reports the result.
class port_writer {
public:
    port_writer(session& in, const port_view& before, port_change change, const ibportstate_settings& s)
        : in_(in), before_(before), change_(std::move(change)), how_(s), object_(document_of(before, s.show_keys)) {
        result_.text = fmt::format("Initial {} PortInfo:\n{}{}", before.is_switch() ? "Switch" : "CA/RT",
                                   format_viewed_port(before, s.show_keys), format_mellanox(before));
    }

    query_task<report> run() {
        require_fields(before_, change_);
        if (change_.state == "on" && before_.info.portPhysicalState != iba::PortPhysicalState::Disabled) {
            result_.text += "Port is already in enable state\n";
            change_.keep_state();
        }
        object_["set"] = shown_fields(change_, how_.show_keys);
        object_["dry_run"] = how_.dry_run;
        if (!change_.writes()) co_return take();
        if (!how_.force) {
            BOOST_OUTCOME_CO_TRYV(co_await require_reachable_after(in_, before_, change_));
        }
        if (how_.dry_run) {
            result_.text += "\nWithout --dry-run this would be set:\n";
            for (const std::string& field : shown_fields(change_, how_.show_keys)) result_.text += field + '\n';
            co_return take();
        }
        if (change_.state == "disable" || change_.state == "off") result_.text += "Disable may be irreversible\n";
        if (change_.FDR10) {
            BOOST_OUTCOME_CO_TRYV(co_await set_fdr10());
        }
        BOOST_OUTCOME_CO_TRYV(co_await set_port_info());
        co_return take();
    }

private:
    report take() {
        if (how_.json) result_.text = json_line(object_);
        return std::move(result_);
    }

    std::string place() const { return fmt::format("{} port {}", format_place(before_.path), before_.number); }

    /// Handles a rejected Set. If nothing was written before, the command fails with this error. Otherwise the error is one of its
    /// failures.
    query_task<void> refused(mad::mad_error e) {
        if (before_.is_end_port() && value(before_.info.LID) == 0)
            e.message("the port has no LID, which some devices require in each Set; add 'lid N'");
        if (!has_written_) co_return std::move(e);
        result_.missing.push_back(
            of_write(failure_at(place(), "not changed: " + to_string(e), "not changed: " + plain_text(e))));
        co_return mad::success();
    }

    query_task<smp::MlnxExtPortInfo> read_fdr10() {
        return in_.SubnGet<smp::MlnxExtPortInfo>(before_.path, before_.number);
    }

    query_task<void> set_fdr10() {
        const mad::any_path path = before_.path;
        BOOST_OUTCOME_CO_TRY(const auto now, co_await in_.SubnGet<smp::MlnxExtPortInfo>(path, before_.number));
        const std::vector<std::string> fields{"StateChangeEnable=1",
                                              fmt::format("LinkSpeedEnabled={}", *change_.FDR10)};
        const auto wanted = with_fields(now, fields);
        auto reply = co_await in_.schedule().SubnSet<smp::MlnxExtPortInfo>(wanted, path, before_.number);
        const mad::mad_error* const failure = reply ? nullptr : &reply.error();
        if (failure && !mad::may_have_acted(*failure)) {
            auto ending = refused(std::move(reply.error()));
            co_return co_await std::move(ending);
        }
        has_written_ = true;
        const std::function<query_task<smp::MlnxExtPortInfo>()> reads = [this] { return read_fdr10(); };
        auto reading = read_back<smp::MlnxExtPortInfo>(in_, reads);
        const auto read = co_await std::move(reading);
        if (!read) {
            result_.missing.push_back(unknown_change(place(), decisive(failure, read.error())));
            co_return mad::success();
        }
        port_view after = before_;
        after.mellanox = read.value();
        result_.text += "\nAfter MLNXExtendedPortInfo set:\n" + format_mellanox(after);
        object_["after"]["MlnxExtPortInfo"] = json_object(*after.mellanox);
        if (after.mellanox->LinkSpeedEnabled != *change_.FDR10)
            result_.missing.push_back(
                not_set(place(),
                        fmt::format("LinkSpeedEnabled of MlnxExtPortInfo is {}, but {} was requested",
                                    after.mellanox->LinkSpeedEnabled, *change_.FDR10),
                        failure));
        co_return mad::success();
    }

    query_task<void> set_port_info() {
        // A Set uses the modifier bit for extended speeds, so the Get after it uses the same modifier (IBA 14.2.5.6).
        const u32 modifier = before_.number | (before_.has_extended_speeds() ? 1u << 31 : 0);
        if (change_.fields.empty()) co_return co_await show_after(modifier);
        port_write w{before_.path, {}, modifier, before_.end.LID, before_.true_number(), before_.info};
        const bool is_elsewhere_after = change_.is_of_end_port && before_.is_end_port();
        if (is_elsewhere_after) w.path_after = path_after(before_, with_fields(before_.info, change_.fields), change_);
        auto writing = write_port(in_, std::move(w), change_);
        written_port done = co_await std::move(writing);
        if (done.refusal) {
            auto ending = refused(std::move(*done.refusal));
            co_return co_await std::move(ending);
        }
        has_written_ = true;
        for (discovery::failure& m : done.problems) {
            m.where.name = place();
            result_.missing.push_back(std::move(m));
        }
        if (!done.note.empty()) result_.notes.push_back(place() + ": " + done.note);
        if (!done.after) co_return mad::success();
        if (!done.reply)
            result_.notes.push_back("no reply to the Set; the values shown were read from the port afterwards");
        take_after(*done.after);
        co_return mad::success();
    }

    void take_after(const smp::PortInfo& info) {
        port_view after = before_;
        after.info = info;
        result_.text += "\nAfter PortInfo set:\n" + format_viewed_port(after, how_.show_keys);
        object_["after"]["PortInfo"] = json_without_key(after.info, how_.show_keys);
    }

    /// Reads the port if no field of PortInfo was to be written.
    query_task<void> show_after(u32 modifier) {
        const auto read = co_await in_.schedule().SubnGet<smp::PortInfo>(before_.path, modifier);
        if (read) take_after(read.value());
        else result_.missing.push_back(failure_at(place(), to_string(read.error()), plain_text(read.error())));
        co_return mad::success();
    }

    session& in_;
    const port_view& before_;
    port_change change_;
    const ibportstate_settings& how_;
    report result_;
    nlohmann::ordered_json object_;
    bool has_written_ = false; // a Set has, or may have, changed the port
};

// ---- the command ------------------------------------------------------------------------------------------------------

/// Reads a port, and prints or changes it.
query_task<report> handle_port(session& in, command_target target, u8 number, port_change change,
                               const ibportstate_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto here, co_await view_port(in, path, number));
    if (change.state == "query" && !change.writes()) co_return co_await show_port(in, here, s);
    port_writer all(in, here, std::move(change), s);
    co_return co_await all.run();
}

int run_ibportstate(ibportstate_settings s, const global_options& options) {
    command_target target = read_target(s.target, s.kind);
    const bool has_port = s.port.find_first_not_of("0123456789") == std::string::npos;
    if (!has_port) { // `ibportstate leaf-0001/3 disable`
        if (const auto port = take_port(target))
            s.operations.insert(s.operations.begin(), std::exchange(s.port, std::to_string(*port)));
    }
    // Scripts omit the port in `query`; infiniband-diags then uses port 0. Operations that write require the port.
    if (s.port == "query" && s.operations.empty()) s.port = "0";
    const auto number = static_cast<u8>(read_number(s.port, "the port", 254));
    const port_change change = read_port_change(s.operations);
    if (options.by_sa && change.writes())
        throw usage_error("--sa supports only the operation query: the SA cannot change a port");
    return run_query(options, &target, [&](session& in) { return handle_port(in, target, number, change, s); });
}

} // namespace

command ibportstate_command() {
    return {.name = "ibportstate",
            .group = command_group::writing,
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibportstate_settings>();
                takes.option("target", s->target).required();
                takes.option("port", s->port).required();
                takes.option("operation", s->operations).such_as(port_operation_names());
                add_target_options(takes, s->kind);
                takes.flag("-K,--show_keys", s->show_keys);
                takes.flag("--dry-run", s->dry_run);
                takes.flag("--force", s->force);
                takes.flag("--json", s->json);
                return [s](const global_options& options) {
                    return run_ibportstate(*s, options.with_trace_keys(s->show_keys));
                };
            }};
}

} // namespace ibtool
