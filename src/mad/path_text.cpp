// SPDX-License-Identifier: MIT
// path_text.cpp - the parser of targets, and path specifications, which use one table of members.
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>
#include <comad/mad/path_text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace comad::mad {
namespace {

using iba::as_given;
using iba::trimmed;

constexpr u16 first_multicast_lid = 0xc000;

iba::error unreadable(std::string text) { return {iba::errc::unreadable, std::move(text)}; }
iba::error out_of_range(std::string text) { return {iba::errc::out_of_range, std::move(text)}; }

/// Returns the text up to the first `separator`, and removes both from `text`.
std::string_view take_until(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
}

// ---- members ----

enum class form : u8 { decimal, hex };

/// Calls `f(name, member, bits, form)` for every member of a path that has a text, in the order of their names.
template <class Path, class F> void for_each_member(F&& f) {
    constexpr bool lid_routed = std::is_same_v<Path, IBPath>;
    if constexpr (lid_routed) f("CCKey", &IBPath::CCKey, 64, form::hex);
    if constexpr (lid_routed) f("DGID", &IBPath::DGID, 128, form::hex);
    f("DLID", &path_headers::DLID, 16, form::decimal);
    f("MKey", &path_headers::MKey, 64, form::hex);
    f("MTU", &path_headers::MTU, 6, form::decimal);
    if constexpr (lid_routed) {
        f("SGID", &IBPath::SGID, 128, form::hex);
        f("SGID_index", &IBPath::SGID_index, 8, form::decimal);
    }
    f("SL", &path_headers::SL, 4, form::decimal);
    f("SLID", &path_headers::SLID, 16, form::decimal);
    if constexpr (lid_routed) f("SMKey", &IBPath::SMKey, 64, form::hex);
    if constexpr (!lid_routed) {
        f("drDLID", &IBDRPath::drDLID, 16, form::decimal);
        f("drPath", &IBDRPath::drPath, 8, form::decimal);
        f("drSLID", &IBDRPath::drSLID, 16, form::decimal);
    }
    f("dqpn", &path_headers::dqpn, 24, form::decimal);
    if constexpr (lid_routed) {
        f("flow_label", &IBPath::flow_label, 20, form::decimal);
        f("has_grh", &IBPath::has_grh, 1, form::decimal);
        f("hop_limit", &IBPath::hop_limit, 8, form::decimal);
    }
    f("packet_life_time", &path_headers::packet_life_time, 6, form::decimal);
    f("pkey", &path_headers::pkey, 16, form::hex);
    f("pkey_index", &path_headers::pkey_index, 16, form::decimal);
    f("qkey", &path_headers::qkey, 32, form::hex);
    f("rate", &path_headers::rate, 6, form::decimal);
    f("resp_time", &path_headers::resp_time, 5, form::decimal);
    f("retries", &path_headers::retries, 8, form::decimal);
    f("sqpn", &path_headers::sqpn, 24, form::decimal);
    if constexpr (lid_routed) f("traffic_class", &IBPath::traffic_class, 8, form::decimal);
}

/// Calls `f(name, member, bits)` for every value of a queue pair.
template <class F> void for_each_qp_value(F&& f) {
    f("dack_resp_time", &qp_values::dack_resp_time, 5);
    f("dqpsn", &qp_values::dqpsn, 24);
    f("drdatomic", &qp_values::drdatomic, 8);
    f("min_rnr_timer", &qp_values::min_rnr_timer, 5);
    f("sack_resp_time", &qp_values::sack_resp_time, 5);
    f("sqpsn", &qp_values::sqpsn, 24);
    f("srdatomic", &qp_values::srdatomic, 8);
}

/// Calls `f(name, member, bits)` for every optional number of an address.
template <class F> void for_each_optional(F&& f) {
    f("DLID_bits", &address::DLID_bits, 7);
    f("SLID_bits", &address::SLID_bits, 7);
    f("umad_agent_id", &address::umad_agent_id, 32);
}

using hops = std::array<u8, 64>;

std::string text_of(const IBDRPath& path, const hops&, form) {
    return fmt::format("{}:", fmt::join(path.drPath.begin(), path.drPath.begin() + path.hopCount + 1, ":"));
}
std::string text_of(const path_headers&, const iba::gid& g, form) { return fmt::format("GID('{}')", g); }
template <class T> std::string text_of(const path_headers&, T member, form how) {
    const auto number = static_cast<u64>(member);
    bool hex = how == form::hex;
    if constexpr (std::is_same_v<T, iba::lid>) hex = number >= first_multicast_lid;
    return hex ? fmt::format("{:#x}", number) : fmt::to_string(number);
}

bool is_usual(const IBDRPath& path, const hops&, const hops&) { return path.hopCount == 0; }
template <class T> bool is_usual(const path_headers&, const T& member, const T& usual) { return member == usual; }

/// The members of a specification, as `NAME=VALUE`.
using member_list = std::vector<std::string>;

/// Returns the members that differ from their defaults, in the order of their names.
template <class Path> member_list members_of(const Path& path) {
    const Path usual{};
    member_list pairs;
    for_each_member<Path>([&](std::string_view key, auto member, unsigned, form how) {
        if (!is_usual(path, path.*member, usual.*member))
            pairs.push_back(fmt::format("{}={}", key, text_of(path, path.*member, how)));
    });
    return pairs;
}
member_list members_of(const any_path& p) {
    if (auto* route = directed(p)) return members_of(*route);
    return members_of(*std::get_if<IBPath>(&p));
}

/// A specification without a member is invalid, so the list of a default path is not empty.
std::string spec_of(const any_path& p, member_list pairs) {
    const bool is_route = directed(p) != nullptr;
    if (pairs.empty()) pairs.emplace_back(is_route ? "drPath=0:" : "DLID=0");
    return fmt::format("{}({})", is_route ? "IBDRPath" : "IBPath", fmt::join(pairs, ", "));
}

/// Parses ports between separators; one separator may follow the last port: `0,1,4` and `0:1:4:`.
iba::result<void> set_hops(IBDRPath& path, std::string_view text, char separator, std::string_view what) {
    IBDRPath route;
    std::string_view rest = trimmed(text);
    unsigned taken = 0;
    do {
        const std::string_view port = trimmed(take_until(rest, separator));
        const auto number = iba::parse_digits(port, 10);
        if (!number)
            return unreadable(
                fmt::format("invalid port {2} in {0} {1}; must be 0..254", what, as_given(text), as_given(port)));
        if (number->value >= 255)
            return out_of_range(fmt::format("invalid port {} in {}; must be 0..254", as_given(port), what));
        if (taken == 0 && number->value != 0)
            return out_of_range(fmt::format("{} {} must start with 0, the local port", what, as_given(text)));
        if (taken > IBDRPath::max_hops)
            return out_of_range(fmt::format("{} must have at most {} hops", what, IBDRPath::max_hops));
        route.drPath[taken++] = static_cast<u8>(number->value);
        rest = trimmed(rest);
    } while (!rest.empty());
    path.drPath = route.drPath;
    path.hopCount = static_cast<u8>(taken - 1);
    return iba::success();
}

/// Returns the text between two equal quotes, or the text itself if it is not quoted.
std::string_view unquoted(std::string_view text) {
    const bool quoted =
        text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
    return quoted ? text.substr(1, text.size() - 2) : text;
}

iba::result<void> set_member(IBDRPath& path, hops&, unsigned, std::string_view name, std::string_view text) {
    if (text.find(':') == text.npos)
        return unreadable(
            fmt::format("{} is {}, expected ports separated by ':', such as 0:1:4:", name, as_given(text)));
    return set_hops(path, text, ':', name);
}
iba::result<void> set_member(path_headers&, iba::gid& g, unsigned, std::string_view name, std::string_view text) {
    std::string_view inner = text;
    if (inner.starts_with("GID(") && inner.ends_with(')')) inner = trimmed(inner.substr(4, inner.size() - 5));
    const auto parsed = iba::parse_gid(unquoted(inner));
    if (!parsed) return unreadable(fmt::format("{} is {}, expected a GID (an IPv6 address)", name, as_given(text)));
    g = *parsed;
    return iba::success();
}
/// Stores a number in `member`, which can be optional.
template <class T>
iba::result<void> set_number(T& member, unsigned bits, std::string_view name, std::string_view text) {
    const auto number = iba::parse_number(text);
    const std::string given = name.ends_with("Key") ? "(not shown)" : as_given(text); // keys are secret
    if (!number) return unreadable(fmt::format("{} is {}, expected an unsigned integer", name, given));
    if (number->is_larger || number->value > iba::low_bits(bits))
        return out_of_range(
            fmt::format("{}: value {} does not fit in {} bit{}", name, given, bits, bits == 1 ? "" : "s"));
    if constexpr (requires { typename T::value_type; }) member = static_cast<typename T::value_type>(number->value);
    else member = static_cast<T>(number->value);
    return iba::success();
}
template <class T>
iba::result<void> set_member(path_headers&, T& member, unsigned bits, std::string_view name, std::string_view text) {
    if (std::is_same_v<T, bool> && (text == "True" || text == "False")) // as python-rdma prints it
        return set_number(member, bits, name, text == "True" ? "1" : "0");
    return set_number(member, bits, name, text);
}

// ---- path specifications ----

iba::result<void> set_end_port(std::optional<std::string>& end_port, std::string_view text) {
    const std::string_view name = unquoted(text);
    if (name.empty()) return unreadable("end_port must not be empty");
    if (text != "None") end_port = name;
    return iba::success();
}

/// Parses `end_port` and the members. `inner`: the text between the parentheses.
template <class Path> iba::result<address> read_members(std::string_view class_name, std::string_view inner) {
    address result{Path{}, std::nullopt};
    Path& path = *std::get_if<Path>(&result.path);
    std::vector<std::string_view> seen;
    inner = trimmed(inner);
    if (inner.empty())
        return unreadable(fmt::format("{0}: no argument given; expected NAME=VALUE, such as {0}({1})", class_name,
                                      std::is_same_v<Path, IBPath> ? "DLID=7" : "drPath=0:1:"));
    while (!inner.empty()) {
        const bool more = inner.find(',') != inner.npos;
        const std::string_view pair = trimmed(take_until(inner, ','));
        const std::size_t equals = pair.find('=');
        const std::string_view key = trimmed(pair.substr(0, equals));
        const std::string_view text = equals == pair.npos ? std::string_view{} : trimmed(pair.substr(equals + 1));
        if (key.empty() || text.empty())
            return unreadable(fmt::format("{}: invalid argument {}; expected NAME=VALUE", class_name,
                                          as_given(pair.substr(0, pair.find(' '))))); // the rest may be a key
        if (more && trimmed(inner).empty()) return unreadable(fmt::format("{} must not end with a comma", class_name));
        if (std::find(seen.begin(), seen.end(), key) != seen.end())
            return unreadable(fmt::format("{}: {} is given twice", class_name, as_given(key)));
        seen.push_back(key);

        std::vector<std::string_view> known{"end_port"};
        std::optional<iba::result<void>> done;
        if (key == "end_port") done = set_end_port(result.end_port, text);
        const std::string name = fmt::format("{}.{}", class_name, key);
        for_each_member<Path>([&](std::string_view candidate, auto member, unsigned bits, form) {
            known.push_back(candidate);
            if (key == candidate) done = set_member(path, path.*member, bits, name, text);
        });
        for_each_qp_value([&](std::string_view candidate, auto member, unsigned bits) {
            known.push_back(candidate);
            if (key == candidate) done = set_number(result.qp.*member, bits, name, text);
        });
        for_each_optional([&](std::string_view candidate, auto member, unsigned bits) {
            known.push_back(candidate);
            if (key == candidate) done = set_number(result.*member, bits, name, text);
        });
        if (!done)
            return iba::error{iba::errc::unknown_name,
                              fmt::format("{} has no member {}; the nearest are {}", class_name, as_given(key),
                                          iba::most_similar(key, known))};
        if (!*done) return done->error();
    }
    const auto is_given = [&](std::string_view name) {
        return std::find(seen.begin(), seen.end(), name) != seen.end();
    };
    for (const auto& [LID, bits] : {std::pair("DLID", "DLID_bits"), std::pair("SLID", "SLID_bits")})
        if (is_given(LID) && is_given(bits))
            return unreadable(fmt::format("{}: {} and {} exclude each other", class_name, LID, bits));
    if (path.pkey_index == path.look_up && is_given("pkey_index"))
        return out_of_range(
            fmt::format("{}.pkey_index is {}, but must be 0..{}", class_name, path.pkey_index, path.look_up - 1));
    if constexpr (std::is_same_v<Path, IBPath>)
        if (path.has_grh && path.DGID == iba::gid{})
            return unreadable(fmt::format("{}: has_grh=True needs a DGID", class_name));
    return result;
}

iba::result<address> read_spec(std::string_view text) {
    std::string_view inner = text;
    const std::string_view class_name = trimmed(take_until(inner, '('));
    if (!inner.ends_with(')')) return unreadable(fmt::format("missing ')' at the end of {}", as_given(class_name)));
    inner.remove_suffix(1);
    if (class_name == "IBPath" || class_name == "Path") return read_members<IBPath>("IBPath", inner);
    if (class_name == "IBDRPath") return read_members<IBDRPath>("IBDRPath", inner);
    return iba::error{iba::errc::unknown_name,
                      fmt::format("unknown kind of path {}; expected IBPath or IBDRPath", as_given(class_name))};
}

// ---- addresses ----

address to_gid(const iba::gid& target) {
    IBPath path;
    path.DGID = target;
    return {path, std::nullopt};
}

iba::result<address> read_gid(const iba::gid& target, std::string_view text) {
    if (target == iba::gid{}) return out_of_range(fmt::format("invalid GID {}; must not be 0", as_given(text)));
    return to_gid(target);
}

iba::result<address> read_guid(iba::guid target, std::string_view text) {
    if (target == iba::guid{}) return out_of_range(fmt::format("invalid GUID {}; must not be 0", as_given(text)));
    return to_gid({iba::link_local_prefix, target});
}

iba::result<address> read_lid(const iba::parsed_number& number, std::string_view text) {
    if (number.value == 0 || number.value >= first_multicast_lid)
        return out_of_range(fmt::format("invalid unicast LID {}; must be 1..0xbfff", as_given(text)));
    IBPath path;
    path.DLID = iba::lid{static_cast<u16>(number.value)};
    return address{path, std::nullopt};
}

iba::result<address> read_scoped(std::string_view text) {
    std::string_view end_port = text;
    const std::string_view address_text = trimmed(take_until(end_port, '%'));
    end_port = trimmed(end_port);
    const auto target = iba::parse_gid(address_text);
    if (!target)
        return unreadable(fmt::format("invalid GID {} before '%'; expected an IPv6 address", as_given(address_text)));
    if (end_port.empty() || end_port.find('%') != end_port.npos)
        return unreadable(
            fmt::format("invalid port after '%' in {}; expected GID%PORT, such as fe80::1%mlx5_0/1", as_given(text)));
    auto result = read_gid(*target, address_text);
    if (result) result.value().end_port = end_port;
    return result;
}

iba::result<address> read_route(std::string_view text) {
    IBDRPath path;
    if (auto done = set_hops(path, text, ',', "directed route"); !done) return done.error();
    return address{path, std::nullopt};
}

} // namespace

