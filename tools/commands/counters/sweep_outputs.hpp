// SPDX-License-Identifier: MIT
// sweep_outputs.hpp - writes sweeps to a terminal, to a file, and to HTTP clients. Does not depend on a schedule.
#pragma once
#include "commands/counters/sweep_screen.hpp"
#include "exporter/exporter.hpp"
#include "exporter/service_manager.hpp"
#include "session/reconnecting_session.hpp"
#include <comad/counters/detail/changed_counters.hpp>
#include <comad/counters/formats.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The format of sweeps on stdout.
enum class sweep_form : comad::u8 { table, json, csv, screen, none };

/// Where and in which format sweeps are written.
struct output_config {
    sweep_form form = sweep_form::table;
    comad::counters::row_selection selection;
    comad::counters::port_detail_set details; ///< attributes to print, in addition to the counters
    std::string file;                         ///< file for the node exporter of Prometheus; empty: none
    std::string listen;                       ///< listening address as for the exporter; empty: none
    std::vector<std::string> authorizations;  ///< accepted credentials as for the exporter
    std::chrono::nanoseconds oldest{};        ///< largest age of a sweep as for the exporter
    comad::counters::metric_choice metrics = comad::counters::metric_choice::all; ///< series about ports
    bool keeps_trying = false; ///< retry with the next sweep if the file cannot be written
    /// The health rules that the page applies to ports; null: none. Can be replaced during the run.
    std::shared_ptr<const comad::counters::health_rules> rules;
    std::vector<std::string> fabrics = {
        /// The names of the fabrics, as for the exporter. Several fabrics are only valid with `form` none, that is, with `file` or
        /// `listen`.
        std::string()};
    comad::discovery::known_fabric::node_filter wants; ///< nodes to remember, as for known_fabric
    std::optional<std::chrono::nanoseconds> forget;    ///< time limit as for known_fabric
    /// The expected subnet of each fabric; empty: no expectation. Can be replaced during the run, followed by a call of refresh_known().
    std::vector<std::shared_ptr<const comad::discovery::subnet>> expected;
};

/// All outputs of a sweep command.
class sweep_outputs {
public:
    /// Opens no output. The configuration must outlive the object.
    explicit sweep_outputs(const output_config&);

    /// Starts to listen if the configuration contains an address. `on_scrape`: as for the exporter.
    void open(boost::asio::any_io_executor, std::function<void(std::size_t, std::size_t)> on_scrape);
    /// Returns the page that a client would get now.
    std::string page() const;
    /// Returns the server; null if it does not listen.
    exporter* server() noexcept { return server_ ? &*server_ : nullptr; }

    // The functions write() and note_*() concern one fabric, by its number.

    /// Writes a sweep to all outputs. Subnet and names of the view must stay valid until the next sweep of the fabric is written.
    void write(std::size_t fabric, const comad::counters::sweep_view&, const comad::counters::sweep_totals&);
    /// Reports that the subnet was rediscovered, and why.
    void note_change(std::size_t fabric, const std::string& why);
    /// Reports a problem on stderr.
    void note_problem(std::size_t fabric, const std::string& line);
    /// Reports that the device was disconnected.
    void note_lost(std::size_t fabric, const disconnect&);
    /// Updates the reason while the device is still disconnected.
    void note_still_lost(std::size_t fabric, const disconnect&);
    /// Reports that the device was opened again, and the number of missed sweeps.
    void note_back(std::size_t fabric, const disconnect&, comad::u64 missed);
    /// Records that the device is open and the subnet was found.
    void note_found(std::size_t fabric);
    /// Prints a line on stderr. If a screen is shown, the line appears at its bottom, and is printed on stderr after the screen was left.
    void print_line(const std::string& line);
    /// Takes the present nodes and links, and the expected ones of the configuration, as the known state. Returns the number of missing
    /// nodes and links that were forgotten.
    std::size_t refresh_known();

    bool has_screen() const noexcept { return screen_.has_value(); }
    /// Handles a key of the user of the screen. Returns true if the program must end.
    bool press(char key);
    /// Draws the screen again with the present size of the terminal.
    void show();
    /// Leaves the screen: later output appears below it. Prints the lines on stderr that the screen held back.
    void leave_screen();

    /// Returns whether all output was written.
    bool is_complete() const noexcept { return is_complete_; }

private:
    std::string table(const comad::counters::sweep_view&) const;
    void write_lines(const std::string& text);
    void write_file(const std::string& text);
    exporter::page_text page_text() const;
    bool misses_most(std::size_t fabric, const comad::counters::sweep&);
    void remember(std::size_t fabric, const comad::counters::sweep_view&);
    nlohmann::ordered_json state_of(std::size_t fabric, const comad::counters::sweep_view&) const;
    void set_up(std::size_t fabric, bool is_up);
    void note_status(std::size_t fabric, const std::string& line);

    const output_config& plan_;
    static constexpr std::size_t most_held_back = 100;

    std::vector<std::optional<comad::counters::exposed_sweep>> last_; // one for each fabric
    std::vector<comad::discovery::known_fabric> known_;               // one for each fabric
    std::vector<comad::counters::changed_counters> changed_;          // one for each fabric
    std::vector<comad::counters::exposed_device> devices_;            // one for each fabric
    bool has_reported_full_ = false;
    std::vector<std::size_t> most_read_; // for each fabric: number of ports in the largest sweep
    std::optional<sweep_screen> screen_;
    std::vector<std::string> held_back_; // for stderr, if it is the terminal of the screen
    std::size_t not_held_ = 0;
    std::optional<exporter> server_;
    std::optional<service_manager> manager_;
    std::string problem_; // error of the last write to the file
    bool is_complete_ = true;
};

} // namespace ibtool
