// SPDX-License-Identifier: MIT
// ibsim_server.hpp - a private ibsim server process for tests, with its console.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

/// A running `ibsim -s` with its own socket name. The destructor kills the server and removes its files, and the kernel
/// kills the server if the test process dies first.
///
///     ibsim_server server(topology_text);
///     ... // a client at server.sockname()
///     server.console("Unlink \"S-1\"[3]"); // executed when console() returns
///
/// Errors: every function throws std::runtime_error with the server's output if the server ends or prints nothing for long.
class ibsim_server {
public:
    /// Starts a server. `topology`: in the format of ibsim (and ibnetdiscover). `arguments`: options of ibsim, such as
    /// {"-N", "14000", "-S", "1700", "-P", "90000"} for a fabric beyond its defaults of 2048 nodes, 256 switches and 13312
    /// ports.
    explicit ibsim_server(std::string_view topology, const std::vector<std::string>& arguments = {});
    struct topology_file {
        std::filesystem::path path;
    };
    explicit ibsim_server(const topology_file& topology, const std::vector<std::string>& arguments = {});
    ~ibsim_server();
    ibsim_server(const ibsim_server&) = delete;
    ibsim_server& operator=(const ibsim_server&) = delete;

    /// Returns the base name of its sockets, for ibsim_options::sockname and IBSIM_SOCKNAME.
    const std::string& sockname() const noexcept { return sockname_; }
    pid_t pid() const noexcept { return pid_; }

    /// Executes one console command of at most 120 characters and returns its output (errors start with '#'). Precondition:
    /// the server is not stopped.
    std::string console(std::string_view command);

    void stop();                  ///< freezes the server with SIGSTOP
    void resume();                ///< undoes stop()
    void kill() noexcept;         ///< ends the server at once, as a crash does
    void start();                 ///< after kill(): starts a new server with the old options and name
    std::string warnings() const; ///< returns the stderr output so far

private:
    ibsim_server(); // creates only the directory; the public constructor delegates here so that the destructor cleans up
    std::string read_to_prompt();

    std::filesystem::path directory_;
    std::string sockname_;
    std::filesystem::path topology_;
    std::vector<std::string> arguments_;
    pid_t pid_ = -1;
    comad::mad::unique_fd console_; // stdin and stdout of ibsim; stays open because ibsim spins without input
};
