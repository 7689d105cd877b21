// SPDX-License-Identifier: MIT
// vendstat.cpp - vendstat: queries Mellanox devices by their vendor class for hardware and firmware, counter groups, and configuration
// space. Writes only with -W and -c.
#include "comad.hpp"
#include "command.hpp"
#include "session/queries.hpp"
#include "session/read_back.hpp"
#include "text/diags_text.hpp"
#include "text/json.hpp"
#include "text/structure_text.hpp"
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/mellanox.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ibtool {
namespace {

namespace vend = comad::iba::vend;
using vend::MlxConfigSpace;
using config_texts = std::vector<std::string>;

/// The command line of vendstat.
struct vendstat_settings {
    std::string target, port_text, groups;
    config_texts reads, writes; ///< `address[,mask]`; `address,value[,mask]`
    target_options kind;
    bool general = false, class_port_info = false, xmit_wait = false, group_info = false, json = false;
};

/// Parses numbers that are separated by commas. -R and -W take hex with or without 0x, as in infiniband-diags.
std::vector<u32> numbers_in(const std::string& text, int base, const char* what) {
    std::vector<u32> numbers;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        std::string_view part = std::string_view(text).substr(begin, end - begin);
        if (base == 16 && iba::begins_hex(part)) part.remove_prefix(2);
        const auto number = iba::parse_digits(part, base);
        if (!number || number->value > 0xffffffff)
            throw usage_error(fmt::format("{}, not {}", what, iba::as_given(text)));
        numbers.push_back(static_cast<u32>(number->value));
        begin = end + 1;
    }
    return numbers;
}

/// Parses the records of a request: addresses, values to write, and masks. The default mask has all bits set.
MlxConfigSpace read_records(const config_texts& texts, bool writes) {
    MlxConfigSpace space;
    const std::size_t needed = writes ? 2 : 1;
    if (texts.size() > space.record.size())
        throw usage_error(fmt::format("at most {} words of the configuration space can be read or written at once",
                                      space.record.size()));
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const char* what = writes ? "-W: expected ADDRESS,DATA[,MASK] in hex" : "-R: expected ADDRESS[,MASK] in hex";
        const auto numbers = numbers_in(texts[i], 16, what);
        if (numbers.size() < needed || numbers.size() > needed + 1)
            throw usage_error(fmt::format("{}, not {}", what, iba::as_given(texts[i])));
        space.record[i] = {numbers[0], writes ? numbers[1] : 0, numbers.size() > needed ? numbers[needed] : 0xffffffff};
    }
    return space;
}

// ---- queries -------------------------------------------------------------------------------------------------------

query_task<MlxConfigSpace> read_space(session& in, mad::IBPath to, MlxConfigSpace space, u32 modifier) {
    co_return co_await in.schedule().VendGet<MlxConfigSpace>(space, to, modifier);
}

std::string format_space(const MlxConfigSpace& space, std::size_t count, bool json) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const vend::MlxConfigRecord& r = space.record[i];
        text += json ? iba::json(r) + '\n'
                     : fmt::format("Config space record at {:#x}: {:#x}\n", r.address, r.data & r.mask);
    }
    return text;
}

query_task<std::string> config_space(session& in, mad::IBPath to, MlxConfigSpace space, std::size_t count, bool json) {
    const u32 modifier = vend::config_space_modifier(static_cast<unsigned>(count));
    BOOST_OUTCOME_CO_TRY(const auto reply, co_await read_space(in, to, space, modifier));
    co_return format_space(reply, count, json);
}

/// Writes words of the configuration space, and prints their values after the write.
query_task<report> write_config_space(session& in, mad::IBPath to, MlxConfigSpace space, std::size_t count, bool json) {
    const u32 modifier = vend::config_space_modifier(static_cast<unsigned>(count));
    auto reply = co_await in.schedule().VendSet<MlxConfigSpace>(space, to, modifier);
    const mad::mad_error* const failure = reply ? nullptr : &reply.error();
    if (failure && !mad::may_have_acted(*failure)) co_return std::move(reply.error());
    MlxConfigSpace question = space;
    for (vend::MlxConfigRecord& r : question.record) r.data = 0;
    const std::function<query_task<MlxConfigSpace>()> reads = [&] { return read_space(in, to, question, modifier); };
    auto reading = read_back<MlxConfigSpace>(in, reads);
    const auto now = co_await std::move(reading);
    report done;
    if (!now) {
        done.missing.push_back(unknown_change(format_place(to), decisive(failure, now.error())));
        co_return done;
    }
    done.text = format_space(now.value(), count, json);
    for (std::size_t i = 0; i < count; ++i) {
        const vend::MlxConfigRecord &wanted = space.record[i], &has = now.value().record[i];
        if ((wanted.data & wanted.mask) == (has.data & wanted.mask)) continue;
        const std::string difference = fmt::format("the word at {:#x} is {:#x}, but {:#x} was requested",
                                                   wanted.address, has.data & wanted.mask, wanted.data & wanted.mask);
        done.missing.push_back(not_set(format_place(to), difference, failure));
    }
    co_return done;
}

