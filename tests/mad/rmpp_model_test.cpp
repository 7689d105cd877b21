// SPDX-License-Identifier: MIT
// rmpp_model_test.cpp - random transfers over a wire that loses, duplicates, delays, truncates and changes MADs. Both
// ends are compared with a model of IBA 13.6 and of the header.
#include "library/model_runs.hpp"
#include "library/rmpp_rig.hpp"
#include "support/sanitized.hpp"

#include <algorithm>
#include <deque>
#include <malloc.h>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace rmpp_model_test {

using namespace comad;
using namespace comad::test;
using mad::rmpp_timing;

namespace {

constexpr std::size_t rmpp_header = 36;
constexpr u32 fields_of_segment = 220; // the bytes after the RMPP header

time_point later(time_point now, duration by) { return by < time_point::max() - now ? now + by : time_point::max(); }

/// The statuses that can report a fault. If a MAD has several faults, any of them is valid.
class reasons {
public:
    void add(RMPPStatus s) { all_.push_back(s); }
    void add_if(bool is_so, RMPPStatus s) {
        if (is_so) add(s);
    }
    bool none() const { return all_.empty(); }
    bool has(RMPPStatus s) const { return std::find(all_.begin(), all_.end(), s) != all_.end(); }

private:
    std::vector<RMPPStatus> all_;
};

// ---- the model ----------------------------------------------------------------------------------------------------------

/// The common part of both ends. `header`: the start of its MADs.
class end_model {
public:
    end_model(std::vector<u8> header, const rmpp_timing& timing, time_point now)
        : header_(std::move(header)), timing_(timing), total_due_(later(now, timing.total)) {}

    rmpp_state state() const { return state_; }
    bool failed_by_peer() const { return failed_by_peer_; }
    time_point next_deadline() const {
        return state_ == rmpp_state::more ? std::min(response_due_, total_due_) : time_point::max();
    }
    /// Returns true if the end may fail with this status, which the model then uses.
    bool take_status(RMPPStatus status) {
        if (state_ != rmpp_state::failed) return status == RMPPStatus::Normal;
        if (status_ == RMPPStatus::Normal && why_.has(status)) status_ = status;
        return status == status_;
    }
    void abort(RMPPStatus why) {
        reasons one;
        one.add(why);
        fail(one);
    }
    duration response() const { return timing_.response; }
    /// Returns the minimum time for which it continues if it receives nothing from now on.
    duration endurance() const { return (timing_.retries - retried_) * timing_.response; }
    time_point total_due() const { return total_due_; }
    bool is_ours(std::span<const u8> mad) const {
        if (mad.size() != 256 || (mad[26] & active) == 0) return false;
        const std::size_t transaction = (header_[3] & 0x80) ? 8 : 12; // of a request, only the low half counts
        return std::equal(mad.begin(), mad.begin() + 3, header_.begin()) && mad[3] == (header_[3] ^ 0x80) &&
               std::equal(mad.begin() + static_cast<std::ptrdiff_t>(transaction), mad.begin() + 16,
                          header_.begin() + static_cast<std::ptrdiff_t>(transaction));
    }

protected:
    std::size_t header_size() const { return header_.size(); }
    u32 class_header() const { return static_cast<u32>(header_.size() - rmpp_header); }
    std::size_t segment_data() const { return 256 - header_.size(); }
    bool is_more() const { return state_ == rmpp_state::more; }

    /// Returns true for DATA and ACKs of this transfer without faults that any type of packet can have.
    bool examine(std::span<const u8> mad) {
        if (!is_ours(mad)) return false;
        const u8 type = mad[25], status = mad[27];
        const bool is_ending = type == stop_type || type == abort_type;
        if (state_ == rmpp_state::failed) {
            if (!failed_by_peer_ && !is_ending) ending_due_ = true;
            return false;
        }
        reasons why;
        why.add_if(mad[24] != 1, RMPPStatus::UnsupportedVersion);
        why.add_if(type < data_type || type > abort_type, RMPPStatus::BadRMPPType);
        const bool is_illegal = type == stop_type    ? status != 1
                                : type == abort_type ? status < 118 || status > 127
                                                     : (type == data_type || type == ack_type) && status != 0;
        why.add_if(is_illegal, RMPPStatus::IllegalStatus);
        if (!why.none()) {
            fail(why);
        } else if (is_ending && is_more()) {
            state_ = rmpp_state::failed;
            status_ = RMPPStatus{status};
            failed_by_peer_ = true;
        }
        if (!why.none() || is_ending) return false;
        if (const unsigned code = mad[26] >> 3; code != not_reported)
            timing_.response = std::max<duration>(timing_.response, 4096ns * (u64{1} << code));
        return true;
    }
    void fail(const reasons& why) {
        if (!is_more()) return;
        state_ = rmpp_state::failed;
        why_ = why;
        ending_due_ = true;
    }
    void complete() { state_ = rmpp_state::complete; }
    /// Returns true if something must be sent again.
    bool is_due(time_point now) {
        if (!is_more()) return false;
        const bool is_late = now >= response_due_;
        reasons why;
        why.add_if(now >= total_due_, RMPPStatus::TotalTimeTooLong);
        why.add_if(is_late && retried_ == timing_.retries, RMPPStatus::TooManyRetries);
        if (!why.none()) fail(why);
        if (!why.none() || !is_late) return false;
        ++retried_;
        wait_from(now);
        return true;
    }
    void wait_from(time_point now) { response_due_ = later(now, timing_.response); }
    void wait_no_more() { response_due_ = time_point::max(); }
    void progress() { retried_ = 0; }