iba::result<address> from_string(std::string_view given, hex_means hex) {
    const std::string_view text = trimmed(given);
    if (text.find('(') != text.npos) return read_spec(text);
    if (text.find(',') != text.npos) return read_route(text);
    if (text.find('%') != text.npos) return read_scoped(text);
    if (const auto target = iba::parse_gid(text)) return read_gid(*target, text);
    if (const auto target = iba::parse_guid(text)) return read_guid(*target, text);
    const auto number = iba::parse_number(text);
    if (!number)
        return unreadable(fmt::format("invalid target {}; expected a LID (7), directed route (0,1,4), GUID "
                                      "(0002:c903:0000:1491), GID (fe80::2:c903:0:1491) or IBPath(DLID=7)",
                                      as_given(given)));
    if (hex == hex_means::GUID && iba::begins_hex(text)) {
        if (number->is_larger)
            return out_of_range(fmt::format("invalid GUID {}; must have at most 64 bits", as_given(text)));
        return read_guid(iba::guid{number->value}, text);
    }
    return read_lid(*number, text);
}

std::string spec_string(const any_path& p) { return spec_of(p, members_of(p)); }

std::string spec_string(const address& a) {
    member_list pairs = members_of(a.path);
    for_each_qp_value([&](std::string_view key, auto member, unsigned) {
        if (a.qp.*member != qp_values{}.*member) pairs.push_back(fmt::format("{}={}", key, a.qp.*member));
    });
    for_each_optional([&](std::string_view key, auto member, unsigned) {
        if (a.*member) pairs.push_back(fmt::format("{}={}", key, *(a.*member)));
    });
    std::sort(pairs.begin(), pairs.end());
    if (a.end_port) pairs.insert(pairs.begin(), fmt::format("end_port='{}'", *a.end_port));
    return spec_of(a.path, std::move(pairs));
}

void set_local_lid(address& a, iba::lid local) noexcept {
    auto* const route = std::get_if<IBDRPath>(&a.path);
    path_headers& path = route ? static_cast<path_headers&>(*route) : *std::get_if<IBPath>(&a.path);
    const auto with_bits = [&](u8 bits) { return iba::lid{static_cast<u16>(value(local) | bits)}; };
    if (a.SLID_bits) path.SLID = with_bits(*std::exchange(a.SLID_bits, std::nullopt));
    if (a.DLID_bits) path.DLID = with_bits(*std::exchange(a.DLID_bits, std::nullopt));
}

} // namespace comad::mad