/// Reads the 32-bit PortXmitWait counters of an InfiniScale III. The first counter belongs to port 4.
query_task<std::string> xmit_wait(session& in, mad::IBPath to, bool json) {
    constexpr unsigned infiniscale_iii = 47396, counters = 24, first_counter = 0x10013c, per_request = 16;
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.schedule().VendGet<vend::MlxGeneralInfo>(to));
    if (info.device_id != infiniscale_iii)
        throw std::runtime_error(
            fmt::format("device ID {:#x} is not supported by -w; only {:#x} (InfiniScale III) is supported",
                        info.device_id, infiniscale_iii));
    std::string text;
    for (unsigned begin = 0; begin < counters; begin += per_request) {
        const unsigned count = std::min(per_request, counters - begin);
        MlxConfigSpace space;
        for (unsigned i = 0; i < count; ++i) space.record[i].address = first_counter + ((begin + i + 1) << 12);
        BOOST_OUTCOME_CO_TRY(const auto reply, co_await in.schedule().VendGet<MlxConfigSpace>(
                                                   space, to, vend::config_space_modifier(count)));
        for (unsigned i = 0; i < count; ++i) {
            const unsigned port = (begin + i + 3) % counters + 1;
            if (json)
                text += json_line({{"attribute", "MlxConfigSpace"},
                                   {"LID", value(to.DLID)},
                                   {"port", port},
                                   {"counters", {{"portXmitWait", reply.record[i].data}}}});
            else if (reply.record[i].data)
                text += fmt::format("Port {}: PortXmitWait {:#x}\n", port, reply.record[i].data);
        }
    }
    co_return text;
}

query_task<std::string> group_info(session& in, mad::IBPath to, unsigned port, bool json) {
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.schedule().VendGet<vend::MlxCounterGroupInfo>(to, port));
    if (json) co_return json_line(structure_json(info));
    std::string text = fmt::format("counter_group_info:\n{} counter groups\n", info.groupCount);
    for (unsigned i = 0; i < std::min<std::size_t>(info.groupCount, info.groupMask.size()); ++i)
        text += fmt::format("group{} mask {:#x}\n", i, info.groupMask[i]);
    co_return text;
}

query_task<vend::MlxCounterGroupConfig> read_groups(session& in, mad::IBPath to, unsigned port) {
    co_return co_await in.schedule().VendGet<vend::MlxCounterGroupConfig>(to, port);
}

query_task<report> configure_groups(session& in, mad::IBPath to, unsigned port, std::vector<u32> groups, bool json) {
    vend::MlxCounterGroupConfig wanted;
    std::ranges::copy(groups, wanted.groupSelect.begin());
    auto reply = co_await in.schedule().VendSet<vend::MlxCounterGroupConfig>(wanted, to, port);
    const mad::mad_error* const failure = reply ? nullptr : &reply.error();
    if (failure && !mad::may_have_acted(*failure)) co_return std::move(reply.error());
    const std::function<query_task<vend::MlxCounterGroupConfig>()> reads = [&] { return read_groups(in, to, port); };
    auto reading = read_back<vend::MlxCounterGroupConfig>(in, reads);
    const auto read = co_await std::move(reading);
    report done;
    if (!read) {
        done.missing.push_back(unknown_change(format_place(to), decisive(failure, read.error())));
        co_return done;
    }
    const auto& now = read.value().groupSelect;
    done.text = json ? json_line(structure_json(read.value()))
                     : fmt::format("counter_groups_config: configuring group0 {} group1 {}\n", groups[0], groups[1]);
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (now[i] != groups[i])
            done.missing.push_back(not_set(format_place(to),
                                           fmt::format("group{} counts {}, but {} was requested", i, now[i], groups[i]),
                                           failure));
    co_return done;
}

query_task<std::string> class_port_info(session& in, mad::IBPath to, bool json) {
    using iba::ClassPortInfo;
    constexpr mad::rpc_kind kind{vend::mellanox_class, 1, iba::Method::Get, iba::attribute_id<ClassPortInfo>, true, 0};
    const comad::coro::rpc_request request{kind, to};
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.schedule().call<ClassPortInfo, false>(request));
    co_return json ? json_line(structure_json(info))
                   : format_structure(style_of(in.options()), info, keys::shown,
                                      [](const ClassPortInfo& c) { return iba::dotted(c); });
}

