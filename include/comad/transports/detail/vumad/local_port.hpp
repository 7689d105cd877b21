// SPDX-License-Identifier: MIT
// local_port.hpp - what the port's own subnet management agent says of it, asked as a program asks it: through an open file of
// the port. Knows no file system.
#pragma once
#include <comad/iba/smp.hpp>
#include <comad/transports/detail/vumad/kernel_port.hpp>

#include <functional>
#include <list>
#include <map>
#include <memory>

namespace comad::transports::vumad {

/// Which of the attributes are wanted.
namespace local_attribute {
enum : unsigned {
    node_info = 1,
    node_description = 2,
    port_info = 4,
    pkey_table = 8,
    /// Sent only if node_info and port_info, which must be wanted as well, say that the link may run at FDR10. Linux'
    /// mlx4 and mlx5 do the same.
    mlnx_ext_port_info = 16,
};
} // namespace local_attribute

/// Those that nobody wanted are empty.
struct local_attributes {
    iba::smp::NodeInfo node;
    iba::smp::NodeDescription description;
    iba::smp::PortInfo port;
    iba::smp::PKeyTable pkeys;               ///< the first 32
    iba::smp::MlnxExtPortInfo mlnx_ext_port; ///< also empty if the agent does not respond to it
};

class local_port {
public:
    /// Null: the agent does not answer.
    using reader = std::function<void(const local_attributes*)>;

    /// `of` must outlive it. Throws std::runtime_error when the port has no agent for it.
    explicit local_port(kernel_port& of);
    /// Whoever waits hears of no answer.
    ~local_port();
    local_port(const local_port&) = delete;
    local_port& operator=(const local_port&) = delete;

    /// Asks for `what`, a set of local_attribute, now: nothing is kept from earlier. `then` is called by take_answers().
    void ask(unsigned what, reader then);
    /// After the port's set_now().
    void take_answers();

private:
    struct question {
        unsigned missing;
        local_attributes found;
        reader then;
    };
    using questions = std::list<question>;
    struct request {
        questions::iterator of;
        unsigned what;
    };

    void send(questions::iterator, unsigned what);
    void take(std::span<const u8> packet);
    void give_up();

    std::unique_ptr<kernel_port::file> file_;
    u32 agent_ = 0;
    u32 last_tid_ = 0;
    questions questions_;
    std::map<u32, request> requests_; // by transaction ID
};

} // namespace comad::transports::vumad
