// SPDX-License-Identifier: MIT
// file_rereader.hpp - reads files again while the event loop goes on. Does not depend on what is in them.
#pragma once
#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ibtool {

/// One file that is read again.
struct rereading {
    /// Reads, in another thread. Returns what to do with the value, which runs in the thread of the executor. What it throws is a
    /// problem: the old value stays.
    using reader = std::function<std::function<void()>()>;

    std::string file; ///< must be a regular file; empty: the reader checks that itself
    reader read;
};
using rereadings = std::vector<rereading>;

/// Reads in a thread of its own: a file on a server that does not respond stops neither the sweeps nor a signal.
class file_rereader {
public:
    explicit file_rereader(boost::asio::any_io_executor);
    /// Does not wait for the thread; what it reads from now on is lost.
    ~file_rereader();
    file_rereader(const file_rereader&) = delete;
    file_rereader& operator=(const file_rereader&) = delete;

    /// Reads all files, one after the other, and calls `done` when all values are in use, with a line for each file that could not
    /// be read. Returns false, and does nothing, while it reads already.
    bool start(rereadings, std::function<void(const std::vector<std::string>& problems)> done);
    /// Its name; empty: the file has none, or nothing is read.
    std::string file_being_read() const;

private:
    struct state;
    std::shared_ptr<state> state_; // shared with the thread
};

} // namespace ibtool
