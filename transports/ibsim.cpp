// SPDX-License-Identifier: MIT
// ibsim.cpp - ibsim's datagram protocol (ibsim, include/ibsim.h): attach, exchange MADs, detach.
#include <comad/iba/detail/text.hpp>
#include <comad/mad/detail/system_calls.hpp>
#include <comad/transports/ibsim.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <endian.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>

namespace comad::transports {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr u32 control_magic = 0xdeadbeef;
/// The types of control messages (ibsim, include/ibsim.h).
enum control_type : u32 {
    ctl_error = 0,
    ctl_connect = 1,
    ctl_disconnect = 2,
    ctl_get_nodeinfo = 7,
    ctl_get_portinfo = 8,
    ctl_set_issm = 9,
};

/// Payload of CONNECT in both directions (`struct sim_client_info`), in host byte order.
struct client_info {
    u32 id = 0; ///< the client's own number in the request, its slot in the reply
    u32 qp = 0; ///< 0: QP0 and QP1
    u32 issm = 0;
    char nodeid[32] = {}; ///< node to attach to in the request, attached node in the reply
};
static_assert(sizeof(client_info) == 44);

/// The header of a MAD (`struct sim_request` with the layout of a 64-bit ibsim).
struct request_header {
    u32 dlid; ///< a host-order word whose value is the big-endian LID
    u32 slid; ///< as dlid; 0: the server inserts the port's LID
    u32 dqp;  ///< big-endian, as all following fields
    u32 sqp;
    u32 status; ///< 110: one of our requests could not be delivered
    u32 padding;
    u64 length; ///< length of the MAD
};
static_assert(sizeof(request_header) == 32 && sizeof(request_header) <= mad::headroom);

/// An abstract Unix address: a leading NUL, the name, and the closing NUL, which ibsim includes in the length.
struct address {
    sockaddr_un bytes{};
    socklen_t length = 0;
};

address address_of(const std::string& sockname, const std::string& which) {
    const std::string name = sockname + ':' + which;
    address a;
    if (name.size() + 2 > sizeof a.bytes.sun_path)
        throw std::runtime_error(
            fmt::format("ibsim socket name {} is too long; use a shorter one", iba::as_given(sockname)));
    a.bytes.sun_family = AF_UNIX;
    std::memcpy(a.bytes.sun_path + 1, name.c_str(), name.size() + 1);
    a.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 2);
    return a;
}

const sockaddr* raw(const address& a) noexcept { return reinterpret_cast<const sockaddr*>(&a.bytes); }

[[noreturn]] void fail(int error, const std::string& what) {
    throw std::system_error(error, std::generic_category(), what);
}

mad::unique_fd datagram_socket() {
    mad::unique_fd fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd) fail(errno, "cannot create a unix socket for ibsim");
    return fd;
}

/// Returns an ID that is unique in this process and probably unique elsewhere. It is positive as an int, because the
/// server prints it with %d. It is never 0, which marks a free slot in the server.
u32 likely_unused_id() noexcept {
    static std::atomic<u32> instances{0};
    return static_cast<u32>(::getpid()) << 8 | (instances++ & 0xff);
}

/// Returns whether a MAD is a reply of the SA with RMPPFlags.Active (IBA 13.6.2.1).
bool is_table(std::span<const u8> mad) noexcept { return mad.size() >= 56 && mad[1] == 0x03 && (mad[26] & 1) != 0; }

} // namespace

/// `struct sim_ctl`, in host byte order.
struct ibsim_transport::control_message {
    u32 magic = control_magic;
    u32 client_id = 0;
    u32 type = ctl_error;
    u32 length = 0;
    u8 data[64] = {};
};

/// The two sockets, which are bound to our names and not connected, and the number in these names.
struct ibsim_transport::sockets {
    mad::unique_fd control;
    mad::unique_fd data;
    u32 id;
};

ibsim_options::ibsim_options() {
    const char* const name = std::getenv("IBSIM_SOCKNAME");
    const char* const host = std::getenv("SIM_HOST");
    sockname = name ? name : "sim";
    node = host ? host : "";
}

ibsim_options::ibsim_options(std::string_view place) : ibsim_options() {
    const std::size_t comma = place.find(',');
    if (!place.substr(0, comma).empty()) sockname = place.substr(0, comma);
    if (comma != std::string_view::npos) node = place.substr(comma + 1);
}

// Delegates to another constructor, so that the destructor runs and detaches if attaching fails half-way.
ibsim_transport::ibsim_transport(const ibsim_options& options) : ibsim_transport(bind_sockets(options.sockname)) {
    sockname_ = options.sockname;
    attach(options);
}

ibsim_transport::ibsim_transport(sockets&& bound) noexcept
    : control_(std::move(bound.control)), data_(std::move(bound.data)), id_(bound.id) {}

