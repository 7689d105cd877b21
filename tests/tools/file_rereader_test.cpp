// SPDX-License-Identifier: MIT
// file_rereader_test.cpp - files that are reread while an event loop runs, including a file that never ends.
#include "session/file_rereader.hpp"
#include "support/catch.hpp"

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace file_rereader_test {

using ibtool::file_rereader;
using ibtool::rereadings;

namespace {

TEST_CASE("reread values take effect in the event loop, and a file with an error does not stop the other files") {
    boost::asio::io_context io;
    const auto work = boost::asio::make_work_guard(io);
    file_rereader again(io.get_executor());
    const auto loop = std::this_thread::get_id();
    int used = 0;
    std::vector<std::string> problems;
    rereadings files;
    files.push_back({"", [&] {
                         CHECK(std::this_thread::get_id() != loop);
                         return [&] {
                             CHECK(std::this_thread::get_id() == loop);
                             ++used;
                         };
                     }});
    files.push_back({"", []() -> std::function<void()> { throw std::runtime_error("it is wrong"); }});
    files.push_back({"/dev/zero", [&] { return [&] { used += 10; }; }});
    files.push_back({"/dev/null/none", [&] { return [&] { used += 10; }; }});
    files.push_back({"", [&] { return [&] { ++used; }; }});
    CHECK(again.start(std::move(files), [&](const std::vector<std::string>& all) {
        problems = all;
        io.stop();
    }));
    io.run();
    CHECK(used == 2);
    CHECK(problems == std::vector<std::string>{"it is wrong", "cannot read '/dev/zero': it is not a regular file",
                                               "cannot read '/dev/null/none': Not a directory"});
}

TEST_CASE("a file that never ends blocks neither the event loop nor the program's end, and later requests wait") {
    // The thread owns these values, because it runs longer than the test.
    const auto is_over = std::make_shared<std::promise<void>>();
    const auto has_started = std::make_shared<std::promise<void>>();
    const std::shared_future<void> over = is_over->get_future();
    boost::asio::io_context io;
    {
        file_rereader again(io.get_executor());
        rereadings files;
        files.push_back({"", [over, has_started] {
                             has_started->set_value();
                             over.wait();
                             return [] { FAIL("it is used after its end"); };
                         }});
        CHECK(again.start(std::move(files), [](const auto&) { FAIL("it has not ended"); }));
        has_started->get_future().wait();
        CHECK_FALSE(again.start({}, [](const auto&) { FAIL("it was not started"); }));
        CHECK(again.file_being_read().empty());
        io.poll();
    }
    is_over->set_value();
    io.restart();
    io.poll();
}

} // namespace
} // namespace file_rereader_test
