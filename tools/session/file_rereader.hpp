// SPDX-License-Identifier: MIT
// file_rereader.hpp - reads files again while the event loop continues. Does not depend on their contents.
#pragma once
#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ibtool {

/// A file that is read again.
struct rereading {
    /// Reads the file, in another thread. Returns a function that uses the value; it runs in the thread of the executor. If the reader
    /// throws, this is reported as a problem, and the old value stays.
    using reader = std::function<std::function<void()>()>;

    std::string file; ///< must be a regular file; empty: the reader checks that itself
    reader read;
};
using rereadings = std::vector<rereading>;

/// Reads files in its own thread. A file server that does not respond blocks neither the sweeps nor the handling of signals.
class file_rereader {
public:
    explicit file_rereader(boost::asio::any_io_executor);
    /// Does not wait for the thread; the result of a read in progress is lost.
    ~file_rereader();
    file_rereader(const file_rereader&) = delete;
    file_rereader& operator=(const file_rereader&) = delete;

    /// Reads all files, one after the other. Then calls `done`, after all values are in use, with one line for each file that could not be
    /// read. Returns false and does nothing if it is already reading.
    bool start(rereadings, std::function<void(const std::vector<std::string>& problems)> done);
    /// Returns the name of the file that is being read; empty: the file has no name, or no file is being read.
    std::string file_being_read() const;

private:
    struct state;
    std::shared_ptr<state> state_; // shared with the thread
};

} // namespace ibtool
