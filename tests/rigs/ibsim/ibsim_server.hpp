// SPDX-License-Identifier: MIT
// ibsim_server.hpp - a private ibsim server process for tests, with its console. Knows no transport.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

/// A running `ibsim -s` with a socket name of its own; killed and its files removed by the destructor, and by the
/// kernel should the test die first.
///
///     ibsim_server server(topology_text);
///     ... // a client at server.sockname()
///     server.console("Unlink \"S-1\"[3]"); // done when it returns
///
/// Everything throws std::runtime_error with the server's own words when the server ends or is silent for long.
class ibsim_server {
public:
    /// `topology`: in ibsim's (ibnetdiscover's) format. `arguments`: for ibsim, such as {"-N", "14000", "-S", "1700",
    /// "-P", "90000"} for a fabric beyond its default of 2048 nodes, 256 switches, 13312 ports.
    explicit ibsim_server(std::string_view topology, const std::vector<std::string>& arguments = {});
    struct topology_file {
        std::filesystem::path path;
    };
    explicit ibsim_server(const topology_file& topology, const std::vector<std::string>& arguments = {});
    ~ibsim_server();
    ibsim_server(const ibsim_server&) = delete;
    ibsim_server& operator=(const ibsim_server&) = delete;

    /// The base name of its sockets, for ibsim_options::sockname and IBSIM_SOCKNAME.
    const std::string& sockname() const noexcept { return sockname_; }
    pid_t pid() const noexcept { return pid_; }

    /// Runs one console command, of at most 120 characters, and returns what it printed (errors start with '#').
    /// The command has been executed when this returns. Not while the server is stopped.
    std::string console(std::string_view command);

    void stop();                  ///< freezes the server (SIGSTOP): it reads and answers nothing
    void resume();                ///< undoes stop()
    void kill() noexcept;         ///< ends the server at once, as a crash does
    void start();                 ///< after kill(): another one, as the first and under its name
    std::string warnings() const; ///< what it wrote to stderr so far

private:
    ibsim_server(); // a directory and no process; the others delegate to it, so that all is cleaned up when they throw
    std::string read_to_prompt();

    std::filesystem::path directory_;
    std::string sockname_;
    std::filesystem::path topology_;
    std::vector<std::string> arguments_;
    pid_t pid_ = -1;
    comad::mad::unique_fd console_; // its stdin and stdout; open to the end, for without input ibsim spins
};
