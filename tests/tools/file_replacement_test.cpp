// SPDX-License-Identifier: MIT
// file_replacement_test.cpp - an output file contains either the complete old text or the complete new text.
#include "support/catch.hpp"
#include "support/directory.hpp"
#include "text/output.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <iterator>
#include <poll.h>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace file_replacement_test {

namespace fs = std::filesystem;
using comad::mad::unique_fd;
using comad::test::directory;
using comad::test::read_file;
using ibtool::replace_file;
using ibtool::write_output;

namespace {

/// Writes a file with this mode. Returns its path.
std::string write(const directory& files, std::string_view file, std::string_view text, mode_t mode = 0644) {
    const std::string name = files.write(file, text);
    ::chmod(name.c_str(), mode);
    return name;
}
/// Returns the number of files in a directory.
std::size_t count_of(const directory& files) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(files / ""), {}));
}

/// Returns the permission bits of a file.
mode_t mode_of(const std::string& file) {
    struct stat found {};
    REQUIRE(::stat(file.c_str(), &found) == 0);
    return found.st_mode & 07777;
}

/// Returns the message of the exception that a function throws; empty if it throws none.
std::string message_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "";
}

/// Limits the size of the files of this process, which has the effect of a full disk.
class short_files {
public:
    explicit short_files(rlim_t most) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{most, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~short_files() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    short_files(const short_files&) = delete;
    short_files& operator=(const short_files&) = delete;

private:
    rlimit before_{};
};

const std::string large(100'000, 'x');

TEST_CASE("a file keeps its old text and no temporary file remains if the disk is full") {
    const directory files;
    const std::string file = write(files, "file", "old");
    const short_files full(5000);
    CHECK(message_of([&] { write_output(large, file); }) ==
          "cannot write '" + file + "': File too large; the old file is unchanged");
    CHECK(message_of([&] { replace_file(large, file); }) ==
          "cannot write '" + file + "': File too large; the old file is unchanged");
    CHECK(message_of([&] { write_output(large, files / "new"); }) ==
          "cannot write '" + (files / "new") + "': File too large");
    CHECK(read_file(file) == "old");
    CHECK(count_of(files) == 1);
}

TEST_CASE("a reader with the replaced file open continues to read the old text") {
    const directory files;
    const std::string file = write(files, "file", "old");
    const unique_fd reader(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    write_output("new", file);
    char old[8] = {};
    CHECK(::read(reader.get(), old, sizeof old) == 3);
    CHECK(std::string(old) == "old");
    CHECK(read_file(file) == "new");
    CHECK(count_of(files) == 1);
}

TEST_CASE("a replaced file keeps its mode, and a new file gets the umask's mode or the requested mode") {
    const directory files;
    const std::string file = write(files, "file", "old", 0604);
    write_output("new", file);
    CHECK(mode_of(file) == 0604);
    const mode_t umask_before = ::umask(027);
    write_output("new", files / "made");
    ::umask(umask_before);
    CHECK(mode_of(files / "made") == 0640);
    replace_file("secret", file, 0600);
    CHECK(mode_of(file) == 0600);
}

TEST_CASE("root preserves the owner of a replaced file") {
    if (::geteuid() != 0) return;
    const directory files;
    const std::string file = write(files, "file", "old", 0640);
    REQUIRE(::chown(file.c_str(), 1234, 2345) == 0);
    write_output("new", file);
    struct stat found {};
    REQUIRE(::stat(file.c_str(), &found) == 0);
    CHECK(found.st_uid == 1234);
    CHECK(found.st_gid == 2345);
    CHECK(mode_of(file) == 0640);
}

TEST_CASE("replacing a symbolic link keeps the link and replaces its target") {
    const directory files;
    fs::create_directory(files / "below");
    const std::string file = write(files, "below/file", "old");
    fs::create_symlink("below/file", files / "link");
    fs::create_symlink("below/none", files / "dangling");
    write_output("new", files / "link");
    write_output("made", files / "dangling");
    CHECK(read_file(file) == "new");
    CHECK(read_file(files / "below/none") == "made");
    CHECK(fs::is_symlink(files / "link"));
    CHECK(message_of([&] { replace_file("x", files / "link"); }) ==
          "cannot write '" + (files / "link") + "': it is not a regular file");
}

TEST_CASE("a file that is not a regular file is written to directly") {
    const directory files;
    const std::string fifo = files / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    SECTION("a FIFO whose reader opens late") {
        std::string all;
        std::thread reader([&] { all = read_file(fifo); });
        write_output(large, fifo);
        reader.join();
        CHECK(all == large);
    }
    SECTION("a name of an open file in /proc, or a link to such a name") {
        const std::string file = write(files, "file", "old and long");
        const unique_fd opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
        const std::string name = "/proc/self/fd/" + std::to_string(opened.get());
        fs::create_symlink(name, files / "link");
        for (const std::string& to : {name, files / "link"}) {
            struct stat before {
            }, after{};
            ::fstat(opened.get(), &before);
            write_output("new", to);
            ::stat(file.c_str(), &after);
            CHECK(before.st_ino == after.st_ino);
            CHECK(read_file(file) == "new");
        }
    }
    SECTION("a full device") {
        CHECK(message_of([] { write_output("x", "/dev/full"); }) ==
              "could not write all of '/dev/full': No space left on device");
        CHECK(fs::is_character_file("/dev/full"));
    }
    CHECK(fs::is_fifo(fifo));
}

TEST_CASE("a signal ends the wait for the reader of a FIFO") {
    const directory files;
    const std::string fifo = files / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &action, &before);
    const pthread_t here = ::pthread_self();
    std::atomic<bool> is_over = false;
    std::thread sender([&] {
        while (!is_over) ::pthread_kill(here, SIGUSR1); // the first signals may arrive before the wait
    });
    CHECK_THAT(message_of([&] { write_output("x", fifo); }),
               Catch::EndsWith("interrupted by a signal before a reader opened it"));
    is_over = true;
    sender.join();
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("a signal that ends the program during a file replacement leaves no temporary file") {
    const directory files;
    const std::string file = write(files, "file", "old");
    const unique_fd events(::inotify_init1(IN_CLOEXEC));
    REQUIRE(::inotify_add_watch(events.get(), (files / "").c_str(), IN_CREATE) >= 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGTERM, SIG_DFL);
        try {
            replace_file(std::string(50 << 20, 'n'), file);
        } catch (...) {
            ::_exit(1);
        }
        for (;;) ::pause();
    }
    char event[4096];
    REQUIRE(::read(events.get(), event, sizeof event) > 0); // the temporary file exists now
    ::kill(child, SIGTERM);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
    CHECK(count_of(files) == 1);
    CHECK(fs::file_size(file) == 50 << 20);
}

} // namespace
} // namespace file_replacement_test
