// SPDX-License-Identifier: MIT
// ibqueryerrors_text.hpp - compares a sweep with thresholds, and formats the result as ibqueryerrors of infiniband-diags does, as lines
// of JSON, or as CSV. Sends nothing.
#pragma once
#include "input/error_thresholds.hpp"
#include "text/csv_table.hpp"
#include <comad/counters/formats.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The thresholds, and the counters that they apply to.
struct error_rules {
    error_thresholds thresholds;
    std::vector<comad::counters::counter> named;      ///< counters whose thresholds were given
    std::vector<comad::counters::counter> suppressed; ///< counters that are ignored

    /// Returns whether a counter was read and is above its threshold. QP1Dropped, which infiniband-diags do not have, only if it is named.
    bool is_over(comad::counters::counter, const comad::counters::counter_values&) const;
    bool is_any_over(const comad::counters::counter_values&) const;
};

/// Selects what is reported.
struct report_choice {
    bool data = false;      ///< include packets and data with the errors
    bool data_only = false; ///< report packets and data of all ports, and no errors
    bool links = false;     ///< include the neighbor of each port
    bool json = false;
    bool csv = false; ///< one line per port, and no summary
    /// The counters are increases since this sweep; nullopt: they are totals.
    std::optional<comad::counters::earlier_sweep> since = {};
};

/// Formats sweeps, and counts the ports above a threshold.
class error_report {
public:
    error_report(const comad::discovery::subnet&, const comad::discovery::node_names&, const error_rules&,
                 const report_choice&);

    /// Returns stanzas or lines for ports above a threshold, and the numbers of nodes and ports that were checked. Ports that were not read
    /// are only counted, as failures.
    std::string of(const comad::counters::sweep&);
    /// Returns the number of ports above a threshold, in all sweeps so far.
    unsigned bad_ports() const noexcept { return bad_ports_; }

private:
    void add_node(const comad::counters::reading* sum, const comad::counters::reading* first,
                  const comad::counters::reading* end);
    void add_errors(const comad::counters::reading&, bool& has_head);
    void add_data(const comad::counters::reading&, bool& has_head);
    void add_line(const comad::counters::reading&, comad::iba::guid, const std::string& counters);
    nlohmann::ordered_json json_of(const comad::counters::reading&) const;
    void add_row(const comad::counters::reading&);
    void add_summary(std::size_t failures);

    const comad::discovery::subnet& subnet_;
    const comad::discovery::system_groups groups_;
    const comad::discovery::node_names& names_;
    const error_rules& rules_;
    const report_choice& choice_;
    std::string text_;
    csv_table table_;
    unsigned nodes_ = 0, bad_nodes_ = 0, ports_ = 0, bad_ports_ = 0;
};

} // namespace ibtool
