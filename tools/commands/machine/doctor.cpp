// SPDX-License-Identifier: MIT
// doctor.cpp - doctor: checks whether this machine can manage a fabric, and prints possible fixes.
#include "comad.hpp"
#include "command.hpp"
#include "session/machine_reader.hpp"
#include "session/manager_survey.hpp"
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include "session/target.hpp"
#include "text/doctor_checks.hpp"
#include "text/error_text.hpp"
#include "text/local_ports.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace ibtool {
namespace {

/// The command line of doctor.
struct doctor_settings : sysfs_root {
    std::string files = "/dev/infiniband";
    std::string name_map;
    bool json = false;

    bool is_this_machine() const { return path == sysfs_root().path && files == doctor_settings().files; }
};

/// Runs a query. Records its duration, or its error, and returns the reply.
template <class T> comad::coro::task<T> timed(session& in, query_task<T> question, reply_facts& facts) {
    const mad::time_point start = in.now();
    auto reply = co_await std::move(question);
    facts.round_trip = in.now() - start;
    if (reply) co_return std::move(reply).value();
    facts.error = format_error(reply.error(), in.options());
    co_return T{};
}

query_task<iba::smp::NodeInfo> query_local_port(session& in) {
    return in.SubnGet<iba::smp::NodeInfo>(this_node().path);
}
query_task<iba::smp::SMInfo> query_sm(session& in) { return in.SubnGet<iba::smp::SMInfo>(in.schedule().sa_path()); }
query_task<iba::ClassPortInfo> query_sa(session& in) {
    auto info = co_await in.schedule().SubnAdmGet<iba::ClassPortInfo>();
    co_return info;
}

/// Queries the local port, the subnet manager and the SA, as far as they are available.
comad::coro::task<fabric_facts> query_fabric(session& in) {
    fabric_facts facts;
    facts.has_smps = !in.options().by_sa && in.schedule().transport().limits().smi;
    facts.SM_LID = value(in.schedule().sa_path().DLID);
    if (facts.has_smps) co_await timed(in, query_local_port(in), facts.local);
    if (!facts.local.error.empty()) co_return facts;
    if (facts.SM_LID != 0) {
        if (facts.has_smps) facts.sm_info = co_await timed(in, query_sm(in), facts.SM);
        facts.sa_response_time = (co_await timed(in, query_sa(in), facts.SA)).respTimeValue;
    }
    facts.managers = co_await survey_managers(in);
    co_return facts;
}

/// Quotes a text for a shell with single quotes.
std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + '\'';
}

/// Returns the options with which another command uses the same port.
std::string options_for_same_port(const global_options& o) {
    std::vector<std::string> words;
    if (!o.fabric.empty()) words.push_back("--fabric " + shell_quoted(o.fabric));
    if (!o.ca.empty()) words.push_back("-C " + shell_quoted(o.ca));
    if (!o.ca_port.empty()) words.push_back("-P " + shell_quoted(o.ca_port));
    return fmt::format("{}", fmt::join(words, " "));
}

finding skipped(std::string_view check, std::string why) { return {check, {}, verdict::skipped, std::move(why), {}}; }

/// Checks the machine, then the fabric, and prints the findings.
class examination {
public:
    examination(const doctor_settings& s, const global_options& o) : how_(s), options_(o) {}

    int run() {
        const bool goes_on = is_local(options_) ? examine_machine() : add_note_about_simulation();
        all_.push_back(check_name_map(search_name_map(how_.name_map)));
        if (!goes_on) return end();
        std::unique_ptr<session> in;
        try {
            in = std::make_unique<session>(options_);
        } catch (const usage_error&) {
            throw;
        } catch (const std::exception& e) {
            all_.push_back({"fabric", {}, verdict::bad, e.what(), remedy_id::see_help});
            return end();
        }
        fabric_facts facts = in->run(query_fabric(*in));
        facts.at = options_for_same_port(options_);
        add(check_fabric(facts));
        return finish(*in, end());
    }

private:
    /// Checks the machine. Returns whether the fabric can be queried.
    bool examine_machine() {
        const machine m = read_machine(options_, how_.path, how_.files);
        add(check_machine(m));
        if (!how_.is_this_machine())
            all_.push_back(skipped("SM", "not checked: --sysfs and --dev describe another machine"));
        else if (!can_open(m)) all_.push_back(skipped("SM", "not checked: no usable port; see the findings above"));
        else return true;
        return false;
    }
    bool add_note_about_simulation() {
        all_.push_back(
            skipped("device", fmt::format("the fabric '{}' needs no device, kernel module or file of this machine",
                                          options_.fabric)));
        return true;
    }
    int end() const {
        write_output(how_.json ? findings_json(all_) : format_findings(all_));
        return is_any_bad(all_) ? failed : complete;
    }
    void add(std::vector<finding> more) { std::ranges::move(more, std::back_inserter(all_)); }

    const doctor_settings& how_;
    const global_options& options_;
    std::vector<finding> all_;
};

} // namespace

command doctor_command() {
    return {.name = "doctor", .group = command_group::device, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<doctor_settings>();
                takes.flag("--json", s->json);
                add_name_map_option(takes, s->name_map);
                s->add_to(takes);
                takes.option("--dev", s->files).shows_default();
                return [s](const global_options& options) { return examination(*s, options).run(); };
            }};
}

} // namespace ibtool