ibsim_transport::sockets ibsim_transport::bind_sockets(const std::string& sockname) {
    constexpr int tries = 1000;
    for (int i = 0; i < tries; ++i) {
        sockets s{datagram_socket(), datagram_socket(), likely_unused_id()};
        const address data = address_of(sockname, fmt::format("in{}", s.id));
        const address control = address_of(sockname, fmt::format("ctl{}", s.id));
        if (::bind(s.data.get(), raw(data), data.length) == 0 &&
            ::bind(s.control.get(), raw(control), control.length) == 0)
            return s;
        if (errno != EADDRINUSE) fail(errno, "cannot bind a unix socket for ibsim");
    }
    throw std::runtime_error(
        fmt::format("no client name is free at ibsim socket name '{}'; stop some clients", sockname));
}

void ibsim_transport::attach(const ibsim_options& options) {
    const address server = address_of(options.sockname, "ctl");
    if (::connect(control_.get(), raw(server), server.length) != 0)
        fail(errno,
             fmt::format("no ibsim server at socket name '{}' (start ibsim, or set IBSIM_SOCKNAME)", options.sockname));

    control_message answer = connect_as(options.node, options);
    // The error contains no reason. The server looks for a slot before it looks for the node. The default node always
    // exists, so a second request for it distinguishes the two causes.
    const bool refused = answer.type == ctl_error;
    if (refused && !options.node.empty()) answer = connect_as({}, options);
    if (answer.type != ctl_connect)
        throw std::runtime_error(
            fmt::format("all ten client slots of the ibsim server '{}' are in use; stop a client, or "
                        "free a slot with 'X NUMBER' on the console of the server",
                        options.sockname));
    client_info info;
    std::memcpy(&info, answer.data, sizeof info);
    client_id_ = info.id;
    if (refused)
        throw std::runtime_error(
            fmt::format("the ibsim server '{}' has no node '{}' to attach to", options.sockname, options.node));
    node_.assign(info.nodeid, ::strnlen(info.nodeid, sizeof info.nodeid));

    const address peer = address_of(options.sockname, fmt::format("out{}", client_id_));
    if (::connect(data_.get(), raw(peer), peer.length) != 0)
        fail(errno, fmt::format("cannot reach slot {} of the ibsim server '{}'", client_id_, options.sockname));
}

/// Requests a slot at `node`. Returns the server's reply, which is CONNECT or an error.
ibsim_transport::control_message ibsim_transport::connect_as(const std::string& node, const ibsim_options& options) {
    client_info info;
    info.id = id_;
    if (node.size() >= sizeof info.nodeid)
        throw std::runtime_error(fmt::format("ibsim node name {} is too long; must be at most {} characters",
                                             iba::as_given(node), sizeof info.nodeid - 1));
    std::memcpy(info.nodeid, node.c_str(), node.size() + 1);

    control_message message;
    message.type = ctl_connect;
    message.length = sizeof info;
    std::memcpy(message.data, &info, sizeof info);
    if (const int error = converse(message, options.patience))
        fail(error, fmt::format("the ibsim server '{}' does not reply", options.sockname));
    return message;
}

std::array<u8, 64> ibsim_transport::attribute(u32 question) {
    control_message message; // all data are 0, which selects port 0, the attached port
    message.client_id = client_id_;
    message.type = question;
    message.length = sizeof message.data;
    if (const int error = converse(message, 5s)) fail(error, "the ibsim server does not reply");
    if (message.type != question) throw std::runtime_error("the ibsim server sent no attributes of the local port");
    std::array<u8, 64> bytes;
    std::memcpy(bytes.data(), message.data, sizeof bytes);
    return bytes;
}

std::array<u8, 64> ibsim_transport::node_info() { return attribute(ctl_get_nodeinfo); }
std::array<u8, 64> ibsim_transport::port_info() { return attribute(ctl_get_portinfo); }

int ibsim_transport::set_is_sm(bool is_sm) noexcept {
    control_message message;
    message.client_id = client_id_;
    message.type = ctl_set_issm;
    const int flag = is_sm ? 1 : 0;
    message.length = sizeof flag;
    std::memcpy(message.data, &flag, sizeof flag);
    return converse(message, 5s);
}

ibsim_transport::~ibsim_transport() {
    if (client_id_ == detached) return;
    control_message message;
    message.client_id = client_id_;
    message.type = ctl_disconnect;
    converse(message, 1s);
}

