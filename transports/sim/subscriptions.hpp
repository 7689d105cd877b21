// SPDX-License-Identifier: MIT
// subscriptions.hpp - who wants to hear of what in a simulated subnet, and the Reports that tell them (IBA 13.4.8, 13.4.9,
// 15.2.5.12). Knows no way and no time.
#pragma once
#include "records.hpp"
#include <comad/iba/notice.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <set>
#include <vector>

namespace comad::transports::sim {

/// A MAD for a subscriber.
struct report {
    iba::lid DLID;
    std::array<u8, mad::mad_size> mad;
};

class subscriptions {
public:
    /// Of the port `GID` at `LID`. False: a request that makes no sense, or to end what there is not.
    bool set(const iba::InformInfo&, const iba::gid& GID, iba::lid LID);
    void find(collector& found) const;
    bool empty() const noexcept { return all_.empty(); }

    /// A Report for each subscription that the notice concerns; they wait for their acknowledgement.
    std::vector<report> reports_of(const iba::Notice&);
    /// By the transaction ID of a ReportResp.
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
