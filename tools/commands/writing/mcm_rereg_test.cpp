// SPDX-License-Identifier: MIT
// mcm_rereg_test.cpp - mcm_rereg_test: makes all ports leave the IPoIB broadcast group and join it again at the same time, and then
// queries their membership. Shows whether an SA can handle the load after its restart. Writes only to the tables of the SA.
#include "comad.hpp"
#include "command.hpp"
#include "input/split_text.hpp"
#include "session/queries.hpp"
#include "session/read_back.hpp"
#include "text/error_text.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/coro/detail/when_all.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/sa.hpp>

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

using iba::sa::MCMemberRecord;

/// The command line of mcm_rereg_test.
struct mcm_rereg_settings {
    std::string file = "port_guids.list";
    bool dry_run = false, json = false;
};

/// Reads one port GUID from each line. A comment starts with `#`. Throws std::runtime_error with one line.
std::vector<iba::guid> read_port_guids(const std::string& file) {
    std::vector<iba::guid> guids;
    std::istringstream lines = iba::open_text_file(file);
    unsigned number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::string text = trimmed(line.substr(0, line.find('#')));
        if (text.empty()) continue;
        const auto guid = iba::parse_guid_number(text);
        if (!guid || guid->is_larger)
            throw std::runtime_error(
                fmt::format("{}: line {}: invalid GUID {}; expected a GUID such as 0x2c90300001491", iba::escaped(file),
                            number, iba::as_given(text)));
        guids.push_back(iba::guid{guid->value});
    }
    return guids;
}

/// Returns the record of a port as a full member of ff12:401b:ffff::ffff:ffff.
iba::query<MCMemberRecord> membership(session& in, iba::guid port) {
    constexpr comad::u64 IPoIB = 0xff12401bffff0000, broadcast = 0xffffffff;
    const iba::gid ours = in.local_port().GID;
    const comad::u64 prefix = ours == iba::gid{} ? iba::link_local_prefix : ours.prefix();
    auto record = iba::query<MCMemberRecord>{}.where<&MCMemberRecord::MGID>(iba::gid(IPoIB, iba::guid{broadcast}));
    record.where<&MCMemberRecord::portGID>(iba::gid(prefix, port));
    record.where<&MCMemberRecord::joinState>(comad::u8{1});
    return record;
}

/// The result of one port. The texts contain problems; empty: success.
struct rereg_outcome {
    std::string left, joined, found;
    bool is_kept = false; ///< still a member after leaving, or unknown
};

std::string problem_of(const mad::mad_error* e, const global_options& o) {
    return e ? format_error(*e, o) : std::string();
}

/// Returns whether the SA has the membership.
query_task<bool> is_member(session& in, iba::query<MCMemberRecord> record) {
    auto found = co_await in.schedule().SubnAdmGet(record);
    constexpr comad::u8 no_records = 3; // IBA 15.2.4
    if (found) co_return true;
    if (found.error().code == mad::errc::class_status && iba::class_status(found.error().status) == no_records)
        co_return false;
    co_return std::move(found.error());
}
/// Reads the membership back after a write.
query_task<bool> is_member_now(session& in, const iba::query<MCMemberRecord>& record) {
    const std::function<query_task<bool>()> reads = [&] { return is_member(in, record); };
    auto reading = read_back<bool>(in, reads);
    co_return co_await std::move(reading);
}

/// Returns why a write failed; empty: success. The table of the SA decides, whether or not the write got a reply.
std::string write_problem(const mad::result<MCMemberRecord>& write, const mad::result<bool>& now, bool wanted,
                          const global_options& o) {
    const mad::mad_error* const failure = write ? nullptr : &write.error();
    if (failure && !mad::may_have_acted(*failure)) return problem_of(failure, o);
    if (!now) return fmt::format("{}: {}", not_known, format_error(decisive(failure, now.error()), o));
    if (now.value() == wanted) return {};
    const std::string has =
        wanted ? "the SA does not list the port as a member" : "the SA still lists the port as a member";
    return failure ? fmt::format("{}; {}", has, format_error(*failure, o)) : has;
}

/// Lets a port leave the group and join it again, and reads the membership after each step.
query_task<rereg_outcome> register_again(session& in, iba::guid port) {
    const auto record = membership(in, port);
    rereg_outcome o;
    const auto left = co_await in.schedule().SubnAdmDelete(record);
    const auto after_leaving = co_await is_member_now(in, record);
    o.left = write_problem(left, after_leaving, false, in.options());
    o.is_kept = !after_leaving || after_leaving.value();
    const auto joined = co_await in.schedule().SubnAdmSet(record);
    const auto after_joining = co_await is_member_now(in, record);
    o.joined = write_problem(joined, after_joining, true, in.options());
    if (!after_joining) o.found = problem_of(&after_joining.error(), in.options());
    else if (!after_joining.value()) o.found = "not a member";
    co_return o;
}

query_task<report> register_all(session& in, const std::vector<iba::guid>& ports, const mcm_rereg_settings& s) {
    require_sa(in);
    std::vector<query_task<rereg_outcome>> running;
    for (const iba::guid port : ports) running.push_back(register_again(in, port));
    const auto outcomes = co_await coro::when_all(std::move(running));
    report result;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const rereg_outcome& o = outcomes[i].value();
        const auto word = [](const std::string& problem) { return problem.empty() ? "yes" : problem.c_str(); };
        const std::string place = fmt::format("0x{:016x}", value(ports[i]));
        if (s.json)
            result.text += json_line({{"portGUID", fmt::format("{}", ports[i])},
                                      {"left", o.left.empty()},
                                      {"joined", o.joined.empty()},
                                      {"found", o.found.empty()},
                                      {"dry_run", false}});
        else
            result.text += fmt::format("{}: left: {}, joined: {}, found: {}\n", place, word(o.left), word(o.joined),
                                       word(o.found));
        // An SA rejects the Delete of a port that is not a member, which is not a failure. It is a failure if the SA keeps the member.
        if (!o.joined.empty()) result.missing.push_back(of_write(failure_at(place, "not joined: " + o.joined)));
        else if (o.is_kept) result.missing.push_back(of_write(failure_at(place, "did not leave: " + o.left)));
    }
    co_return result;
}

int run_mcm_rereg_test(const mcm_rereg_settings& s, const global_options& options) {
    const std::vector<iba::guid> ports = read_port_guids(s.file);
    if (s.dry_run) {
        std::string text;
        for (const iba::guid port : ports)
            text += s.json ? json_line({{"portGUID", fmt::format("{}", port)}, {"dry_run", true}})
                           : fmt::format("0x{:016x} would leave and join\n", value(port));
        write_output(text);
        return complete;
    }
    return run_query(options, nullptr, [&](session& in) { return register_all(in, ports, s); });
}

} // namespace

command mcm_rereg_test_command() {
    return {.name = "mcm_rereg_test",
            .group = command_group::writing,
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<mcm_rereg_settings>();
                takes.option("file", s->file).file(file_use::read);
                takes.flag("--dry-run", s->dry_run);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_mcm_rereg_test(*s, options); };
            }};
}

} // namespace ibtool
