// SPDX-License-Identifier: MIT
// local_port.hpp - local_port: queries the attributes of a port from its own subnet management agent, through an open file of the port as
// a program does. It depends on no file system.
#pragma once
#include <comad/iba/smp.hpp>
#include <comad/transports/detail/vumad/kernel_port.hpp>

#include <functional>
#include <list>
#include <map>
#include <memory>

namespace comad::transports::vumad {

/// A set of attributes to query.
namespace local_attribute {
enum : unsigned {
    node_info = 1,
    node_description = 2,
    port_info = 4,
    pkey_table = 8,
    /// Sent only if NodeInfo and PortInfo indicate that the link may run at FDR10; node_info and port_info must be
    /// queried as well. The Linux drivers mlx4 and mlx5 do the same.
    mlnx_ext_port_info = 16,
};
} // namespace local_attribute

/// The attributes of a port. Attributes that were not queried are empty.
struct local_attributes {
    iba::smp::NodeInfo node;
    iba::smp::NodeDescription description;
    iba::smp::PortInfo port;
    iba::smp::PKeyTable pkeys;               ///< the first 32 P_Keys
    iba::smp::MlnxExtPortInfo mlnx_ext_port; ///< also empty if the agent does not reply to it
};

/// Queries the attributes of a port asynchronously.
class local_port {
public:
    /// Receives the attributes; null: the agent did not reply.
    using reader = std::function<void(const local_attributes*)>;

    /// Opens a file of the port, which must outlive this object. Throws std::runtime_error if it cannot register an
    /// agent.
    explicit local_port(kernel_port& of);
    /// Calls all pending readers with null.
    ~local_port();
    local_port(const local_port&) = delete;
    local_port& operator=(const local_port&) = delete;

    /// Queries `what`, a set of local_attribute, without using earlier replies. take_answers() calls `then`.
    void query_attributes(unsigned what, reader then);
    /// Processes the replies. Call it after the port's set_now().
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
    questions queries_;
    std::map<u32, request> requests_; // key: transaction ID
};

} // namespace comad::transports::vumad
