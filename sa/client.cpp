// SPDX-License-Identifier: MIT
// client.cpp - queries the SA for paths and caches them, adds keys, and reads the local port again.
#include <comad/sa/client.hpp>
#include <comad/sa/detail/no_records.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace comad::sa {
namespace {

using iba::sa::PathRecord;

mad::IBPath filled_in(mad::IBPath to, const PathRecord& r) noexcept {
    to.DGID = r.DGID;
    to.SGID = r.SGID;
    to.DLID = r.DLID;
    to.SLID = r.SLID;
    to.flow_label = r.flowLabel;
    to.hop_limit = r.hopLimit;
    to.traffic_class = r.TClass;
    to.pkey = r.PKey;
    to.SL = r.SL;
    to.MTU = r.MTU;
    to.rate = r.rate;
    to.packet_life_time = r.packetLifeTime;
    to.has_grh = r.hopLimit > 1; // hop limits of 1 and 0 do not leave the subnet (IBA 8.3.6, 15.2.5.16)
    return to;
}

} // namespace

mad::IBPath sa_path_of(const iba::smp::PortInfo& port) noexcept {
    mad::IBPath path;
    path.DLID = port.masterSMLID;
    path.SLID = port.LID;
    path.SL = port.masterSMSL;
    path.packet_life_time = port.subnetTimeOut;
    return path;
}

coro::task<mad::result<mad::IBPath>> client::resolve_path(mad::IBPath to, iba::query<PathRecord> properties) {
    iba::query<PathRecord> query = properties;
    if ((query.component_mask() & iba::mask_of<&PathRecord::reversible>) == 0)
        query.where<&PathRecord::reversible>(true);
    query.where<&PathRecord::numbPath>(u8{1});
    const bool has_pkey = (query.component_mask() & iba::mask_of<&PathRecord::PKey>) != 0;
    if (to.pkey != mad::IBPath{}.pkey && !has_pkey) query.where<&PathRecord::PKey>(to.pkey);
    const iba::gid from = to.SGID != iba::gid{} ? to.SGID : local_.GID;
    if (from != iba::gid{}) query.where<&PathRecord::SGID>(from);
    else query.where<&PathRecord::SLID>(local_.LID);
    if (to.DGID != iba::gid{}) query.where<&PathRecord::DGID>(to.DGID);
    else query.where<&PathRecord::DLID>(to.DLID);

    const key query_key{query.component_mask(), iba::encode(query.value())};
    const auto known = known_.find(query_key);
    if (known != known_.end()) co_return filled_in(to, known->second);

    auto record = co_await schedule_.SubnAdmGet(query);
    if (!record) {
        mad::mad_error error = std::move(record.error());
        if (is_no_records(error)) error.code = mad::errc::path_not_found;
        error.message(fmt::format("Failed getting path record for path '{}'", to_string(mad::any_path(to))));
        co_return std::move(error);
    }
    known_.emplace(query_key, record.value());
    co_return filled_in(to, record.value());
}

coro::task<mad::result<mad::any_path>> client::get_mad_path(mad::any_path to, bool by_sa) {
    const auto* target = std::get_if<mad::IBPath>(&to);
    // A path with a DLID is complete, even if it has a DGID.
    const bool is_complete = !target || target->DGID == iba::gid{} || value(target->DLID) != 0;
    if (!target || (is_complete && !by_sa)) co_return co_await with_keys(to);
    auto path = co_await resolve_path(*target);
    if (!path) co_return std::move(path.error());
    co_return co_await with_keys(path.value());
}

// ---- keys -----------------------------------------------------------------------------------------------------------

coro::task<mad::result<iba::guid>> client::port_at(mad::any_path path) {
    const auto* to = std::get_if<mad::IBPath>(&path);
    if (to && to->DGID != iba::gid{}) co_return iba::guid{to->DGID.interface_id()};
    const mad::IBDRPath* route = mad::directed(path);
    const bool is_local = route ? *route == mad::IBDRPath{} : to->DLID == local_.LID;
    if (is_local && local_.GID != iba::gid{}) co_return iba::guid{local_.GID.interface_id()};
    BOOST_OUTCOME_CO_TRY(const auto LID, co_await places_.lid_at(path));
    BOOST_OUTCOME_CO_TRY(const auto node, co_await places_.node_at(LID));
    co_return node.portGUID;
}

coro::task<mad::result<mad::any_path>> client::with_keys(mad::any_path path) {
    if (!keys_) co_return path;
    const bool differ = keys_->differ(mad::key_kind::MKey) || keys_->differ(mad::key_kind::CCKey);
    if (!differ || schedule_.sa_path().DLID == iba::lid{}) co_return keys_->put_into(path);
    auto port = co_await port_at(path);
    if (!port) {
        mad::mad_error error = std::move(port.error());
        error.message(fmt::format("cannot select the key for {}: its port could not be determined", to_string(path)));
        co_return std::move(error);
    }
    co_return keys_->put_into(path, port.value());
}

