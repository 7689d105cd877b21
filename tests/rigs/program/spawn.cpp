// SPDX-License-Identifier: MIT
// spawn.cpp - starts a program without copying the address space, because the tests start thousands of programs.
#include "program/spawn.hpp"

#include "kernel/errno_error.hpp"

#include <algorithm>
#include <iterator>
#include <signal.h>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

/// Returns pointers to the words and a null pointer, as execve() expects.
std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> p;
    for (auto& word : words) p.push_back(word.data());
    p.push_back(nullptr);
    return p;
}

/// Returns our environment with the leading `NAME=value` words added.
std::vector<std::string> environment_of(std::vector<std::string>& words) {
    const auto is_setting = [](const std::string& word) { return word.find('=') < word.find_first_of("/ "); };
    const auto command = std::ranges::find_if_not(words, is_setting);
    std::vector<std::string> all(std::make_reverse_iterator(command), words.rend()); // of equal names, the last counts
    words.erase(words.begin(), command);
    const auto is_set = [&](std::string_view ours) {
        const std::string_view name = ours.substr(0, ours.find('=') + 1);
        return std::ranges::any_of(all, [&](const std::string& a) { return a.starts_with(name); });
    };
    for (char** ours = environ; *ours; ++ours)
        if (!is_set(*ours)) all.emplace_back(*ours);
    return all;
}

} // namespace

pid_t spawn(std::vector<std::string> words, int in, int out, int err) {
    std::vector<std::string> settings = environment_of(words);
    const std::vector<char*> argv = pointers(words), envp = pointers(settings);
    const std::string refusal = words.front() + ": cannot be started\n";

    // Until the child executes the program it shares our memory. So it must not allocate memory.
    const pid_t pid = ::vfork();
    if (pid < 0) fail("vfork");
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(in, STDIN_FILENO);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(err, STDERR_FILENO);
        ::execvpe(argv[0], argv.data(), envp.data());
        (void)!::write(STDERR_FILENO, refusal.data(), refusal.size());
        ::_exit(127);
    }
    return pid;
}
