// SPDX-License-Identifier: MIT
// run.cpp - serves virtual devices while a command runs. One thread waits for FUSE calls, arriving MADs, timers, signals, and the end of
// the command.
#include "vumad/run.hpp"

#include "input/options.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include "vumad/exported_fabric.hpp"
#include "vumad/file_server.hpp"
#include "vumad/mounts.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace ibtool {
namespace {

using comad::mad::unique_fd;
using real_time = std::chrono::steady_clock;

constexpr int cannot_run = 126, not_there = 127; // exit statuses as in a shell

/// Blocks the signals that concern the command, so that this process can read them from a descriptor and forward them.
class command_signals {
public:
    command_signals() {
        sigemptyset(&held_);
        for (const int number : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&held_, number);
        sigprocmask(SIG_BLOCK, &held_, &before_);
        arrived_ = unique_fd{::signalfd(-1, &held_, SFD_NONBLOCK | SFD_CLOEXEC)};
        if (!arrived_) throw std::system_error(errno, std::generic_category(), "cannot wait for signals");
    }
    ~command_signals() { release(); }
    command_signals(const command_signals&) = delete;
    command_signals& operator=(const command_signals&) = delete;

    int descriptor() const noexcept { return arrived_.get(); }
    void release() noexcept { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    /// The signals that arrived since the last call.
    struct news {
        bool has_ended = false; ///< the command, or another child, ended
        bool requests_counts = false;
    };
    /// Forwards SIGTERM, SIGHUP and SIGINT to the command, but no SIGINT from a terminal, which the command receives itself.
    news pass_on(pid_t command) noexcept {
        news all;
        signalfd_siginfo next;
        while (::read(arrived_.get(), &next, sizeof next) == sizeof next) {
            const int number = static_cast<int>(next.ssi_signo);
            if (number == SIGTERM || number == SIGHUP || (number == SIGINT && next.ssi_code != SI_KERNEL))
                ::kill(command, number);
            all.has_ended |= number == SIGCHLD;
            all.requests_counts |= number == SIGUSR1;
        }
        return all;
    }

private:
    sigset_t held_{}, before_{};
    unique_fd arrived_;
};

/// The error of the child process that could not execute the command.
struct failure {
    int error = 0;
    std::array<char, 500> what{}; // empty: the program could not be executed
};

/// Executes the command in this process. If that fails, writes a `failure` to the pipe and exits.
[[noreturn]] void become(const std::vector<std::string>& command, const unique_fd& failures) {
    failure f;
    try {
        show_devices();
        std::vector<char*> words;
        for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        std::signal(SIGPIPE, SIG_DFL);
        std::signal(SIGXFSZ, SIG_DFL);
        ::execvp(words[0], words.data());
        f.error = errno;
    } catch (const std::system_error& e) {
        f.error = e.code().value();
        std::strncpy(f.what.data(), e.what(), f.what.size() - 1);
    } catch (const std::exception& e) {
        std::strncpy(f.what.data(), e.what(), f.what.size() - 1);
    }
    (void)!::write(failures.get(), &f, sizeof f);
    ::_exit(failed);
}

/// A child process that executes the command, and a pipe that reports a failure to do so.
class running_command {
public:
    running_command(const std::vector<std::string>& command, command_signals& signals) : name_(command.front()) {
        std::array<int, 2> ends;
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "cannot create a pipe");
        failures_ = unique_fd{ends[0]};
        const unique_fd write_end{ends[1]};
        id_ = ::fork();
        if (id_ < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
        if (id_ != 0) return;
        signals.release();
        become(command, write_end);
    }

