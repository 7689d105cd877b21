// SPDX-License-Identifier: MIT
// ibqueryerrors_text.hpp - a sweep beside thresholds: which counters are above theirs, as ibqueryerrors of infiniband-diags prints
// it, or as lines of JSON. Asks nobody.
#pragma once
#include "input/error_thresholds.hpp"
#include <comad/counters/sweep.hpp>
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <vector>

namespace ibtool {

struct error_rules {
    error_thresholds thresholds;
    std::vector<comad::counters::counter> named;      ///< whose thresholds were given
    std::vector<comad::counters::counter> suppressed; ///< what may count as it likes

    /// It was told and is above its threshold. QP1Dropped, which infiniband-diags do not know, only if it is named.
    bool is_over(comad::counters::counter, const comad::counters::counter_values&) const;
    bool is_any_over(const comad::counters::counter_values&) const;
};

/// What is to be told.
struct report_choice {
    bool data = false;      ///< with the errors also packets and data
    bool data_only = false; ///< these of all ports, and no errors
    bool links = false;     ///< what each port is connected to
    bool json = false;
};

class error_report {
public:
    error_report(const comad::discovery::subnet&, const comad::discovery::node_names&, const error_rules&,
                 const report_choice&);

    /// Stanzas or lines for what is above its threshold, and how much was checked. What was not read is counted as
    /// failures alone.
    std::string of(const comad::counters::sweep&);
    /// Ports that are above a threshold, in all that was reported.
    unsigned bad_ports() const noexcept { return bad_ports_; }

private:
    void add_node(const comad::counters::reading* sum, const comad::counters::reading* first,
                  const comad::counters::reading* end);
    void add_errors(const comad::counters::reading&, bool& has_head);
    void add_data(const comad::counters::reading&, bool& has_head);
    void add_line(const comad::counters::reading&, comad::iba::guid, const std::string& counters);
    void add_json(const comad::counters::reading&);
    void add_summary(std::size_t failures);

    const comad::discovery::subnet& subnet_;
    const comad::discovery::system_groups groups_;
    const comad::discovery::node_names& names_;
    const error_rules& rules_;
    const report_choice& choice_;
    std::string text_;
    unsigned nodes_ = 0, bad_nodes_ = 0, ports_ = 0, bad_ports_ = 0;
};

} // namespace ibtool
