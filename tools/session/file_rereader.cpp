// SPDX-License-Identifier: MIT
// file_rereader.cpp - starts a thread for each rereading, and posts its results to the event loop.
#include "session/file_rereader.hpp"

#include <comad/iba/detail/blocked_signals.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <boost/asio/post.hpp>

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace ibtool {

/// The state that a file_rereader shares with its thread.
struct file_rereader::state {
    explicit state(boost::asio::any_io_executor e) : executor(std::move(e)) {}

    boost::asio::any_io_executor executor;
    std::mutex mutex;
    std::string file; // the file that is being read
    bool is_reading = false, is_over = false;
};

namespace {

/// The results of reading all files.
struct reread_values {
    std::vector<std::function<void()>> uses;
    std::vector<std::string> problems;
};

} // namespace

file_rereader::file_rereader(boost::asio::any_io_executor executor)
    : state_(std::make_shared<state>(std::move(executor))) {}

file_rereader::~file_rereader() {
    const std::lock_guard lock(state_->mutex);
    state_->is_over = true;
}

bool file_rereader::start(rereadings files, std::function<void(const std::vector<std::string>&)> done) {
    {
        const std::lock_guard lock(state_->mutex);
        if (std::exchange(state_->is_reading, true)) return false;
    }
    auto read = [shared = state_, files = std::move(files), done] {
        auto values = std::make_shared<reread_values>();
        for (const rereading& one : files) {
            {
                const std::lock_guard lock(shared->mutex);
                shared->file = one.file;
            }
            try {
                if (!one.file.empty()) comad::iba::require_regular_file(one.file);
                values->uses.push_back(one.read());
            } catch (const std::exception& e) {
                values->problems.emplace_back(e.what());
            }
        }
        const std::lock_guard lock(shared->mutex);
        shared->file.clear();
        shared->is_reading = false;
        if (shared->is_over) return;
        boost::asio::post(shared->executor, [shared, values, done] {
            {
                const std::lock_guard still(shared->mutex);
                if (shared->is_over) return;
            }
            for (const auto& use : values->uses) use();
            done(values->problems);
        });
    };
    bool is_started = true;
    try {
        const comad::iba::blocked_signals of_the_thread; // signals must go to the thread of the event loop
        std::thread(std::move(read)).detach();
    } catch (const std::system_error&) {
        is_started = false;
    }
    if (!is_started) {
        state_->is_reading = false;
        done({"cannot start a thread to read the files"});
    }
    return true;
}

std::string file_rereader::file_being_read() const {
    const std::lock_guard lock(state_->mutex);
    return state_->file;
}

} // namespace ibtool
