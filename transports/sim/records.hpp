// SPDX-License-Identifier: MIT
// records.hpp - the records of a simulated subnet's SA (IBA 15.2.5), selected by component mask. They do not depend on MADs or methods.
#pragma once
#include "attributes.hpp"
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/sa.hpp>
#include <comad/mad/detail/time.hpp>

#include <optional>
#include <span>
#include <vector>

namespace comad::transports::sim {

/// A query and the records that match it.
class collector {
public:
    /// `wanted`: the query's record, encoded; `mask`: its component mask.
    collector(const iba::record_info& record, u64 mask, std::span<const u8> wanted);

    /// Returns whether a record that starts with `head` can match.
    bool admits(std::span<const u8> head) const noexcept;
    /// Adds a whole record if it matches.
    void offer(std::span<const u8> record);
    template <iba::wire R> void offer(const R& record) { offer(std::span<const u8>(iba::encode(record))); }

    template <iba::wire R> R wanted() const noexcept { return iba::decode<R>(wanted_.first<iba::wire_size<R>>()); }
    template <auto Member> bool selects() const noexcept { return (mask_ & iba::mask_of<Member>) != 0; }
    u64 mask() const noexcept { return mask_; }
    /// Excludes components from the comparison, because the provider of the records compares them.
    void leave_out(u64 components);

    std::size_t record_size() const noexcept { return record_.bytes; }
    std::size_t count() const noexcept { return found_.size() / record_.bytes; }
    /// Returns the matching records, concatenated.
    std::vector<u8> take() noexcept { return std::move(found_); }

private:
    const iba::record_info& record_;
    u64 mask_;
    std::span<const u8> wanted_;
    std::vector<u8> compared_;
    std::vector<u8> found_;
};

/// The services that ports have registered.
class services {
public:
    using record = iba::sa::ServiceRecord;
    enum class outcome : u8 { done, unknown, denied };

    /// Adds or changes a service. Returns denied if the key differs from that of the service.
    outcome set(const record&, mad::time_point now);
    /// Removes a service and sets `r` to its record.
    outcome remove(record& r, mad::time_point now);
    /// Offers the services whose lease has not expired, without their keys.
    void find(collector&, mad::time_point now);

private:
    struct lease {
        record what;
        mad::time_point ends;
    };
    std::vector<lease>::iterator find(const record&, mad::time_point now);
    void drop_expired(mad::time_point now);
    std::vector<lease> leases_;
};

/// Returns the structure of an SA attribute; null: the SA has no such records.
const iba::record_info* record_of(u16 attributeID) noexcept;

/// The reason why a query is rejected.
enum class refusal : u8 { none, too_few_components };
/// Offers all matching records of the subnet, except those that its users create. Precondition:
/// record_of(attributeID).
refusal find_records(attributes& of, u16 attributeID, collector& found);

} // namespace comad::transports::sim
