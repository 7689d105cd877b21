// SPDX-License-Identifier: MIT
// target.cpp - parses the forms of targets, and queries the SA for paths to them.
#include "session/target.hpp"

#include "comad.hpp"
#include "session/node_target.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ibtool {

void add_direct_option(arguments& takes, target_options& o) { takes.flag("-D,--Direct", o.direct); }
void add_lid_option(arguments& takes, target_options& o) { takes.flag("-L,--Lid", o.lid); }
void add_guid_option(arguments& takes, target_options& o) { takes.flag("-G,--Guid", o.guid); }
void add_target_options(arguments& takes, target_options& o) {
    add_direct_option(takes, o);
    add_lid_option(takes, o);
    add_guid_option(takes, o);
}

namespace {

bool is_decimal(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Interprets the text as the options specify: `0` is a route, a plain number a GUID.
std::string as_meant(const std::string& text, const target_options& o) {
    if (o.direct && is_decimal(text)) return text + ',';
    if (o.guid && is_decimal(text) && text.size() < 20) return fmt::format("{:#x}", std::stoull(text));
    return text;
}

} // namespace

mad::address read_address(const std::string& text, const target_options& o) {
    if (o.direct + o.lid + o.guid > 1) throw usage_error("-D, -L and -G exclude each other");
    auto read = mad::from_string(as_meant(text, o), o.guid ? mad::hex_means::GUID : mad::hex_means::LID);
    if (!read) throw usage_error(read.error().text);
    const auto* path = std::get_if<mad::IBPath>(&read.value().path);
    const bool global = path && path->DGID != iba::gid{};
    const auto refuse = [&](const char* what) {
        const bool may_have_keys = text.find('(') != std::string::npos;
        throw usage_error(fmt::format("{} is not a {}", may_have_keys ? "the path" : iba::as_given(text), what));
    };
    if (o.direct && path) refuse("directed route; expected output ports that start with 0, such as 0,1,4");
    if (o.guid && !global) refuse("GUID");
    if (o.lid && (!path || global)) refuse("LID");
    const bool has_lid = path && (value(path->DLID) != 0 || read.value().DLID_bits);
    if (path && !global && !has_lid) refuse("target: it has neither a DLID nor a DGID");
    return std::move(read).value();
}

namespace {

/// Returns the port number after the last slash, if there is one, and removes it from `name`.
std::optional<unsigned> port_behind(std::string& name) {
    constexpr std::size_t most_digits = 3;
    const auto slash = name.rfind('/');
    if (slash == name.npos || slash == 0) return std::nullopt;
    const std::string digits = name.substr(slash + 1);
    if (!is_decimal(digits) || digits.size() > most_digits) return std::nullopt;
    name.resize(slash);
    return static_cast<unsigned>(std::stoul(digits));
}

/// Parses `"MF0;sw-1:SX6036/U1"/3`: quoted text is always a name.
std::optional<command_target> quoted_name(const std::string& text) {
    const auto end = text.rfind('"');
    if (text.size() < 3 || text.front() != '"' || end < 2) return std::nullopt;
    command_target t;
    t.name = text.substr(1, end - 1);
    if (end + 1 == text.size()) return t;
    std::string rest = "x" + text.substr(end + 1);
    t.port = port_behind(rest);
    if (!t.port || rest != "x") return std::nullopt;
    return t;
}

/// Returns whether a text can be a name. Other forms start with a digit, or contain commas, parentheses and percent signs.
bool may_be_name(const std::string& text) {
    const bool has_letter = std::ranges::any_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
    return has_letter && text.find_first_of(",(%\n") == text.npos;
}

} // namespace

command_target read_target(const std::string& text, const target_options& o) {
    const bool has_form = o.direct || o.lid || o.guid;
    if (!has_form) {
        if (auto named = quoted_name(text)) return *named;
        const auto read = mad::from_string(as_meant(text, o));
        if (!read && read.error().code == iba::errc::unreadable && may_be_name(text)) {
            command_target t;
            t.name = text;
            t.port = port_behind(t.name);
            return t;
        }
    }
    return command_target(read_address(text, o));
}

namespace {

/// Returns `the local port mlx5_0/1 (umad0)`; a simulated port has no name.
std::string local_port_words(const session& in) {
    return in.device().empty() ? "the local port" : "the local port " + in.device();
}

} // namespace

command_target this_port(session& in) {
    require_lid(in);
    mad::IBPath self;
    self.DLID = in.local_port().LID;
    return command_target({self, std::nullopt});
}

std::optional<unsigned> take_port(command_target& target) {
    target.uses_port = true;
    return target.port;
}

void require_lid(session& in) {
    if (value(in.local_port().LID) != 0) return;
    throw std::runtime_error(local_port_words(in) +
                             " has no LID: no subnet manager has configured it; start one (opensm), or use a "
                             "directed route (-D 0,1)");
}

void require_sa(session& in) {
    if (value(in.schedule().sa_path().DLID) != 0 || in.schedule().sa_path().has_grh) return;
    require_lid(in);
    throw std::runtime_error(
        local_port_words(in) +
        " has a LID, but no subnet manager is known; start one (opensm), or give the SA by --sa-path");
}

namespace {

/// Returns whether the path needs the local LID, to which the reply is sent. RoCE uses GIDs; the permissive LID addresses the local port.
bool needs_lid(const mad::IBPath& path) noexcept {
    return !path.has_grh && value(path.SLID) == 0 && path.DLID != iba::permissive_lid;
}

/// Throws usage_error if SLID_bits or DLID_bits select a LID that the local port does not have.
void require_own_bits(const mad::address& a, u8 LMC) {
    const unsigned own = 1u << LMC;
    for (const auto& [name, bits] : {std::pair("SLID_bits", a.SLID_bits), {"DLID_bits", a.DLID_bits}})
        if (bits && *bits >= own)
            throw usage_error(fmt::format("{} is {}, but the local port has LMC {}, so only {} is possible", name,
                                          *bits, LMC, own == 1 ? "0" : fmt::format("0 to {}", own - 1)));
}

} // namespace

comad::coro::task<mad::result<mad::any_path>> resolve(session& in, command_target target) {
    if (target.is_named()) {
        const name_query named{target.name, target.port, target.uses_port};
        BOOST_OUTCOME_CO_TRY(target.path, co_await path_of_name(in, named));
    }
    if (target.SLID_bits || target.DLID_bits) {
        require_lid(in);
        require_own_bits(target, in.local_port().LMC);
        mad::set_local_lid(target, in.local_port().LID);
    }
    if (auto* to = std::get_if<mad::IBPath>(&target.path)) {
        const iba::gid ours = in.local_port().GID;
        if (to->DGID.prefix() == iba::link_local_prefix && ours != iba::gid{})
            to->DGID = iba::gid(ours.prefix(), to->DGID.interface_id());
        if (to->DGID != iba::gid{} && value(to->DLID) == 0) require_sa(in);
        else if (needs_lid(*to)) require_lid(in);
    } else if (mad::directed(target.path)->drSLID != iba::permissive_lid) {
        require_lid(in); // the first part of the route uses LIDs
    }
    if (in.options().by_sa) require_sa(in);
    auto path = co_await in.paths().get_mad_path(target.path);
    if (const auto* to = std::get_if<mad::IBPath>(&target.path); !path && to)
        path.error().message(fmt::format("cannot resolve {}", to->DGID));
    co_return path;
}

comad::coro::task<mad::result<mad::IBPath>> lid_routed(session& in, mad::any_path path) {
    if (const auto* by_lid = std::get_if<mad::IBPath>(&path)) co_return *by_lid;
    const auto& route = *mad::directed(path);
    require_lid(in);
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<iba::smp::PortInfo>(path));
    if (value(info.LID) == 0)
        throw std::runtime_error(
            fmt::format("the port at the end of route {} has no LID: no subnet manager has configured it; start a "
                        "subnet manager (opensm)",
                        fmt::join(route.drPath.begin(), route.drPath.begin() + route.hopCount + 1, ",")));
    mad::IBPath found;
    found.DLID = info.LID;
    co_return found;
}

} // namespace ibtool
