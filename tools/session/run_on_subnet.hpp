// SPDX-License-Identifier: MIT
// run_on_subnet.hpp - runs a command that needs a discovered subnet: to print it, to check it, or to query its nodes. Does not depend on
// a particular report.
#pragma once
#include "comad.hpp"
#include "session/report.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/formats/subnet_file.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// Checks a subnet without further queries.
using subnet_check = std::function<report(const discovery::subnet&)>;
/// Queries nodes of a subnet.
using subnet_query = std::function<coro::task<report>(session&, const discovery::subnet&)>;
/// Prints a subnet.
struct subnet_printer {
    /// Makes the report. `mads`: the number of MADs that the discovery sent; 0 if the subnet is from a cache.
    std::function<report(const discovery::subnet&, u64 mads)> make;
    std::string file{}; ///< file that gets the text; empty: stdout
    /// Reads more than the discovery does, and returns the failures. Not called for a subnet for which no device was opened. May be empty.
    std::function<coro::task<std::vector<discovery::failure>>(session&, const discovery::subnet&)> read_more{};
    /// Returns the text for stdout about a node that the discovery has just read. Not called for subnets from a cache or the SA. May be
    /// empty.
    std::function<std::string(const discovery::node&)> text_of_new_node{};
};

/// Discovers the subnet, or reads it from the cache file that the options name, and then runs a check, a query or a printer on it.
/// The failures of the discovery are reported before those of the report. A check or a printer opens no device if the file
/// contains the subnet. A printer also reports the number of failures and LIDs that ports share, and under the names of infiniband-diags
/// failures do not change the exit status.
/// Returns the exit code. Throws std::runtime_error with one line if the local port does not reply.
int run_on_subnet(const global_options&, const subnet_check& check);
int run_on_subnet(const global_options&, const subnet_query& query);
int run_on_subnet(const global_options&, const subnet_printer& printer);

/// Returns the subnet in a topology file; `-` is stdin. No MAD is sent. Prints one line on stderr if a part of the file is skipped.
/// Throws std::runtime_error with one line if the file is missing or has no node, or with --strict if anything is skipped.
discovery::subnet read_subnet(const std::string& file, const global_options&,
                              discovery::described_order order = discovery::described_order::of_file);

} // namespace ibtool
