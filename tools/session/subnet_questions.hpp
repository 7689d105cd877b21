// SPDX-License-Identifier: MIT
// subnet_questions.hpp - what commands share that discover a subnet and then ask its nodes something: who is asked, what is
// found, what is missing. Knows no particular question.
#pragma once
#include "session/counter_questions.hpp"
#include "session/session.hpp"
#include <comad/discovery/subnet.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// Exit code of a check that found something: as of what failed, so that a script sees both by one comparison.
inline constexpr int something_found = failed;

/// Of Gets to nodes of which most have just answered: how long one may be silent.
inline constexpr comad::coro::rpc_options hurry{.patience = std::chrono::milliseconds(10)};

/// What such a command has to say.
struct findings {
    std::string text;                 ///< for stdout
    std::vector<std::string> missing; ///< lines for stderr: what could not be asked
    bool is_any_bad = false;          ///< a check found something
};

/// Lets `question` ask in a session. Writes its text to stdout, what is missing to stderr; of an RPC that failed it writes to
/// stderr as much as -d asks for. `target` as session's.
/// Returns partial if anything is missing, else something_found or complete; failed with that RPC. Throws what cannot begin
/// and what question throws.
int ask_and_judge(const global_options&, const comad::mad::address* target,
                  const std::function<asked<findings>(session&)>& question);

/// Asks the nodes of a subnet that is known.
using subnet_question = std::function<comad::coro::task<findings>(session&, const comad::discovery::subnet&)>;

/// The same of a question about the whole subnet, which is discovered before. What the discovery lacks is missing.
/// Throws one line if the local port does not answer.
int discover_and_ask(const global_options&, const subnet_question& question);

/// A link is or should be there: it is up, has another end, or is about to come up. All else are ports without a cable.
bool is_in_use(const comad::discovery::port&);

/// A port by whose LID a node is asked: port 0 of a switch, of other nodes each port that was found.
struct end_port {
    comad::discovery::port_ref where;
    comad::mad::IBPath path;
    std::vector<comad::u8> ports; ///< those in use that it answers for

    bool has_LID() const noexcept { return path.DLID != comad::iba::lid{}; }
};
/// In the order of the subnet.
std::vector<end_port> end_ports_of(const comad::discovery::subnet&);

/// `Switch`, `Ca`, `Rt`, as ibnetdiscover and the scripts have it.
std::string_view short_type(comad::iba::NodeType);
/// `# Checking Switch: nodeguid 0x0002c90300000001`.
std::string node_line(std::string_view doing, const comad::discovery::node&);
/// `nodeType`, `nodeGUID`, `description`, `LID`, `port`, which is 255 for all.
nlohmann::ordered_json place_json(const comad::discovery::subnet&, const end_port&, comad::u8 port);
/// A line that tells what is missing there, safe for a terminal.
std::string missing_at(const comad::discovery::subnet&, comad::discovery::port_ref, std::string_view why);

} // namespace ibtool