    bool ending_due() const { return ending_due_; }
    mad_bytes packet(u8 type, u8 flags, u8 status, u32 data1, u32 data2) const {
        mad_bytes mad{};
        std::copy(header_.begin(), header_.end(), mad.begin());
        mad[24] = 1;
        mad[25] = type;
        mad[26] = static_cast<u8>((header_[26] & 0xf8) | flags | active);
        mad[27] = status;
        put_u32(&mad[28], data1);
        put_u32(&mad[32], data2);
        return mad;
    }
    mad_bytes ending() {
        ending_due_ = false;
        const u8 type = status_ == RMPPStatus::ResourcesExhausted ? stop_type : abort_type;
        return packet(type, 0, static_cast<u8>(status_), 0, 0);
    }

private:
    std::vector<u8> header_;
    rmpp_timing timing_;
    time_point total_due_, response_due_ = time_point::max();
    unsigned retried_ = 0;
    rmpp_state state_ = rmpp_state::more;
    reasons why_;
    RMPPStatus status_ = RMPPStatus::Normal;
    bool failed_by_peer_ = false, ending_due_ = false;
};

class sender_model : public end_model {
public:
    sender_model(const std::vector<u8>& message, std::size_t header, time_point now, const rmpp_sender_options& o)
        : end_model({message.begin(), message.begin() + static_cast<std::ptrdiff_t>(header)}, o.timing, now),
          data_(message.begin() + static_cast<std::ptrdiff_t>(header), message.end()),
          window_last_(std::max(o.first_window, 1u)), double_sided_(o.double_sided) {
        segments_ = 1;
        while (segments_ * segment_data() < data_.size()) ++segments_;
    }
    u32 segments() const { return segments_; }
    u32 acknowledged() const { return acknowledged_; }
    u64 expiries() const { return expiries_; }

    void feed(std::span<const u8> mad, time_point now) {
        if (!examine(mad) || mad[25] != ack_type) return;
        const u32 number = get_u32(&mad[28]), window_last = get_u32(&mad[32]);
        if (!is_more()) {
            turn_due_ = turn_due_ || (double_sided_ && number == segments_);
            return;
        }
        reasons why;
        why.add_if(window_last < number, RMPPStatus::NewWindowLastTooSmall);
        why.add_if(number > highest_sent_, RMPPStatus::SegmentNumberTooBig);
        if (!why.none()) return fail(why);
        window_last_ = std::max(window_last_, window_last);
        if (number <= acknowledged_) return;
        acknowledged_ = number;
        next_ = std::max(next_, number + 1);
        progress();
        if (acknowledged_ == highest_sent_) wait_no_more();
        else wait_from(now);
        if (acknowledged_ < segments_) return;
        complete();
        turn_due_ = double_sided_;
    }
    void on_time(time_point now) {
        if (!is_due(now)) return;
        ++expiries_;
        next_ = acknowledged_ + 1;
    }
    bool has_packet() const {
        return ending_due() || turn_due_ || (is_more() && next_ <= segments_ && next_ <= window_last_);
    }
    mad_bytes next_packet(time_point now) {
        if (ending_due()) return ending();
        if (std::exchange(turn_due_, false)) return packet(ack_type, 0, 0, 0, 1);
        const u32 n = next_++;
        highest_sent_ = std::max(highest_sent_, n);
        wait_from(now);
        return segment(n);
    }

private:
    mad_bytes segment(u32 n) const {
        const std::size_t begin = (n - 1) * segment_data(), size = std::min(segment_data(), data_.size() - begin);
        u8 flags = 0;
        std::size_t length = 0;
        if (n == 1) {
            flags |= first;
            length = data_.size() + segments_ * class_header();
        }
        if (n == segments_) {
            flags |= last;
            length = size + class_header();
        }
        mad_bytes mad = packet(data_type, flags, 0, n, static_cast<u32>(length));
        std::copy_n(data_.begin() + static_cast<std::ptrdiff_t>(begin), size,
                    mad.begin() + static_cast<std::ptrdiff_t>(header_size()));
        return mad;
    }