    pid_t id() const noexcept { return id_; }
    /// Returns the exit status if the command has ended.
    std::optional<int> ended() {
        int status = 0;
        if (::waitpid(id_, &status, WNOHANG) != id_) return std::nullopt;
        failure f;
        if (::read(failures_.get(), &f, sizeof f) == sizeof f) return report_failure(f);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    int report_failure(const failure& f) const {
        if (f.what[0] != '\0') throw std::runtime_error(f.what.data());
        print_message("cannot run {}: {}", comad::iba::as_given(name_), std::strerror(f.error));
        return f.error == ENOENT ? not_there : cannot_run;
    }

    std::string name_;
    unique_fd failures_;
    pid_t id_ = -1;
};

/// Waits for FUSE calls, arriving MADs or signals, at most until the next timer.
void await(const file_server& server, const command_signals& signals, exported_fabric& fabric) {
    std::vector<pollfd> all{{server.descriptor(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
    for (const exported_port& p : fabric.ports()) {
        const bool is_full = p.kernel->wants_writable();
        if (p.kernel->gone() == 0)
            all.push_back({p.descriptor(), static_cast<short>(is_full ? POLLIN | POLLOUT : POLLIN), 0});
    }
    const auto next = fabric.next_event();
    timespec left{};
    if (next) {
        const auto time = std::max(*next - real_time::now(), real_time::duration{0});
        left.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(time).count();
        left.tv_nsec = (time % std::chrono::seconds(1)).count();
    }
    ::ppoll(all.data(), all.size(), next ? &left : nullptr, nullptr);
}

/// Returns the shell of the user as a command.
std::vector<std::string> shell() {
    const char* const own = std::getenv("SHELL");
    return {own && *own ? own : "/bin/sh"};
}

void print_devices(exported_fabric& fabric) {
    for (std::size_t n = 0; n < fabric.ports().size(); ++n) {
        const exported_port& p = fabric.ports()[n];
        print_message("/dev/infiniband/umad{} is {}/{}, at {}; it exists until you exit the shell", n,
                      p.described.device, p.described.port, comad::iba::escaped(p.place));
    }
}

void print_counts(exported_fabric& fabric, bool as_json) {
    for (std::size_t n = 0; n < fabric.ports().size(); ++n) {
        const auto& c = fabric.ports()[n].kernel->counters();
        if (as_json) {
            print_error(json_line({{"umad", fmt::format("umad{}", n)},
                                   {"written", c.written},
                                   {"read", c.read},
                                   {"retries", c.repeated},
                                   {"timeouts", c.timed_out},
                                   {"dropped", c.dropped},
                                   {"most_outstanding", c.most_outstanding},
                                   {"sent", c.sent},
                                   {"received", c.received}}));
            continue;
        }
        print_message("umad{}: {} MADs written, {} MADs read, {} retries, {} timeouts, {} dropped, at most {} in "
                      "flight; {} MADs sent to the fabric, {} received from it",
                      n, c.written, c.read, c.repeated, c.timed_out, c.dropped, c.most_outstanding, c.sent, c.received);
    }
}

} // namespace

int run_beside_devices(const vumad_settings& s) {
    if (!file_server::is_available())
        throw std::runtime_error("ibtool was built without libfuse3; install libfuse3-dev and build it again");
    const lasting_output messages; // a slow reader of stderr must not delay the devices
    exported_fabric fabric(s.fabric, s.places);
    command_signals signals;
    leave_mount_namespace();
    file_server server(mount_devices(), fabric);
    if (s.command.empty()) print_devices(fabric);
    running_command command(s.command.empty() ? shell() : s.command, signals);
    std::optional<int> code;
    while (!code) {
        await(server, signals, fabric);
        fabric.set_now(real_time::now());
        if (!server.take_calls()) throw std::runtime_error("another process unmounted the virtual devices");
        fabric.set_now(real_time::now());
        server.answer_waiting();
        const command_signals::news news = signals.pass_on(command.id());
        if (news.requests_counts) print_counts(fabric, s.json);
        if (news.has_ended) code = command.ended();
    }
    if (s.prints_counts || s.json) print_counts(fabric, s.json);
    return *code;
}

} // namespace ibtool
