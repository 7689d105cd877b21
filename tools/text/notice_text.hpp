// SPDX-License-Identifier: MIT
// notice_text.hpp - describes the subject of a notice as a line and as JSON, with the names of nodes (IBA 14.2.5.1). Sends nothing.
#pragma once
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/iba/notice.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <unordered_map>

namespace ibtool {

/// Finds nodes for the LIDs and GIDs in notices. Subnet and names must outlive the object and must not change.
class notice_text {
public:
    notice_text(const comad::discovery::subnet&, const comad::discovery::node_names&);

    /// Returns `notice GIDOutOfService: GID fe80::1 ("host 3"[1]) is out of service; reported by LID 1 ("host 1"[1])`, safe for a terminal
    /// and without M_Keys.
    std::string text(const comad::iba::Notice&) const;
    /// Returns the members of a notice in schema `comad.watch/1`, except `seconds` and `time`, without M_Keys.
    nlohmann::ordered_json to_json(const comad::iba::Notice&) const;

private:
    using port_ref = comad::discovery::port_ref;
    struct packet; // packet whose keys are reported by traps 257 to 259

    port_ref port_of(const comad::iba::gid&) const;
    std::string name(port_ref) const;
    std::string with_name(comad::iba::lid) const;
    std::string with_name(const comad::iba::gid&) const;
    nlohmann::ordered_json place(port_ref) const;
    nlohmann::ordered_json end(comad::iba::lid) const;
    nlohmann::ordered_json end(const packet&, bool is_source) const;
    std::string packet_text(const packet&) const;
    void add_packet(nlohmann::ordered_json& about, const packet&) const;
    std::string about(const comad::iba::Notice&) const;
    nlohmann::ordered_json about_json(const comad::iba::Notice&) const;

    const comad::discovery::subnet& subnet_;
    const comad::discovery::node_names& names_;
    comad::discovery::lid_index lids_;
    std::unordered_map<comad::iba::guid, port_ref> ports_; // ports by port GUID
};

} // namespace ibtool