    std::vector<u8> data_;
    u32 segments_, acknowledged_ = 0, next_ = 1, highest_sent_ = 0, window_last_;
    u64 expiries_ = 0;
    bool double_sided_, turn_due_ = false;
};

class receiver_model : public end_model {
public:
    receiver_model(const mad_bytes& first_mad, std::size_t header, time_point now, const rmpp_receiver_options& o)
        : end_model(answering(first_mad, header), o.timing, now), max_message_(o.max_message),
          window_(std::clamp(o.window, 1u, 64u)) {
        wait_from(now);
        feed(first_mad, now);
    }
    u32 in_order() const { return in_order_; }
    u32 window_last() const { return window_last_; }
    u32 reply_window() const { return reply_window_; }

    void feed(std::span<const u8> mad, time_point now) {
        if (!examine(mad)) return;
        const u32 number = get_u32(&mad[28]), word = get_u32(&mad[32]);
        if (mad[25] == ack_type) {
            if (state() == rmpp_state::complete && number == 0) reply_window_ = std::max(word, 1u);
            return;
        }
        reasons why;
        why.add_if(number == 0 || ((mad[26] & first) != 0) != (number == 1),
                   RMPPStatus::InconsistentFirstAndSegmentNumber);
        if (!why.none()) return fail(why);
        if (number <= in_order_) {
            ack_due_ = true;
            return;
        }
        if (!is_more() || number > window_last_ || there_.contains(number)) return;
        const bool is_last = (mad[26] & last) != 0;
        if (number == 1) announced_ = word;
        why.add_if(!has_plausible_length(number, is_last, word), RMPPStatus::InconsistentLastAndPayloadLength);
        const std::size_t size = is_last ? word - std::min(word, class_header()) : segment_data();
        why.add_if(least_size(number, word, size) > max_message_, RMPPStatus::ResourcesExhausted);
        if (!why.none()) return fail(why);
        if (is_last) last_ = number;
        if (number == 1) first_header_.assign(mad.begin(), mad.begin() + static_cast<std::ptrdiff_t>(header_size()));
        const auto data = mad.subspan(header_size(), size);
        there_.emplace(number, std::vector<u8>(data.begin(), data.end()));
        while (there_.contains(in_order_ + 1)) ++in_order_;
        progress();
        wait_from(now);
        if (in_order_ == last_) complete();
        // The window moves when half of it has arrived.
        if (!is_more() || window_last_ - in_order_ <= window_ / 2) ack_due_ = true;
    }
    void on_time(time_point now) {
        if (is_due(now) && in_order_ > 0) ack_due_ = true;
    }
    bool has_packet() const { return ending_due() || (ack_due_ && !failed_by_peer()); }
    mad_bytes next_packet() {
        ack_due_ = false;
        if (ending_due()) return ending();
        window_last_ = in_order_ + window_;
        return packet(ack_type, 0, 0, in_order_, window_last_);
    }
    std::vector<u8> message() const {
        std::vector<u8> all = first_header_;
        for (const auto& [number, data] : there_) all.insert(all.end(), data.begin(), data.end());
        return all;
    }

private:
    static std::vector<u8> answering(const mad_bytes& mad, std::size_t size) {
        std::vector<u8> header(mad.begin(), mad.begin() + static_cast<std::ptrdiff_t>(size));
        header[3] ^= 0x80;
        header[26] = not_reported << 3;
        return header;
    }
    bool has_plausible_length(u32 number, bool is_last, u32 length) const {
        const u32 highest = there_.empty() ? 0 : there_.rbegin()->first;
        const u64 before = u64{number - 1} * fields_of_segment, full = before + fields_of_segment;
        if (!is_last) return (last_ == 0 || number < last_) && (announced_ == 0 || announced_ > full);
        if (length < class_header() || length > fields_of_segment || last_ != 0 || number < highest) return false;
        return announced_ == 0 || announced_ == before + length || announced_ == full;
    }
    /// Returns the minimum size of the whole message that this segment implies.
    u64 least_size(u32 number, u32 length, std::size_t size) const {
        const u64 arrived = header_size() + u64{number - 1} * segment_data() + size;
        if (number > 1 || length == 0) return arrived;
        return std::max<u64>(arrived, header_size() + u64{(length - 1) / fields_of_segment} * segment_data());
    }

