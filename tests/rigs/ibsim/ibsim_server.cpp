// SPDX-License-Identifier: MIT
// ibsim_server.cpp - starts, commands and ends a private ibsim.
#include "ibsim/ibsim_server.hpp"

#include "kernel/errno_error.hpp"
#include "program/spawn.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

using comad::mad::unique_fd;

namespace {

constexpr std::string_view prompt = "sim> ";
constexpr int patience_ms = 30000; // a server that prints nothing for this time is broken, even on a busy machine

/// Creates a temporary directory and returns its path.
std::filesystem::path make_directory() {
    std::string name = std::filesystem::temp_directory_path() / "comad-ibsim-XXXXXX";
    if (!::mkdtemp(name.data())) fail("mkdtemp");
    return name;
}

} // namespace

ibsim_server::ibsim_server() : directory_(make_directory()), sockname_(directory_.filename()) {}

ibsim_server::ibsim_server(std::string_view topology, const std::vector<std::string>& arguments) : ibsim_server() {
    topology_ = directory_ / "topology";
    arguments_ = arguments;
    std::ofstream(topology_) << topology;
    start();
}

ibsim_server::ibsim_server(const topology_file& topology, const std::vector<std::string>& arguments) : ibsim_server() {
    topology_ = topology.path;
    arguments_ = arguments;
    start();
}

ibsim_server::~ibsim_server() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

void ibsim_server::start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
    console_ = unique_fd(ends[0]);
    unique_fd theirs(ends[1]);
    const unique_fd err{::open((directory_ / "stderr").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    if (!err) fail("open");

    std::vector<std::string> words{"IBSIM_SOCKNAME=" + sockname_, "ibsim", "-s"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    words.push_back(topology_);
    pid_ = spawn(std::move(words), theirs.get(), theirs.get(), err.get());
    theirs.reset(); // otherwise we would not notice the end of the server

    // The first prompt appears before the sockets exist, and the reply to a command appears afterwards.
    read_to_prompt();
    console("# ready?");
}

std::string ibsim_server::console(std::string_view command) {
    std::string line(command);
    line += '\n';
    if (line.size() > 121) throw std::runtime_error("too long for ibsim's console: " + line);
    if (::send(console_.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        fail("ibsim's console");
    return read_to_prompt();
}

std::string ibsim_server::read_to_prompt() {
    std::string text;
    while (!text.ends_with(prompt)) {
        pollfd event{console_.get(), POLLIN, 0};
        if (::poll(&event, 1, patience_ms) == 0)
            throw std::runtime_error("ibsim is silent after:\n" + text + warnings());
        char part[4096];
        const ssize_t n = ::read(console_.get(), part, sizeof part);
        if (n <= 0) throw std::runtime_error("ibsim has ended:\n" + text + warnings());
        text.append(part, static_cast<std::size_t>(n));
    }
    text.resize(text.size() - prompt.size());
    return text;
}

void ibsim_server::stop() {
    // Wait until the server has stopped: the signal does not take effect at once.
    if (::kill(pid_, SIGSTOP) != 0 || ::waitpid(pid_, nullptr, WUNTRACED) != pid_) fail("stop ibsim");
}

void ibsim_server::resume() {
    if (::kill(pid_, SIGCONT) != 0) fail("resume ibsim");
}

void ibsim_server::kill() noexcept {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

std::string ibsim_server::warnings() const {
    std::ifstream file(directory_ / "stderr");
    return {std::istreambuf_iterator<char>(file), {}};
}
