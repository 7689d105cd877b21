// SPDX-License-Identifier: MIT
// sweep_outlets.hpp - where sweeps go: a terminal, lines, a file, whoever scrapes. Knows no schedule.
#pragma once
#include "exporter/exporter.hpp"
#include "exporter/service_manager.hpp"
#include "session/reopening.hpp"
#include "text/exposition.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibtool {

enum class sweep_form : comad::u8 { table, json, csv, screen, none };

struct outlet_plan {
    sweep_form form = sweep_form::table;
    table_choice choice;
    std::string file;                        ///< for Prometheus' node exporter; empty: none
    std::string listen;                      ///< as the exporter's; empty: none
    std::vector<std::string> authorizations; ///< as the exporter's
    std::chrono::nanoseconds oldest{};       ///< as the exporter's
    bool keeps_trying = false;               ///< a file that cannot be written is for the next sweep to try again
};

class sweep_outlets {
public:
    /// The plan must outlive it.
    explicit sweep_outlets(const outlet_plan& p) : plan_(p) {}

    /// Begins to listen, where that is planned. `on_scrape`: as the exporter's.
    void open(boost::asio::any_io_executor, std::function<void(std::size_t)> on_scrape);

    void write(const sweep_view&, const sweep_totals&);
    void note_change(const std::string& why);
    void note_lost(const outage&);
    void note_still_lost(const outage&);
    void note_back(const outage&, comad::u64 missed);

    /// Nothing was missing that had to be written.
    bool is_complete() const noexcept { return is_complete_; }

private:
    std::string table(const sweep_view&) const;
    std::string screen(const sweep_view&) const;
    void write_file(const std::string& text);

    const outlet_plan& plan_;
    std::optional<exporter> server_;
    std::optional<service_manager> manager_;
    std::string problem_; // of the file, when it was written last
    bool is_complete_ = true;
};

} // namespace ibtool