    std::size_t max_message_;
    u32 window_, window_last_ = 1, in_order_ = 0, last_ = 0, announced_ = 0, reply_window_ = 1;
    bool ack_due_ = false;
    std::map<u32, std::vector<u8>> there_;
    std::vector<u8> first_header_;
};

/// Returns how a receiver differs from its model; null if it does not.
const char* difference(const rmpp_receiver& r, receiver_model& m) {
    if (r.state() != m.state() || !m.take_status(r.status())) return "the receiver's state";
    if (r.failed_by_peer() != m.failed_by_peer()) return "who failed, by the receiver";
    if (r.next_deadline() != m.next_deadline()) return "the receiver's deadline";
    if (r.has_packet() != m.has_packet()) return "whether the receiver has to send something";
    if (r.reply_window() != m.reply_window()) return "the window of the answer";
    return nullptr;
}

// ---- the wire -----------------------------------------------------------------------------------------------------------

struct wire_faults {
    unsigned lost = 0, doubled = 0, delayed = 0, cut = 0, foreign = 0, changed = 0; // per thousand MADs
};

struct carried {
    mad_bytes bytes;
    std::size_t size = 256;
    bool is_changed = false; // changed, but still a part of the transfer
};

/// One direction of the wire.
class wire {
public:
    wire(std::mt19937_64& random, duration longest) : random_(random), longest_(longest) {}

    wire_faults faults;

    void send(const mad_bytes& mad, time_point now) {
        if (happens(faults.lost)) return;
        carry(mad, now);
        if (happens(faults.doubled)) carry(mad, now);
    }
    void put(const carried& c, time_point now) { under_way_.emplace(now + travel(), c); }
    time_point next() const { return under_way_.empty() ? time_point::max() : under_way_.begin()->first; }
    std::optional<carried> receive(time_point now) {
        if (next() > now) return std::nullopt;
        return std::move(under_way_.extract(under_way_.begin()).mapped());
    }
    /// From now on everything arrives in time, including the MADs in flight.
    void heal(time_point now) {
        faults = {};
        std::multimap<time_point, carried> late;
        late.swap(under_way_);
        for (auto& [when, c] : late) under_way_.emplace(now + 10us, c);
    }
    bool is_honest() const {
        return std::none_of(under_way_.begin(), under_way_.end(),
                            [](const auto& one) { return one.second.is_changed; });
    }
    /// Changes one field of the RMPP header.
    void change(mad_bytes& mad) {
        static constexpr u8 statuses[]{0, 1, 2, 117, 118, 119, 123, 126, 127, 128, 255};
        switch (random_() % 10) {
        case 0: mad[24] = static_cast<u8>(random_() % 3); break;
        case 1: mad[25] = static_cast<u8>(random_() % 6); break;
        case 2: mad[26] ^= static_cast<u8>(random_() % 2 ? first : last); break;
        case 3: mad[26] = static_cast<u8>((random_() % 16) << 3 | (mad[26] & 7)); break;
        case 4: mad[27] = statuses[random_() % std::size(statuses)]; break;
        case 5: // ABORT or STOP
            mad[25] = random_() % 2 ? stop_type : abort_type;
            mad[27] = statuses[random_() % std::size(statuses)];
            break;
        case 6: // a last segment
            mad[26] |= last;
            put_u32(&mad[32], static_cast<u32>(random_() % 225));
            break;
        case 7: // a window that ends there
            put_u32(&mad[32], get_u32(&mad[28]) + static_cast<u32>(random_() % 3) - 1);
            break;
        case 8: put_u32(&mad[28], changed(get_u32(&mad[28]))); break;
        default: put_u32(&mad[32], changed(get_u32(&mad[32])));
        }
    }

private:
    bool happens(unsigned per_thousand) { return random_() % 1000 < per_thousand; }
    duration travel() {
        if (!happens(faults.delayed)) return 10us;
        return duration(static_cast<duration::rep>(random_() % static_cast<u64>(longest_.count())));
    }
    u32 changed(u32 word) {
        switch (random_() % 6) {
        case 0: return word + 1;
        case 1: return word - 1;
        case 2: return static_cast<u32>(random_() % 300);
        case 3: return word + static_cast<u32>(random_() % 70);
        case 4: return word - static_cast<u32>(random_() % 70);
        default: return random_() % 2 ? 0 : 0xffffffff;
        }
    }
    void carry(const mad_bytes& mad, time_point now) {
        carried c{mad};
        if (happens(faults.cut)) c.size = random_() % 256;
        if (happens(faults.foreign)) {
            static constexpr std::size_t own[]{0, 1, 2, 3, 8, 11, 12, 15, 26}; // the bytes that identify a transfer
            const std::size_t byte = own[random_() % std::size(own)];
            c.bytes[byte] ^= byte == 26 ? active : static_cast<u8>(1u << random_() % 8);
        }
        if (happens(faults.changed)) {
            c.is_changed = true;
            for (int i = random_() % 4 == 0 ? 2 : 1; i > 0; --i) change(c.bytes);
        }
        put(c, now);
    }

    std::mt19937_64& random_;
    duration longest_;
    std::multimap<time_point, carried> under_way_;
};

// ---- a transfer -----------------------------------------------------------------------------------------------------------

class transfer {
public:
    explicit transfer(u64 seed) : random_(seed) {}

