// SPDX-License-Identifier: MIT
// sweep_outputs.hpp - where sweeps go: a terminal, lines, a file, whoever scrapes. Knows no schedule.
#pragma once
#include "commands/counters/sweep_screen.hpp"
#include "exporter/exporter.hpp"
#include "exporter/service_manager.hpp"
#include "session/reconnecting_session.hpp"
#include "text/exposition.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibtool {

enum class sweep_form : comad::u8 { table, json, csv, screen, none };

struct output_config {
    sweep_form form = sweep_form::table;
    table_choice choice;
    std::string file;                        ///< for Prometheus' node exporter; empty: none
    std::string listen;                      ///< as the exporter's; empty: none
    std::vector<std::string> authorizations; ///< as the exporter's
    std::chrono::nanoseconds oldest{};       ///< as the exporter's
    bool keeps_trying = false;               ///< a file that cannot be written is for the next sweep to try again
    /// Of health, for what the page says of each port; null: none. May be replaced by others.
    std::shared_ptr<const comad::counters::health_rules> rules;
    std::vector<std::string> fabrics = {
        std::string()};                             ///< as the exporter's: several are for `file` and `listen` alone
    known_fabric::node_filter wants;                ///< as known_fabric's
    std::optional<std::chrono::nanoseconds> forget; ///< as known_fabric's
    /// What ought to be there, of each fabric; empty: nothing in particular. May be replaced by others, with know_anew().
    std::vector<std::shared_ptr<const comad::discovery::subnet>> expected;
};

class sweep_outputs {
public:
    /// The plan must outlive it.
    explicit sweep_outputs(const output_config&);

    /// Begins to listen, where that is planned. `on_scrape`: as the exporter's.
    void open(boost::asio::any_io_executor, std::function<void(std::size_t, std::size_t)> on_scrape);
    /// What would be served now.
    std::string page() const;
    /// Where it listens; null: nowhere.
    exporter* server() noexcept { return server_ ? &*server_ : nullptr; }

    // Of one of the fabrics, by its number. The subnet and the names of the view must live until the next one is written.
    void write(std::size_t fabric, const sweep_view&, const sweep_totals&);
    void note_change(std::size_t fabric, const std::string& why);
    void note_problem(std::size_t fabric, const std::string& line);
    void note_lost(std::size_t fabric, const disconnect&);
    void note_still_lost(std::size_t fabric, const disconnect&);
    void note_back(std::size_t fabric, const disconnect&, comad::u64 missed);
    /// The device is open, and the subnet behind it was found.
    void note_found(std::size_t fabric);
    /// A line for stderr; while a screen is shown, it stands there at the bottom and comes to stderr later.
    void print_line(const std::string& line);
    /// An operator says that what is there now is what ought to be there, beside what the plan expects now. Returns how many nodes and
    /// links are forgotten, which are missing.
    std::size_t know_anew();

    bool has_screen() const noexcept { return screen_.has_value(); }
    /// A key of a user who sees the screen. True: it is to end.
    bool press(char key);
    /// The screen anew, as large as the terminal is now.
    void show();
    /// What comes now stands below the screen; lines that had no room there are on stderr.
    void leave_screen();

    /// Nothing was missing that had to be written.
    bool is_complete() const noexcept { return is_complete_; }

private:
    std::string table(const sweep_view&) const;
    void write_lines(const std::string& text);
    void write_file(const std::string& text);
    exporter::page_text page_text() const;
    bool misses_most(std::size_t fabric, const comad::counters::sweep&);
    void remember(std::size_t fabric, const sweep_view&);
    nlohmann::ordered_json state_of(std::size_t fabric, const sweep_view&) const;
    void set_up(std::size_t fabric, bool is_up);
    void note_status(std::size_t fabric, const std::string& line);

    const output_config& plan_;
    static constexpr std::size_t most_held_back = 100;

    std::vector<std::optional<exposed_sweep>> last_; // of each fabric
    std::vector<known_fabric> known_;                // of each fabric
    std::vector<exposed_device> devices_;            // of each fabric
    bool has_told_full_ = false;
    std::vector<std::size_t> most_read_; // ports, by any sweep of each fabric
    std::optional<sweep_screen> screen_;
    std::vector<std::string> held_back_; // lines for stderr, which is the same terminal
    std::size_t not_held_ = 0;
    std::optional<exporter> server_;
    std::optional<service_manager> manager_;
    std::string problem_; // of the file, when it was written last
    bool is_complete_ = true;
};

} // namespace ibtool