query_task<std::string> general_info(session& in, mad::IBPath to, bool json) {
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.schedule().VendGet<vend::MlxGeneralInfo>(to));
    co_return json ? json_line(structure_json(info)) : format_diags(info);
}

// ---- the command -----------------------------------------------------------------------------------------------------

/// The parsed command line.
struct register_request {
    unsigned port = 0;
    std::vector<u32> groups;
    MlxConfigSpace reads, writes;
};

register_request read_register_request(const vendstat_settings& s) {
    register_request r;
    if (!s.port_text.empty()) r.port = read_number(s.port_text, "the port", 255);
    if (!s.groups.empty()) {
        r.groups = numbers_in(s.groups, 10, "-c: expected A,B: two numbers 0..255");
        if (r.groups.size() != 2 || std::ranges::max(r.groups) > 255)
            throw usage_error(fmt::format("-c: expected A,B: two numbers 0..255, not {}", iba::as_given(s.groups)));
    }
    r.reads = read_records(s.reads, false);
    r.writes = read_records(s.writes, true);
    return r;
}

/// Queries what is printed last.
query_task<std::string> read_device(session& in, mad::IBPath to, const vendstat_settings& s) {
    std::string text;
    if (s.class_port_info) {
        BOOST_OUTCOME_CO_TRY(const auto part, co_await class_port_info(in, to, s.json));
        text += part;
    }
    if (s.general) {
        BOOST_OUTCOME_CO_TRY(const auto part, co_await general_info(in, to, s.json));
        text += part;
    }
    if (s.xmit_wait) {
        BOOST_OUTCOME_CO_TRY(const auto part, co_await xmit_wait(in, to, s.json));
        text += part;
    }
    co_return text;
}

query_task<report> query_device(session& in, std::optional<command_target> target, register_request r,
                                const vendstat_settings& s) {
    const command_target chosen = target ? *target : this_port(in);
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, chosen));
    BOOST_OUTCOME_CO_TRY(const auto to, co_await lid_routed(in, path));
    report done;
    if (s.group_info) {
        BOOST_OUTCOME_CO_TRY(done.text, co_await group_info(in, to, r.port, s.json));
        co_return done;
    }
    if (!r.groups.empty()) co_return co_await configure_groups(in, to, r.port, r.groups, s.json);
    std::string read;
    if (!s.reads.empty()) {
        BOOST_OUTCOME_CO_TRY(read, co_await config_space(in, to, r.reads, s.reads.size(), s.json));
    }
    const bool writes = !s.writes.empty();
    if (writes) {
        BOOST_OUTCOME_CO_TRY(done, co_await write_config_space(in, to, r.writes, s.writes.size(), s.json));
    }
    done.text = read + done.text;
    auto text = co_await read_device(in, to, s);
    if (!text && !writes) co_return std::move(text.error());
    if (text) done.text += text.value();
    else done.missing.push_back(failure_at(format_place(to), to_string(text.error()), plain_text(text.error())));
    co_return done;
}

int run_vendstat(const vendstat_settings& s, const global_options& options) {
    const register_request r = read_register_request(s);
    if (!s.general && !s.xmit_wait && !s.group_info && !s.class_port_info && s.groups.empty() && s.reads.empty() &&
        s.writes.empty())
        throw usage_error("nothing to do; give -N, -w, -i, -c, -R, -W or --cpi");
    std::optional<command_target> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    return run_query(options, target ? &*target : nullptr, [&](session& in) { return query_device(in, target, r, s); });
}

} // namespace

command vendstat_command() {
    return {
        .name = "vendstat", .group = command_group::queries, .writes = true, .declare = [](arguments& takes) -> action {
            auto s = std::make_shared<vendstat_settings>();
            takes.option("target", s->target);
            takes.option("port", s->port_text);
            takes.flag("-N", s->general);
            takes.flag("-w", s->xmit_wait);
            takes.flag("-i", s->group_info);
            takes.option("-c", s->groups);
            takes.option("-R,--Read", s->reads).one_each();
            takes.option("-W,--Write", s->writes).one_each();
            takes.flag("--cpi", s->class_port_info);
            add_target_options(takes, s->kind);
            takes.flag("--json", s->json);
            return [s](const global_options& options) { return run_vendstat(*s, options); };
        }};
}

} // namespace ibtool