    u64 run();

private:
    u32 below(u32 n) { return static_cast<u32>(random_() % n); }
    bool one_in(u32 n) { return below(n) == 0; }

    void choose();
    rmpp_timing timing();
    std::vector<u8> some_message();
    void announce(mad_bytes&) const;
    void poll_sender();
    void poll_receiver();
    void deliver();
    void deliver_to_receiver(const carried&);
    void meddle();
    void forge();
    static void keep(std::deque<mad_bytes>& latest, const mad_bytes& mad) {
        latest.push_back(mad);
        if (latest.size() > 8) latest.pop_front();
    }
    void read_clock();
    time_point next_look();
    void heal();
    void check_sender();
    void check_receiver();
    void check_end();
    [[noreturn]] void wrong(const char* what) {
        FAIL(what << ", at step " << steps_ << ", " << now_.time_since_epoch().count() << " ns; sender: state "
                  << static_cast<int>(sender_->state()) << " status " << static_cast<int>(sender_->status())
                  << " acknowledged " << sender_->acknowledged() << " of " << sender_->segments()
                  << "; receiver: state " << (receiver_ ? static_cast<int>(receiver_->state()) : -1) << " status "
                  << (receiver_ ? static_cast<int>(receiver_->status()) : -1));
        std::abort();
    }
    void expect(bool holds, const char* what) {
        if (!holds) wrong(what);
    }

