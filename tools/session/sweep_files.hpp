// SPDX-License-Identifier: MIT
// sweep_files.hpp - reads and extends sweep files, for the commands with --since and --save. Sends nothing.
#pragma once
#include <comad/counters/detail/comparison.hpp>
#include <comad/counters/detail/sweep_file.hpp>
#include <comad/mad/detail/unique_fd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ibtool {

/// The file of --since: the last sweep of an earlier run.
class earlier_run {
public:
    /// Reads the last complete sweep of the file. If the file is damaged after a complete sweep, prints one line on stderr.
    /// Errors: throws std::runtime_error with one line if the file cannot be read or contains no complete sweep.
    explicit earlier_run(const std::string& file);

    /// Errors: throws std::runtime_error with one line if the file is of another fabric, or its sweep is not earlier.
    void check(const comad::discovery::subnet&) const;

    /// The sweep of the earlier run, with the ports of another sweep, and what is known about it.
    struct compared {
        comad::counters::sweep before; ///< times of the clock of the other sweep
        comad::counters::earlier_sweep about;
    };
    /// Returns whether the options of this run select a node.
    using node_choice = std::function<bool(const comad::discovery::node&)>;
    /// Returns the earlier sweep for a comparison with `now`. `unix_begin`: Unix time of the start of `now`. `wants`: only ports of these
    /// nodes can be gone.
    /// Errors: throws std::runtime_error with one line if the sweep of the file is not earlier.
    compared before(const comad::counters::sweep& now, const comad::discovery::subnet&, double unix_begin,
                    const node_choice& wants) const;

private:
    void check_time(comad::mad::duration now) const;

    std::string file_;
    comad::counters::saved_sweep last_;
};

/// The file of --save, to which sweeps are added.
class sweep_saver {
public:
    /// Opens the file if it exists, and reads it, so that the next sweep can continue it. If the file ends within a sweep, this
    /// incomplete sweep will be replaced by the next one, and a line on stderr reports it.
    /// Errors: throws std::runtime_error with one line if the file cannot be read or is damaged; then it stays unchanged.
    explicit sweep_saver(std::string file);

    /// Checks the file before counters are read and cleared.
    /// Errors: throws std::runtime_error with one line if the file is of another fabric, or if a new file cannot be created.
    void check(const comad::discovery::subnet&) const;

    /// Adds a sweep, and synchronizes the file with the disk. The first sweep of a new file is written to a temporary file, which is then
    /// renamed. If the sweep cleared counters, pass the result of after_clears(). `unix_begin`: Unix time of its start. If the file was
    /// moved or deleted, opens the file that now has the name, or creates one, and prints a line on stderr.
    /// Errors: throws std::runtime_error with one line; the sweeps before stay in the file.
    void add(const comad::counters::sweep&, const comad::discovery::subnet&, double unix_begin);

private:
    void open();
    bool was_moved() const;

    std::string file_;
    comad::mad::unique_fd opened_; // locked; empty: the file does not exist yet
    comad::u64 size_ = 0;          // bytes of complete sweeps
    comad::counters::sweep_file_writer writer_;
    std::shared_ptr<const comad::discovery::subnet> last_subnet_; // of the last sweep when the file was opened
};

} // namespace ibtool