coro::task<mad::result<void>> client::take_sm_key() {
    mad::IBPath to_sa = schedule_.sa_path();
    if (!keys_ || to_sa.SMKey != 0 || to_sa.DLID == iba::lid{}) co_return mad::success();
    to_sa.SMKey = keys_->default_of(mad::key_kind::SMKey);
    if (keys_->differ(mad::key_kind::SMKey)) {
        BOOST_OUTCOME_CO_TRY(const auto port, co_await port_at(to_sa));
        to_sa.SMKey = keys_->of(mad::key_kind::SMKey, port);
        sa_port_ = port;
    }
    schedule_.set_sa_path(to_sa);
    co_return mad::success();
}

void client::renew_sm_key() {
    if (!keys_) return;
    mad::IBPath to_sa = schedule_.sa_path();
    to_sa.SMKey = keys_->of(mad::key_kind::SMKey, sa_port_);
    schedule_.set_sa_path(to_sa);
}

// ---- the local port ---------------------------------------------------------------------------------------------------

namespace {

bool is_same_route(mad::IBPath a, const mad::IBPath& b) noexcept {
    a.SMKey = b.SMKey;
    return a == b;
}

/// Marks a read as running, and wakes all tasks that wait for its end, including after exceptions.
class read_in_progress {
public:
    read_in_progress(bool& is_reading, coro::event& ended) noexcept : is_reading_(is_reading), ended_(ended) {
        is_reading_ = true;
        ended_.reset();
    }
    ~read_in_progress() {
        is_reading_ = false;
        ended_.set();
    }
    read_in_progress(const read_in_progress&) = delete;
    read_in_progress& operator=(const read_in_progress&) = delete;

private:
    bool& is_reading_;
    coro::event& ended_;
};

} // namespace

coro::task<mad::result<local_port>> client::query_own_sma() {
    mad::any_path here = mad::IBDRPath{};
    if (keys_) here = keys_->put_into(here, iba::guid{local_.GID.interface_id()});
    auto answer = co_await schedule_.SubnGet<iba::smp::PortInfo>(here);
    if (!answer) co_return std::move(answer.error());
    const iba::smp::PortInfo& port = answer.value();
    local_port now{port.LID, {}, sa_path_of(port), port.LMC};
    if (local_.GID != iba::gid{}) now.GID = iba::gid(port.GIDPrefix, iba::guid{local_.GID.interface_id()});
    co_return now;
}

coro::task<mad::result<bool>> client::refresh_port() {
    if (is_reading_) {
        const local_port before = local_;
        co_await has_read_.wait();
        co_return local_ != before;
    }
    auto now = mad::result<local_port>(local_);
    {
        const read_in_progress until_read(is_reading_, has_read_);
        auto reading = read_port();
        now = co_await std::move(reading);
    }
    if (!now) co_return std::move(now.error());
    auto taking = take(now.value());
    co_return co_await std::move(taking);
}

coro::task<mad::result<local_port>> client::read_port() {
    if (!reader_) {
        if (!schedule_.transport().limits().smi) co_return local_;
        auto reading = query_own_sma();
        co_return co_await std::move(reading);
    }
    mad::mad_error why;
    try {
        auto reading = reader_();
        co_return co_await std::move(reading);
    } catch (const std::exception& e) { // every exception becomes an error, so that requests to the SA fail normally
        why.code = mad::errc::transport_failed;
        why.message(e.what());
    }
    co_return why;
}

coro::task<mad::result<bool>> client::take(local_port now) {
    if (now.sa_path.DLID == iba::lid{} || now.LID == iba::lid{}) co_return false;
    const mad::IBPath in_use = schedule_.sa_path();
    const bool is_ours = is_same_route(in_use, local_.sa_path);
    mad::IBPath to_sa = local_.sa_path; // the other fields keep the values of the program
    to_sa.DLID = now.sa_path.DLID;
    to_sa.SL = now.sa_path.SL;
    if (to_sa.SLID != iba::lid{}) to_sa.SLID = now.LID;
    now.sa_path = to_sa;
    if (now.GID == iba::gid{}) now.GID = local_.GID;
    if (now == local_) co_return false;
    const local_port was = std::exchange(local_, now);
    places_.start_at(local_.LID);
    known_.clear();
    pause_ = first_pause;
    if (is_ours) {
        sa_port_ = iba::guid{};
        schedule_.set_sa_path(local_.sa_path);
        // Adds the SM_Key of the new port of the SA. If that fails, later requests to the SA report the error.
        if (in_use.SMKey != local_.sa_path.SMKey) [[maybe_unused]]
            const auto taken = co_await take_sm_key();
    }
    if (changed_) changed_(was, local_);
    co_return true;
}

coro::task<std::optional<mad::IBPath>> client::find_sa(iba::lid queried_sa) {
    if (schedule_.sa_path().DLID != queried_sa) co_return schedule_.sa_path(); // the SA was found in the meantime
    const mad::IBPath before = schedule_.sa_path();
    if (!is_reading_) {
        if (schedule_.now() < next_read_) co_return std::nullopt;
        next_read_ = schedule_.now() + pause_;
        pause_ = std::min(2 * pause_, longest_pause);
    }
    auto reading = refresh_port();
    [[maybe_unused]] const auto read = co_await std::move(reading); // a port that cannot be read counts as unchanged
    if (schedule_.sa_path() == before) co_return std::nullopt;
    co_return schedule_.sa_path();
}

} // namespace comad::sa
