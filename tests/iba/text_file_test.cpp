// SPDX-License-Identifier: MIT
// text_file_test.cpp - files are read up to a limit, and pipes until a signal arrives.
#include "support/catch.hpp"
#include "support/directory.hpp"
#include <comad/iba/detail/text_file.hpp>

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <pthread.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace text_file_test {

namespace iba = comad::iba;
using comad::test::directory;
namespace fs = std::filesystem;

namespace {

std::string fifo_in(const directory& files) {
    REQUIRE(::mkfifo((files / "fifo").c_str(), 0600) == 0);
    return files / "fifo";
}

std::string message_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "";
}

TEST_CASE("open_text_file reads a whole text file and rejects binary files and overlong lines") {
    const directory files;
    CHECK(iba::open_text_file(files.write("a", "one\ntwo")).str() == "one\ntwo");
    const std::string longest(iba::longest_line_of_text, 'x');
    CHECK(iba::open_text_file(files.write("b", longest + "\n" + longest)).str().size() == 2 * longest.size() + 1);
    const std::string c = files.write("c", "\n" + longest + "x\n");
    CHECK(message_of([&] { iba::open_text_file(c); }) ==
          "cannot read '" + c + "': line 2 is longer than the maximum of 1024 KiB");
    const std::string d = files.write("d", std::string("a\0b", 3));
    CHECK(message_of([&] { iba::open_text_file(d); }) ==
          "cannot read '" + d + "': it is a binary file, but must be a text file");
    const std::string sparse = files.write("e", "");
    fs::resize_file(sparse, iba::most_bytes + 1); // uses no disk space, and is rejected without being read
    CHECK(message_of([&] { iba::read_bytes(sparse); }) ==
          "cannot read '" + sparse + "': it is larger than the maximum of 512 MiB");
    CHECK(iba::read_bytes(d) == std::string("a\0b", 3));
}

TEST_CASE("a pipe is read to its end even if its writer opens it later") {
    const directory files;
    const std::string fifo = fifo_in(files);
    std::thread writer([&] { std::ofstream(fifo) << "late\n"; });
    CHECK(iba::open_text_file(fifo).str() == "late\n");
    writer.join();
}

TEST_CASE("a signal ends the wait for the writer of a pipe even with SA_RESTART") {
    const directory files;
    const std::string fifo = fifo_in(files);
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &action, &before);
    const pthread_t here = ::pthread_self();
    int writer = -1;
    std::atomic<bool> is_over = false;
    std::thread sender([&] {
        // The call returns when the reader exists. Then nothing is written.
        writer = ::open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
        while (!is_over) ::pthread_kill(here, SIGUSR1); // the first signals can arrive before the read starts
    });
    CHECK(message_of([&] { iba::open_text_file(fifo); }) ==
          "cannot read '" + fifo + "': a signal arrived before the end of the input");
    is_over = true;
    sender.join();
    ::close(writer);
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("require_regular_file accepts only a regular file or a link to one") {
    const directory files;
    const std::string file = files.write("a", "");
    fs::create_symlink(file, files / "link");
    CHECK_NOTHROW(iba::require_regular_file(file));
    CHECK_NOTHROW(iba::require_regular_file(files / "link"));
    for (const std::string& other : {fifo_in(files), std::string("/dev/zero"), files / ""})
        CHECK(message_of([&] { iba::require_regular_file(other); }) ==
              "cannot read '" + other + "': it is not a regular file");
    CHECK_THAT(message_of([] { iba::require_regular_file("/no/such"); }), Catch::EndsWith("No such file or directory"));
}

TEST_CASE("first_line_of is limited in length and empty for files that are not regular") {
    const directory files;
    CHECK(iba::first_line_of(files.write("a", "one\ntwo\n")) == "one");
    CHECK(iba::first_line_of(files.write("b", std::string(100'000, 'x'))).size() == 4096);
    CHECK(iba::first_line_of(fifo_in(files)).empty());
    CHECK(iba::first_line_of("/dev/zero").empty());
    CHECK(iba::first_line_of("/no/such").empty());
}

TEST_CASE("first_word_of returns the first line up to a blank or tab") {
    const directory files;
    CHECK(iba::first_word_of(files.write("a", "mlx5_0 x\ny\n")) == "mlx5_0");
    CHECK(iba::first_word_of(files.write("b", "1\t2\n")) == "1");
    CHECK(iba::first_word_of(files.write("c", "one\ntwo\n")) == "one");
    CHECK(iba::first_word_of("/no/such").empty());
}

TEST_CASE("a large file is read line by line across buffer boundaries") {
    const directory files;
    std::string text;
    std::vector<std::string> wanted;
    for (unsigned i = 0; i < 20'000; ++i) {
        wanted.push_back(std::string(i % 100, 'x'));
        text += wanted.back() + "\n";
    }
    text += "no end";
    wanted.emplace_back("no end");
    iba::text_lines in(files.write("a", text), 100);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto line = in.next();
        REQUIRE(line);
        REQUIRE(*line == wanted[i]);
        REQUIRE(in.number() == i + 1);
    }
    CHECK_FALSE(in.next());
    CHECK_FALSE(in.next());
    const std::string long_line = files.write("b", "a\n" + std::string(101, 'x'));
    iba::text_lines more(long_line, 100);
    CHECK(more.next() == "a");
    CHECK(message_of([&] { more.next(); }) == long_line + ":2: the line is longer than 100 bytes");
    CHECK_THAT(message_of([] { iba::text_lines("/dev/zero", 100).next(); }), Catch::Contains("longer than 100 bytes"));
}

} // namespace
} // namespace text_file_test
