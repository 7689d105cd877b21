// SPDX-License-Identifier: MIT
// ibidsverify.cpp - ibidsverify: finds LIDs and GUIDs that are zero or used twice.
#include "comad.hpp"
#include "command.hpp"
#include "session/report.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"
#include "text/ibidsverify_text.hpp"
#include "text/json.hpp"
#include "text/link_json.hpp"
#include "text/output.hpp"

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

/// The command line of ibidsverify.
struct ibidsverify_settings {
    std::string topology_file;
    bool json = false;
};

std::string text_of(const identity_finding& f, const discovery::subnet& s, bool json) {
    if (!json) return f.text + '\n';
    nlohmann::ordered_json o = place_json(s, f.where, discovery::node_names{});
    o["finding"] = word_of(f.what);
    o["text"] = f.text;
    return json_line(o);
}

report identities_of(const discovery::subnet& s, bool json) {
    report result;
    result.missing_is_success = true;
    for (const identity_finding& f : check_identities(s)) {
        result.text += text_of(f, s, json);
        result.is_any_bad = true;
    }
    return result;
}

int run_ibidsverify(const ibidsverify_settings& s, const global_options& options) {
    if (!s.topology_file.empty()) {
        const report result = identities_of(read_subnet(s.topology_file, options), s.json);
        write_output(result.text);
        return result.is_any_bad ? failed : complete;
    }
    return run_on_subnet(options, [&](session&, const discovery::subnet& found) -> comad::coro::task<report> {
        co_return identities_of(found, s.json);
    });
}

} // namespace

command ibidsverify_command() {
    return {.name = "ibidsverify",
            .group = command_group::checks,
            .no_sa_reason = "discovery queries every node itself",
            .ignores_lids = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibidsverify_settings>();
                takes.option("topology-file", s->topology_file).file(file_use::read);
                takes.ignored_flag("-R");
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibidsverify(*s, options); };
            }};
}

} // namespace ibtool
