// SPDX-License-Identifier: MIT
// report.hpp - what a command has found, and how it ends: the output, what is missing, counts, the exit code. The same for all.
#pragma once
#include "comad.hpp"
#include "session/session.hpp"
#include "text/missing.hpp"
#include "text/output.hpp"
#include <comad/discovery/walk/discover.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ibtool {

struct report {
    std::string text{};                        ///< for stdout
    std::vector<discovery::failure> missing{}; ///< queries without a result
    std::vector<std::string> notes{};          ///< lines for stderr that are not failures
    bool is_any_bad = false;                   ///< a check found something
    /// Under the name of infiniband-diags' program, failures are printed but do not change the exit status: the original exits with
    /// 0, and scripts continue with the partial result.
    bool missing_is_success = false;
};

/// What is left of a session that has ended.
struct session_end {
    explicit session_end(session&);
    /// Of a command that needed none.
    explicit session_end(const global_options& o) : tells_all(o.tells_all()) {}
    std::string counts, capture_problem, disconnect;
    bool tells_all;           ///< as the options of the session say
    bool was_stopped = false; ///< by a signal
};

/// Writes the report, to `file` if that is named, and what goes with it. The exit code: partial where something is missing
/// that counts, else failed where something is bad, else partial where only the capture is not whole, else complete.
int finish(const report&, const session_end&, const std::string& file = {});

/// Ends the capture; a problem of it goes to stderr. The exit code: `code`, or partial if all was well but the capture.
int end_capture(session&, int code);
/// The same of a command that has written what it found as it came: counts, too.
int finish(session&, int code);

/// For a command that runs until a signal arrives: lets neither stdout, stderr nor the capture hold up the session. Null where time is
/// simulated.
std::unique_ptr<lasting_output> lasting_output_of(session&);
/// Ends it, if it is not null; waits for the reader of stdout until a signal arrives. Returns false if parts of the output were dropped.
/// Errors: as lasting_output::finish().
bool finish(session&, lasting_output*);

/// Runs a query in a session that opens for it, and finishes. The fabric is closed before anything is written, as slowly as
/// somebody may read. `target`: as the session's. An error of the query is one line on stderr, and `failed`.
/// `progress`: as session::run's; empty: how many MADs were sent.
int run_query(const global_options&, const comad::mad::address* target,
              const std::function<query_task<report>(session&)>& query, std::function<std::string()> progress = {});
/// The same of a query that gives the text for stdout.
int run_query(const global_options&, const comad::mad::address* target,
              const std::function<query_task<std::string>(session&)>& query);

/// How a discovery is to be made: with the keys, limits and configuration of the command line. `progress` may be null.
comad::discovery::discover_options discover_options_of(session&,
                                                       comad::discovery::discovery_progress* progress = nullptr);

/// Where a subnet comes from.
enum class subnet_source {
    cache_or_fabric, ///< from the cache file that the options name, if they do and it is there
    fabric,
};
/// Discovers the subnet as the command line says, with its keys and its configuration, and writes the cache file that it names.
/// `progress` may be null. Throws std::runtime_error with one line where the cache cannot be read or written, or
/// the SA is to be asked and none is known.
comad::coro::task<comad::mad::result<comad::discovery::subnet>>
discover_subnet(session&, comad::discovery::discovery_progress* progress = nullptr,
                subnet_source = subnet_source::cache_or_fabric);

/// One line about a discovery that failed: `the local port does not reply: ...`, or the SA.
std::string why_no_subnet(const comad::mad::mad_error&, const global_options&);
/// Throws that line.
[[noreturn]] void refuse_silent_port(const comad::mad::mad_error&, const global_options&);

} // namespace ibtool
