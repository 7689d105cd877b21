// SPDX-License-Identifier: MIT
// transactor.hpp - SATransactor: makes SubnGets by queries to the SA instead of SMPs to the nodes. Use it if the program may not send
// SMPs. Its parent makes all other RPCs unchanged.
#pragma once
#include <comad/coro/detail/blocking.hpp>
#include <comad/coro/detail/rpcs.hpp>
#include <comad/sa/detail/lid_lookup.hpp>
#include <comad/sa/detail/no_records.hpp>
#include <comad/sa/detail/sa_record_for.hpp>

namespace comad::sa {

/// Replaces SubnGets with queries to the SA. Parent is MADSchedule, whose RPCs become tasks that return a
/// mad::result, or blocking_transactor, whose RPCs return the mad::result directly.
///
/// SubnGet of NodeInfo, NodeDescription, PortInfo, SwitchInfo, GUIDInfo, PKeyTable, SLToVLMappingTable,
/// VLArbitrationTable, LinearForwardingTable, MulticastForwardingTable and SMInfo becomes SubnAdmGet. It sends no
/// SMP, not even to resolve a directed route. The result equals that of the SMP, except that it is the last state
/// that the SA knows.
/// Errors: those of SubnAdmGet. If the SA has no record of a block of a forwarding table, the error is
///         ERR_NO_RECORDS. For P_Keys, SL to VL and VL arbitration tables, the result is then an empty block, as that
///         of the SMP.
/// Header: `with_header` returns the header of the SA's reply.
template <class Parent> class SATransactor : public coro::rpcs<SATransactor<Parent>> {
    static constexpr bool blocks = std::is_same_v<Parent, coro::blocking_transactor>;

public:
    /// Creates the transactor. `parent` must outlive it, and the sa_path() of `parent` must be set. `local`: the LID
    /// of the local port.
    SATransactor(Parent& parent, iba::lid local) : parent_(parent), places_(schedule_of(parent), local) {}

    /// Returns the path to the SA.
    const mad::IBPath& sa_path() const noexcept { return parent_.sa_path(); }
    /// Returns the object that makes all other RPCs.
    Parent& parent() noexcept { return parent_; }
    /// Sets a new LID of the local port and forgets the cached replies of the SA.
    void set_local_lid(iba::lid local) noexcept { places_.start_at(local); }

    /// The interface that rpcs.hpp requires.
    template <iba::wire T, bool Header> auto call(const coro::rpc_request& request) {
        return give(call_or_query_sa<T, Header>(request.kind, request.path, request.attributeModifier,
                                                request.component_mask, request.options, T{}));
    }
    template <iba::wire T, bool Header> auto call(const coro::rpc_request& request, const T& payload) {
        return give(call_or_query_sa<T, Header>(request.kind, request.path, request.attributeModifier,
                                                request.component_mask, request.options, payload));
    }
    template <iba::wire Request, iba::wire Record, bool Header>
    auto call_table(const coro::rpc_request& request, const Request& payload) {
        return parent_.template call_table<Request, Record, Header>(request, payload);
    }

private:
    template <class T, bool Header> using value_of = typename coro::rpc<T, Header>::value_type;

    static coro::MADSchedule& schedule_of(Parent& parent) noexcept {
        if constexpr (blocks) return parent.schedule();
        else return parent;
    }
    template <class T> auto give(coro::task<T> t) {
        if constexpr (blocks) return coro::sync_wait(parent_.schedule(), std::move(t));
        else return t;
    }

    template <class T, bool Header>
    coro::task<mad::result<value_of<T, Header>>> call_or_query_sa(const mad::rpc_kind& kind, mad::any_path path,
                                                                  u32 modifier, u64 component_mask,
                                                                  coro::rpc_options options, T payload) {
        if constexpr (known_to_sa<T>) {
            if (kind.mgmt_class == iba::MgmtClass::SubnLID && kind.method == iba::Method::Get)
                co_return co_await from_sa<T, Header>(path, modifier, options);
        }
        const coro::rpc_request request{kind, path, modifier, component_mask, options};
        co_return co_await schedule_of(parent_).template call<T, Header>(request, payload);
    }

    template <class T, bool Header>
    coro::task<mad::result<value_of<T, Header>>> from_sa(mad::any_path path, u32 modifier, coro::rpc_options options) {
        using known = sa_record_for<T>;
        using record = typename known::record;
        auto LID = co_await places_.lid_at(path);
        if (!LID) co_return std::move(LID.error());
        smp_target target{LID.value(), false, modifier};
        if constexpr (depends_on_type<T>) {
            auto node = co_await places_.node_at(target.LID);
            if (!node) co_return std::move(node.error());
            target.is_switch = node.value().nodeType == iba::NodeType::Switch;
        }
        auto found = co_await schedule_of(parent_).template SubnAdmGet<record, true>(known::query_for(target),
                                                                                     sa_path(), options);
        if (!found) {
            mad::mad_error error = std::move(found.error());
            if (known::if_no_record != on_no_record::empty_block || !is_no_records(error)) co_return std::move(error);
            coro::reply<record> nothing{};
            iba::decode(nothing.header, error.detail->reply.data());
            nothing.path = error.detail->path;
            co_return given<T, Header>(nothing);
        }
        if constexpr (std::is_same_v<record, iba::sa::NodeRecord>)
            places_.learn(target.LID, found.value().payload.nodeInfo);
        co_return given<T, Header>(found.value());
    }

    template <class T, bool Header>
    static value_of<T, Header> given(const coro::reply<typename sa_record_for<T>::record>& r) {
        if constexpr (Header) return {sa_record_for<T>::take(r.payload), r.header, r.path, r.source};
        else return sa_record_for<T>::take(r.payload);
    }

    /// Whether the query depends on the node type: a CA's record is identified differently from a switch's.
    template <class T>
    static constexpr bool depends_on_type =
        std::is_same_v<T, iba::smp::PortInfo> || std::is_same_v<T, iba::smp::PKeyTable> ||
        std::is_same_v<T, iba::smp::SLToVLMappingTable> || std::is_same_v<T, iba::smp::VLArbitrationTable>;

    Parent& parent_;
    detail::places places_;
};

} // namespace comad::sa
