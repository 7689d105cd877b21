// SPDX-License-Identifier: MIT
// report.hpp - the result of a command and its end: output, failures, counts and exit code. All commands use it.
#pragma once
#include "comad.hpp"
#include "session/session.hpp"
#include "text/failure_text.hpp"
#include "text/output.hpp"
#include <comad/discovery/walk/discover.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ibtool {

/// The result of a command.
struct report {
    std::string text{};                        ///< text for stdout
    std::vector<discovery::failure> missing{}; ///< queries without a result
    std::vector<std::string> notes{};          ///< lines for stderr that are not failures
    bool is_any_bad = false;                   ///< a check found something
    /// Under the name of an infiniband-diags program, failures are printed but do not change the exit status. The original exits with 0,
    /// and scripts continue with the partial result.
    bool missing_is_success = false;
};

/// The data of a session that are needed after its end.
struct session_end {
    explicit session_end(session&);
    /// Creates the data for a command that needed no session.
    explicit session_end(const global_options& o) : shows_all(o.shows_all()) {}
    std::string counts, capture_problem, disconnect;
    bool shows_all;           ///< see global_options::shows_all()
    bool was_stopped = false; ///< a signal stopped the session
};

/// Writes the report, to `file` if it is not empty, and prints failures, notes and counts. Returns the exit code: partial if there are
/// failures that count; else failed if a check found something; else partial if the capture is incomplete; else complete.
int finish(const report&, const session_end&, const std::string& file = {});

/// Ends the capture; prints a problem of it on stderr. Returns `code`, or partial if only the capture failed.
int end_capture(session&, int code);
/// Ends a command that has written its results already: ends the capture, and prints the counts. Returns as end_capture().
int finish(session&, int code);

/// Prevents stdout, stderr and the capture from blocking the session of a command that runs until a signal arrives. Null in virtual time.
std::unique_ptr<lasting_output> lasting_output_of(session&);
/// Ends this output if it is not null. Waits for the reader of stdout until a signal arrives. Returns false if output was dropped.
/// Errors: as lasting_output::finish().
bool finish(session&, lasting_output*);

/// Opens a session, runs a query in it, and finishes. The fabric is closed before anything is written, because the reader of the output may
/// be slow. `target`: as for the session. An error of the query becomes one line on stderr and `failed`. `progress`: as for session::run();
/// empty: the number of MADs sent.
int run_query(const global_options&, const comad::mad::address* target,
              const std::function<query_task<report>(session&)>& query, std::function<std::string()> progress = {});
/// Runs a query that returns the text for stdout.
int run_query(const global_options&, const comad::mad::address* target,
              const std::function<query_task<std::string>(session&)>& query);

/// Returns the options of a discovery: keys, limits and configuration from the command line. `progress` may be null.
comad::discovery::discover_options discover_options_of(session&,
                                                       comad::discovery::discovery_progress* progress = nullptr);

/// The source of a subnet.
enum class subnet_source {
    cache_or_fabric, ///< the cache file that the options name, if it exists; else the fabric
    fabric,
    fabric_without_cache, ///< the fabric; the cache file is not written either
};
/// Discovers the subnet as the command line specifies, with its keys and configuration, and writes the cache file that it names.
/// `progress` may be null. Throws std::runtime_error with one line if the cache cannot be read or written, or if the SA must be queried
/// and none is known. `found`: gets each node as soon as it was read, unless the subnet comes from a cache or the SA; may be null.
comad::coro::task<comad::mad::result<comad::discovery::subnet>>
discover_subnet(session&, comad::discovery::discovery_progress* progress = nullptr,
                subnet_source = subnet_source::cache_or_fabric, comad::discovery::node_sequence* found = nullptr);

/// Returns one line about a failed discovery: `the local port does not reply: ...`, or about the SA.
std::string why_no_subnet(const comad::mad::mad_error&, const global_options&);
/// Throws std::runtime_error with this line.
[[noreturn]] void refuse_silent_port(const comad::mad::mad_error&, const global_options&);

} // namespace ibtool
