// SPDX-License-Identifier: MIT
// sa.hpp - the SA of a simulated subnet (IBA 15.2, 15.4). It does not route MADs.
#pragma once
#include "groups.hpp"
#include "records.hpp"
#include "subscriptions.hpp"
#include <comad/server/responder.hpp>

#include <vector>

namespace comad::transports::sim {

/// The SA. It replies to Get and GetTable of every record in records.hpp, Set and Delete of services, memberships and
/// GUIDs, subscriptions, GetMulti of paths, GetTraceTable and ClassPortInfo. A record matches if it equals the query
/// in every component of the mask. A mask with undefined bits is invalid.
class administrator {
public:
    explicit administrator(attributes& of) : of_(of), groups_(of) {}
    /// Returns the reply to a request.
    server::response answer(const server::request& r, mad::time_point now);

    /// Makes Reports of an event for its subscribers.
    void notify(iba::TrapNumber what, const iba::gid& about);
    void notify(const iba::Notice& notice);
    /// Returns the Reports that must be sent.
    std::vector<report> take_reports() noexcept { return std::exchange(reports_, {}); }
    subscriptions& subscribers() noexcept { return subscriptions_; }
    const subscriptions& subscribers() const noexcept { return subscriptions_; }

private:
    server::response answer_query(const server::request& r, const iba::record_info& record, mad::time_point now);
    server::response change(const server::request& r, mad::time_point now);
    server::response set_service(const server::request& r, mad::time_point now);
    server::response remove_service(const server::request& r, mad::time_point now);
    server::response change_membership(const server::request& r);
    server::response change_guids(const server::request& r);
    server::response subscribe(const server::request& r);
    server::response answer_multi(const server::request& r);
    server::response answer_trace(const server::request& r);

    attributes& of_;
    services services_;
    groups groups_;
    subscriptions subscriptions_;
    std::vector<report> reports_;
};

} // namespace comad::transports::sim
