// SPDX-License-Identifier: MIT
// queued_writer_test.cpp - a writer to a pipe whose reader stops, continues, closes or opens late.
#include "input/queued_writer.hpp"
#include "kernel/errno_error.hpp"
#include "support/catch.hpp"
#include "support/directory.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace queued_writer_test {

using comad::mad::unique_fd;
using ibtool::queued_writer;
using outcome = queued_writer::outcome;
using namespace std::chrono_literals;

namespace {

/// Both ends of a pipe.
struct pipe_ends {
    pipe_ends() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
        reader = unique_fd(ends[0]);
        writer = unique_fd(ends[1]);
        ::signal(SIGPIPE, SIG_IGN);
    }
    /// Reads this number of bytes, or fewer at the end.
    std::string read(std::size_t size) const {
        std::string text(size, '\0');
        std::size_t have = 0;
        while (have < size) {
            const ssize_t got = ::read(reader.get(), text.data() + have, size - have);
            if (got <= 0) break;
            have += static_cast<std::size_t>(got);
        }
        text.resize(have);
        return text;
    }
    unique_fd reader, writer;
};

const std::function<bool()> never = [] { return false; };

/// Returns a numbered record of 1000 bytes.
std::string record(unsigned number) {
    std::string text = std::to_string(number);
    return std::string(999 - text.size(), '.') + text + '\n';
}

TEST_CASE("a record is written at once while the reader keeps up") {
    pipe_ends p;
    queued_writer out(std::move(p.writer), {});
    CHECK(out.write("one\n") == outcome::taken);
    CHECK(p.read(4) == "one\n");
    CHECK(out.dropped() == 0);
}

TEST_CASE("records wait in order for a stopped reader, and no record is truncated") {
    pipe_ends p;
    queued_writer out(std::move(p.writer), {});
    for (unsigned i = 0; i < 1000; ++i) CHECK(out.write(record(i)) == outcome::taken);
    std::string all;
    for (unsigned i = 0; i < 1000; ++i) all += record(i);
    CHECK(p.read(all.size()) == all);
    out.finish(never);
    CHECK(out.dropped() == 0);
}

TEST_CASE("a full queue drops and counts whole records, and accepts later records again") {
    pipe_ends p;
    queued_writer out(std::move(p.writer), {.most = 10'000});
    unsigned taken = 0;
    while (out.write(record(taken)) == outcome::taken) ++taken;
    CHECK(out.write(record(0), 7) == outcome::dropped);
    CHECK(out.dropped() == 8);
    std::string all;
    for (unsigned i = 0; i < taken; ++i) all += record(i);
    CHECK(p.read(all.size()) == all);
    out.finish(never);
    CHECK(out.write("again\n") == outcome::taken);
    CHECK(p.read(6) == "again\n");
    CHECK(out.dropped() == 8);
}

TEST_CASE("a record larger than the queue is accepted while the queue is empty") {
    pipe_ends p;
    queued_writer out(std::move(p.writer), {.most = 10'000});
    const std::string large(1'000'000, 'x');
    CHECK(out.write(large) == outcome::taken);
    CHECK(out.write("small\n") == outcome::dropped);
    CHECK(p.read(large.size()) == large);
}

TEST_CASE("a blocking writer loses no record and stops waiting on request") {
    pipe_ends p;
    queued_writer out(std::move(p.writer), {.full = queued_writer::when_full::wait, .most = 10'000});
    const std::string large(200'000, 'x');
    CHECK(out.write(large) == outcome::taken);
    unsigned calls = 0;
    CHECK(out.write("small\n", 1, [&] { return ++calls == 3; }) == outcome::dropped);
    CHECK(calls == 3);
    std::string all;
    std::thread reader([&] { all = p.read(large.size() + 6); });
    CHECK(out.write("small\n", 1, never) == outcome::taken);
    reader.join();
    CHECK(all == large + "small\n");
}

TEST_CASE("finish gives up on a stopped reader and counts the records that were not written") {
    pipe_ends p;
    queued_writer out(std::move(p.writer), {});
    out.write(std::string(200'000, 'x'), 5);
    out.write("more", 2);
    unsigned calls = 0;
    out.finish([&] { return ++calls == 2; });
    CHECK(out.dropped() == 7);
    CHECK(out.write("late") == outcome::dropped);
}

TEST_CASE("a closed reader is reported as an error, at once or by the thread") {
    pipe_ends p;
    std::atomic<unsigned> calls = 0;
    queued_writer out(std::move(p.writer), {.on_error = [&] { ++calls; }});
    SECTION("at once") {
        p.reader.reset();
        CHECK(out.write("x") == outcome::failed);
        CHECK(calls == 0);
    }
    SECTION("by the thread") {
        CHECK(out.write(std::string(200'000, 'x')) == outcome::taken);
        p.reader.reset();
        out.finish(never);
        CHECK(calls == 1);
    }
    CHECK(out.error() == EPIPE);
    CHECK(out.dropped() == 1);
}

TEST_CASE("a full disk is an error of each record, and later records are tried") {
    queued_writer out(unique_fd(::open("/dev/full", O_WRONLY | O_CLOEXEC)), {});
    CHECK(out.write("x") == outcome::failed);
    CHECK(out.write("y") == outcome::failed);
    CHECK(out.error() == ENOSPC);
    CHECK(out.dropped() == 2);
}

TEST_CASE("a FIFO is opened as soon as a reader opens it") {
    const comad::test::directory files;
    const std::string fifo = files / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    queued_writer out(fifo, {});
    CHECK(out.write("one\n") == outcome::taken);
    pipe_ends p;
    p.reader = unique_fd(::open(fifo.c_str(), O_RDONLY | O_CLOEXEC));
    CHECK(p.read(4) == "one\n");
    out.finish(never);
    CHECK(out.error() == 0);
}

} // namespace
} // namespace queued_writer_test
