// SPDX-License-Identifier: MIT
// subscriptions.hpp - the subscriptions of a simulated subnet, and the Reports to subscribers (IBA 13.4.8, 13.4.9, 15.2.5.12). It does
// not depend on routing or time.
#pragma once
#include "records.hpp"
#include <comad/iba/notice.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <set>
#include <vector>

namespace comad::transports::sim {

/// A Report MAD for a subscriber.
struct report {
    iba::lid DLID;
    std::array<u8, mad::mad_size> mad;
};

/// The subscriptions at the SA, and the Reports without acknowledgement so far.
class subscriptions {
public:
    /// Adds or removes a subscription of the port `GID` at `LID`. Returns false if the request is invalid, or if it
    /// removes a subscription that does not exist.
    bool set(const iba::InformInfo&, const iba::gid& GID, iba::lid LID);
    void find(collector& found) const;
    bool empty() const noexcept { return all_.empty(); }

    /// Returns a Report for each subscription that matches the notice. Each Report waits for its acknowledgement.
    std::vector<report> reports_of(const iba::Notice&);
    /// Records an acknowledgement by the transaction ID of a ReportResp.
    void acknowledge(u64 transactionID) { waiting_.erase(transactionID); }
    bool is_acknowledged(u64 transactionID) const { return !waiting_.contains(transactionID); }

private:
    struct subscription {
        iba::sa::InformInfoRecord what;
        iba::lid LID;
    };
    std::vector<subscription> all_;
    std::set<u64> waiting_;
    u64 next_ = 1;
};

} // namespace comad::transports::sim