    std::mt19937_64 random_;
    std::size_t header_ = sa_header;
    std::vector<u8> message_;
    rmpp_receiver_options receiving_;
    rmpp_sender_options sending_;
    std::optional<rmpp_sender> sender_;
    std::optional<sender_model> expected_sender_;
    std::optional<rmpp_receiver> receiver_;
    std::optional<receiver_model> expected_receiver_;
    std::optional<wire> there_, back_;
    std::deque<mad_bytes> latest_there_, latest_back_; // a few of the latest MADs
    time_point now_{};
    u64 steps_ = 0;
    u64 data_sent_ = 0;
    u32 granted_ = 1; // the highest NewWindowLast in any MAD to the sender
    bool is_tampered_ = false, is_aborted_ = false, was_taken_ = false;
    bool meddles_ = false;
    enum class announcement : u8 { data, fields, nothing } announces_{};
    unsigned blocked_ = 0; // per thousand polls of what an end has to send
    u64 heals_at_ = 0;     // step number
    u32 late_ones_ = 0;    // MADs that arrive after the end
    bool is_healed_ = false;
    time_point must_be_over_ = time_point::max();
};

rmpp_timing transfer::timing() {
    rmpp_timing t;
    t.response = std::chrono::microseconds(200 + below(3000));
    t.retries = below(10);
    t.total = one_in(4) ? duration(std::chrono::milliseconds(1 + below(60))) : duration(1h);
    if (one_in(50)) t.total = duration::max();
    return t;
}

std::vector<u8> transfer::some_message() {
    const auto segment = static_cast<u32>(256 - header_);
    const u32 sizes[]{
        0,           1,           segment - 1,        segment, segment + 1, 2 * segment, below(10) * segment,
        below(2000), below(2000), below(60) * segment};
    const u32 size = one_in(20) ? below(300) * segment + below(3) : sizes[below(10)];
    std::vector<u8> m(header_ + size);
    for (u8& byte : m) byte = static_cast<u8>(random_());
    m[0] = 1;
    m[1] = header_ == vendor_header ? 0x30 : 3;
    m[3] = one_in(3) ? 0x14 : 0x92;
    if (one_in(2)) m[26] = not_reported << 3;
    else m[26] = static_cast<u8>((m[26] & 0x7f) | (m[26] & 7)); // up to 268 ms
    return m;
}

void transfer::choose() {
    static constexpr std::size_t headers[]{sa_header, sa_header, sa_header, vendor_header, 36, 200, 255};
    header_ = headers[below(std::size(headers))];
    message_ = some_message();
    sending_.timing = timing();
    sending_.first_window = one_in(2) ? 1 : below(80);
    sending_.double_sided = one_in(3);
    receiving_.timing = timing();
    receiving_.window = one_in(3) ? 64 : below(67);
    if (one_in(6)) { // about the size of the message
        const u32 about = one_in(2) ? 1 : 600;
        receiving_.max_message = message_.size() + below(2 * about + 1) - std::min<std::size_t>(about, message_.size());
    }
    granted_ = std::max(sending_.first_window, 1u);

    wire_faults f;
    if (!one_in(5)) {
        const unsigned most[]{10, 100, 400};
        const unsigned some = most[below(3)];
        f = {below(some), below(some), below(some), below(some) / 4, below(some) / 4, 0};
        if (one_in(2)) f.changed = below(some) / 2;
        meddles_ = one_in(2);
        blocked_ = one_in(3) ? below(800) : 0;
    }
    using enum announcement;
    static constexpr announcement ways[]{data, data, data, fields, nothing, nothing};
    announces_ = ways[below(std::size(ways))];
    late_ones_ = one_in(3) ? below(20) : 0;
    const duration longest =
        one_in(2) ? duration(100us) : 2 * std::max(sending_.timing.response, receiving_.timing.response);
    there_.emplace(random_, longest);
    back_.emplace(random_, longest);
    there_->faults = back_->faults = f;
    if (one_in(30)) (one_in(2) ? there_ : back_)->faults.lost = 1000;
    heals_at_ = one_in(4) ? ~u64{0} : below(one_in(3) ? 100 : 1500);

    sender_.emplace(message_, header_, now_, sending_);
    expected_sender_.emplace(message_, header_, now_, sending_);
    check_sender();
}

// expected state of each end after each call

void transfer::check_sender() {
    ++steps_;
    const rmpp_sender& s = *sender_;
    sender_model& m = *expected_sender_;
    expect(s.state() == m.state() && m.take_status(s.status()), "the sender's state");
    expect(s.failed_by_peer() == m.failed_by_peer(), "who failed, by the sender");
    expect(s.next_deadline() == m.next_deadline(), "the sender's deadline");
    expect(s.has_packet() == m.has_packet(), "whether the sender has to send something");
    expect(s.segments() == m.segments() && s.acknowledged() == m.acknowledged(), "the sender's segments");
    if (is_tampered_) return;
    expect(s.acknowledged() == 0 || (expected_receiver_ && s.acknowledged() <= expected_receiver_->in_order()),
           "the sender takes for acknowledged what never arrived");
    if (s.state() == rmpp_state::complete)
        expect(receiver_ && receiver_->state() == rmpp_state::complete, "a message is acknowledged and not there");
}

void transfer::check_receiver() {
    ++steps_;
    if (!receiver_) return;
    rmpp_receiver& r = *receiver_;
    receiver_model& m = *expected_receiver_;
    if (const char* what = difference(r, m)) wrong(what);
    if (was_taken_ || r.state() != rmpp_state::complete || one_in(3)) return; // at once or later
    was_taken_ = true;
    const std::vector<u8> got = r.take_message();
    expect(got == m.message(), "another message than arrived");
    expect(got.size() <= receiving_.max_message, "a message longer than allowed");
    expect(got.capacity() <= 2 * (got.size() + 64 * 256), "more memory than what arrived needs");
    if (is_tampered_) return;
    std::vector<u8> sent = message_;
    std::copy_n(got.begin() + 24, 12, sent.begin() + 24); // the RMPP header
    // For a request, the transport sets its half of the transaction ID.
    if (message_[3] & 0x80) std::copy_n(got.begin() + 8, 4, sent.begin() + 8);
    expect(got == sent, "another message than was sent");
}

void transfer::check_end() {
    if (sender_->state() == rmpp_state::more) wrong("the sender never ends");
    if (!receiver_) return;
    if (receiver_->state() == rmpp_state::more) wrong("the receiver never ends");
    if (is_tampered_ || is_aborted_) return;
    const auto is_honest = [](RMPPStatus s) {
        return s == RMPPStatus::Normal || s == RMPPStatus::TotalTimeTooLong || s == RMPPStatus::TooManyRetries;
    };
    const bool fits = message_.size() <= receiving_.max_message;
    if (fits) expect(is_honest(sender_->status()) && is_honest(receiver_->status()), "a fault where none was");
    else expect(receiver_->state() == rmpp_state::failed, "a message arrived that is too long");
    // Each retry sends at most one window.
    const u64 repeated = data_sent_ - std::min<u64>(data_sent_, sender_->segments());
    expect(repeated <= expected_sender_->expiries() * std::max(64u, sending_.first_window),
           "segments are sent too often");
}

// random events

/// The first segment can announce the total length in other ways, too: not at all, or the length of all fields
/// including padding.
void transfer::announce(mad_bytes& mad) const {
    if (announces_ == announcement::data || get_u32(&mad[28]) != 1 || (mad[26] & (first | last)) != first) return;
    put_u32(&mad[32], announces_ == announcement::fields ? sender_->segments() * fields_of_segment : 0);
}

void transfer::poll_sender() {
    // The ACK that turns the direction is polled at once.
    while (sender_->has_packet() && (is_healed_ || below(1000) >= blocked_)) {
        mad_bytes out;
        out.fill(0xee);
        expect(sender_->next_packet(out, now_), "the sender has nothing to send");
        expect(out == expected_sender_->next_packet(now_), "the sender sends another MAD");
        if (out[25] == data_type) {
            ++data_sent_;
            expect(get_u32(&out[28]) <= granted_, "a segment beyond the window");
        }
        announce(out);
        keep(latest_there_, out);
        there_->send(out, now_);
        check_sender();
    }
    mad_bytes none;
    if (!sender_->has_packet()) expect(!sender_->next_packet(none, now_), "the sender sends what it does not have");
}

void transfer::poll_receiver() {
    while (receiver_ && receiver_->has_packet() && (is_healed_ || below(1000) >= blocked_)) {
        mad_bytes out;
        out.fill(0xee);
        expect(receiver_->next_packet(out), "the receiver has nothing to send");
        expect(out == expected_receiver_->next_packet(), "the receiver sends another MAD");
        keep(latest_back_, out);
        back_->send(out, now_);
        check_receiver();
    }
    mad_bytes none;
    if (receiver_ && !receiver_->has_packet())
        expect(!receiver_->next_packet(none), "the receiver sends what it does not have");
}

void transfer::deliver_to_receiver(const carried& c) {
    const std::span<const u8> mad = std::span(c.bytes).first(c.size);
    expect(rmpp_receiver::begins(mad) ==
                   (c.size == 256 && (c.bytes[1] == 3 || c.bytes[1] == 0x30) &&
                    (c.bytes[26] & (active | first)) == (active | first) && c.bytes[25] == data_type) ||
               c.bytes[1] != message_[1],
           "what begins a transfer");
    if (receiver_) {
        receiver_->feed(mad, now_);
        expected_receiver_->feed(mad, now_);
    } else {
        // The caller knows transactions. Any MAD of this transaction can be its first one.
        if (c.size != 256 || (c.bytes[26] & active) == 0 ||
            !std::equal(mad.begin(), mad.begin() + 4, message_.begin()) ||
            !std::equal(mad.begin() + 8, mad.begin() + 16, message_.begin() + 8))
            return;
        receiver_.emplace(mad, header_, now_, receiving_);
        expected_receiver_.emplace(c.bytes, header_, now_, receiving_);
    }
    is_tampered_ = is_tampered_ || c.is_changed;
    check_receiver();
}

void transfer::deliver() {
    while (const auto c = there_->receive(now_)) {
        deliver_to_receiver(*c);
        poll_receiver();
    }
    while (const auto c = back_->receive(now_)) {
        const std::span<const u8> mad = std::span(c->bytes).first(c->size);
        granted_ = std::max(granted_, get_u32(&c->bytes[32]));
        is_tampered_ = is_tampered_ || c->is_changed;
        sender_->feed(mad, now_);
        expected_sender_->feed(mad, now_);
        check_sender();
        poll_sender();
    }
}

void transfer::read_clock() {
    sender_->on_time(now_);
    expected_sender_->on_time(now_);
    check_sender();
    if (!receiver_) return;
    receiver_->on_time(now_);
    expected_receiver_->on_time(now_);
    check_receiver();
}

/// An end aborts, or a MAD arrives that neither end sent.
void transfer::meddle() {
    if (!meddles_ || is_healed_) return;
    if (one_in(60)) {
        const RMPPStatus why = ending_statuses[below(static_cast<u32>(ending_statuses.size()))];
        is_aborted_ = true;
        if (one_in(2)) {
            sender_->abort(why);
            expected_sender_->abort(why);
            check_sender();
        } else if (receiver_) {
            receiver_->abort(why);
            expected_receiver_->abort(why);
            check_receiver();
        }
    }
    if (there_->faults.changed != 0 && one_in(8)) forge();
}

/// Sends a modified copy of one of the latest MADs of an end.
void transfer::forge() {
    const auto& latest = one_in(2) && !latest_back_.empty() ? latest_back_ : latest_there_;
    if (latest.empty()) return;
    carried c{latest[below(static_cast<u32>(latest.size()))]};
    c.is_changed = true;
    for (u32 i = one_in(2) ? 1 : 1 + below(4); i > 0; --i) there_->change(c.bytes);
    if (one_in(8)) c.bytes[25] = one_in(2) ? data_type : ack_type;
    if (one_in(8)) c.bytes[3] ^= 0x80; // as if the other end had sent it
    const bool is_for_receiver = c.bytes[3] == message_[3];
    (is_for_receiver ? there_ : back_)->put(c, now_);
}

/// Returns a time: usually when something is due, sometimes before or after.
time_point transfer::next_look() {
    const time_point due = std::min({there_->next(), back_->next(), sender_->next_deadline(),
                                     receiver_ ? receiver_->next_deadline() : time_point::max()});
    if (due == time_point::max() || is_healed_) return due;
    if (one_in(20) && due > now_) return now_ + (due - now_) / 2;
    if (one_in(20)) return due + std::chrono::microseconds(below(500));
    return due;
}

/// From now on nothing is lost. A transfer with enough time left must then end successfully.
void transfer::heal() {
    is_healed_ = true;
    there_->heal(now_);
    back_->heal(now_);
    if (is_tampered_ || is_aborted_ || message_.size() > receiving_.max_message) return;
    if (!there_->is_honest() || !back_->is_honest()) return;
    if (sender_->state() != rmpp_state::more || (receiver_ && receiver_->state() != rmpp_state::more)) return;
    const duration travelling = (sender_->segments() + 4) * 20us;
    // The receiver can time out first. Its ACK contains new information for the sender, which then starts to wait
    // again.
    const rmpp_timing& receiving = receiving_.timing;
    duration response = receiver_ ? expected_receiver_->response() : receiving.response;
    if (const unsigned code = message_[26] >> 3; code != not_reported) // the receiver does not know this value yet
        response = std::max<duration>(response, 4096ns * (u64{1} << code));
    const duration needed = expected_sender_->response() + response + travelling;
    const duration endurance = receiver_ ? expected_receiver_->endurance() : receiving.retries * receiving.response;
    const duration left = receiver_ ? expected_receiver_->total_due() - now_ : receiving.total;
    if (std::min(expected_sender_->endurance(), endurance) <= needed) return;
    if (std::min(expected_sender_->total_due() - now_, left) <= needed) return;
    must_be_over_ = now_ + needed;
}

u64 transfer::run() {
    choose();
    while (true) {
        poll_sender();
        poll_receiver();
        meddle();
        if (!is_healed_ && steps_ >= heals_at_) {
            heal();
            continue;
        }
        const time_point next = next_look();
        if (next > must_be_over_ && must_be_over_ != time_point::max()) {
            expect(sender_->state() == rmpp_state::complete && receiver_ && receiver_->state() == rmpp_state::complete,
                   "a transfer does not end when nothing is lost any more");
            must_be_over_ = time_point::max();
        }
        if (next == time_point::max()) {
            if (!is_healed_) heal();
            if (late_ones_ > 0) { // MADs do not disturb an end that has finished
                --late_ones_;
                forge();
                continue;
            }
            if (sender_->has_packet() || (receiver_ && receiver_->has_packet())) continue;
            break;
        }
        now_ = std::max(now_, next);
        deliver();
        read_clock();
        expect(steps_ < 1'000'000, "a transfer does not end");
    }
    check_end();
    return steps_;
}

// ---- a receiver without a sender ------------------------------------------------------------------------------------------

/// Feeds a few segments, which often contradict each other.
u64 feed_segments(u64 seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](u32 n) { return static_cast<u32>(random() % n); };
    const auto some_segment = [&] {
        const u32 number = 1 + below(6),
                  lengths[]{0, 20 + below(201), 220 * (1 + below(6)), 220 * below(6) + 20 + below(201)};
        const bool is_last = below(4) == 0;
        u8 flags = is_last ? last : 0;
        if ((number == 1) != (below(50) == 0)) flags |= first;
        return segment(number, flags, is_last ? lengths[1] : lengths[below(2) * below(4)]);
    };
    const rmpp_receiver_options options{.window = 1 + below(8)};
    const mad_bytes begin = segment(1, first, below(2) ? 0 : 220 * below(7) + below(220));
    rmpp_receiver receiver(begin, sa_header, at(0s), options);
    receiver_model model(begin, sa_header, at(0s), options);
    const u64 steps = 1 + below(30);
    for (u64 step = 0; step < steps; ++step) {
        if (const char* what = difference(receiver, model)) FAIL(what << ", at step " << step);
        if (below(4) != 0 && receiver.has_packet()) {
            mad_bytes out;
            if (!receiver.next_packet(out) || out != model.next_packet()) FAIL("another MAD, at step " << step);
        }
        const mad_bytes mad = some_segment();
        receiver.feed(mad, at(0s));
        model.feed(mad, at(0s));
    }
    if (const char* what = difference(receiver, model)) FAIL(what << ", at the end");
    if (receiver.state() == rmpp_state::complete && receiver.take_message() != model.message()) FAIL("another message");
    return steps;
}

} // namespace

TEST_CASE("a receiver of contradictory segments behaves like its model") {
    run_model(sanitized ? 50'000 : 200'000, {}, feed_segments);
}

TEST_CASE("sender and receiver of random transfers behave like their models and deliver the message") {
    run_model(sanitized ? 50'000 : 400'000, {}, [](u64 seed) { return transfer(seed).run(); });
}

TEST_CASE("an announced message occupies no memory before its segments arrive") {
    if (sanitized) return;
    const auto in_use = [] {
        const auto m = mallinfo2();
        return m.uordblks + m.hblkhd;
    };
    const auto before = in_use();
    rmpp_receiver r(segment(1, first, 60 << 20), sa_header, at(0s));
    const auto after = in_use();
    REQUIRE(r.state() == rmpp_state::more);
    CHECK(after < before + 65536);
}

} // namespace rmpp_model_test