/// Sends `message` and replaces it with the server's reply. Returns 0 or an errno: ETIMEDOUT without a reply
/// within `patience`.
///
/// Meanwhile, it reads all MADs from the data socket and keeps them for receive(). The single-threaded server spins
/// while a MAD to this client does not fit, and would never process the control message.
int ibsim_transport::converse(control_message& message, milliseconds patience) noexcept {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    bool sent = false;
    for (;;) {
        if (!sent) {
            sent = ::send(control_.get(), &message, sizeof message, MSG_NOSIGNAL) >= 0;
            if (!sent && errno != EAGAIN) return errno;
        }
        if (sent && ::recv(control_.get(), &message, sizeof message, 0) == sizeof message) return 0;
        u8 early[512];
        for (ssize_t n; (n = ::recv(data_.get(), early, sizeof early, 0)) > 0;) early_.emplace_back(early, early + n);

        const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left <= 0ms) return ETIMEDOUT;
        pollfd events[] = {{control_.get(), static_cast<short>(sent ? POLLIN : POLLOUT), 0}, {data_.get(), POLLIN, 0}};
        ::poll(events, 2, static_cast<int>(left.count()));
    }
}

mad::send_result ibsim_transport::send(const mad::send_request& request) noexcept {
    if (gone_) return {mad::send_state::failed, gone_};
    if (request.size != mad::mad_size) return {mad::send_state::failed, EMSGSIZE};
    const mad::path_headers& path = mad::headers_of(*request.path);
    // ibsim would start the directed part of such a route at our own port, and the wrong node would reply.
    const mad::IBDRPath* const route = mad::directed(*request.path);
    if (route && route->drSLID != iba::permissive_lid) return {mad::send_state::failed, EOPNOTSUPP};
    const bool smp = iba::is_smp(iba::MgmtClass{request.mgmt_class});
    const request_header header{
        .dlid = htobe16(value(path.DLID)),
        .slid = htobe16(value(path.SLID)),
        .dqp = htobe32(smp ? 0 : path.dqpn),
        .sqp = htobe32(smp ? 0 : 1),
        .status = 0,
        .padding = 0,
        .length = htobe64(mad::mad_size),
    };
    u8* const datagram = request.mad - sizeof header;
    std::memcpy(datagram, &header, sizeof header);

    ++mad::detail::system_calls;
    if (::send(data_.get(), datagram, sizeof header + mad::mad_size, MSG_NOSIGNAL) >= 0) {
        wants_writable_ = false;
        return {};
    }
    if (errno == ECONNREFUSED || errno == ECONNRESET || errno == ENOTCONN || errno == EPIPE) gone_ = errno;
    if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) return {mad::send_state::failed, errno};
    wants_writable_ = true;
    return {mad::send_state::would_block};
}

/// Returns the size of the datagram, which may exceed the buffer, or a negative number with errno.
ssize_t ibsim_transport::receive_datagram(std::span<u8> buffer) noexcept {
    if (early_.empty()) {
        ++mad::detail::system_calls;
        return ::recv(data_.get(), buffer.data(), buffer.size(), MSG_TRUNC);
    }
    const std::vector<u8> first = std::move(early_.front());
    early_.pop_front();
    std::copy_n(first.begin(), std::min(first.size(), buffer.size()), buffer.begin());
    return static_cast<ssize_t>(first.size());
}

mad::received ibsim_transport::receive(std::span<u8> buffer) noexcept {
    mad::received r;
    const ssize_t n = receive_datagram(buffer);
    if (n < 0) {
        if (errno == EAGAIN && !gone_) return r;
        r.state = mad::receive_state::failed;
        r.error = gone_ ? gone_ : errno;
        return r;
    }
    r.state = mad::receive_state::message;
    const auto size = static_cast<std::size_t>(n); // size of the datagram, even if the buffer is smaller
    request_header header;
    if (size < sizeof header || buffer.size() < sizeof header) return r;
    std::memcpy(&header, buffer.data(), sizeof header);
    r.status = be32toh(header.status);
    r.mad = buffer.subspan(sizeof header, std::min(size, buffer.size()) - sizeof header);
    // OpenSM as a client of the preload library leaves segmentation to a kernel, which does not exist here. Only the
    // first 256 bytes of a table arrive, and only this header field contains the table's length. A longer table
    // arrives without its last segment.
    const u64 table_size = be64toh(header.length);
    if (is_table(r.mad) && table_size >= 56 && table_size < r.mad.size())
        r.mad = r.mad.first(static_cast<std::size_t>(table_size));
    r.full_size = buffer.size() < size ? size - sizeof header : r.mad.size();
    r.source.SLID = iba::lid{be16toh(static_cast<u16>(header.slid))};
    r.source.sqpn = be32toh(header.sqp);
    return r;
}

std::optional<mad::time_point> ibsim_transport::next_event() const noexcept {
    if (gone_ || !early_.empty()) return mad::time_point{}; // receive() has a message or an error
    return std::nullopt;
}

std::string ibsim_transport::name() const { return fmt::format("ibsim server '{}'", sockname_); }

mad::transport_limits ibsim_transport::limits() const noexcept {
    // The server is a process that must be scheduled like any other.
    return {.max_window = 4096, .smi = true, .timer_resolution = std::chrono::milliseconds(5), .kernel_rmpp = false};
}

} // namespace comad::transports
