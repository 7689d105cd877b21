// SPDX-License-Identifier: MIT
// file_server.cpp - translates FUSE calls (libfuse3, low-level API) to calls of kernel_port::file. Uses one thread: a call that has to
// wait is stored with its request, and completed when its event arrives.
#include "vumad/file_server.hpp"

#ifdef IBTOOL_HAS_FUSE
#define FUSE_USE_VERSION 35
#include "comad.hpp"
#include "vumad/caller.hpp"
#include "vumad/file_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fuse3/fuse_lowlevel.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ibtool {
namespace {

using kernel_file = vumad::kernel_port::file;

constexpr double for_ever = 3600;   // seconds for which the kernel may cache names and modes
constexpr unsigned most_calls = 64; // in one turn, before arrived MADs are delivered
constexpr off_t usual_size = 4096;  // st_size of files in sysfs
// Bytes that one FUSE call always has space for. FUSE limits the pages of a call, may use the first page only partly, and splits longer
// calls.
constexpr std::size_t most_at_once = std::size_t{255} << 12;

/// An open file of a program.
struct opened_file {
    file_tree::kind what;
    std::size_t port;
    std::string text{};                    // contents of a described file
    std::unique_ptr<kernel_file> device{}; // null unless the file is a umad device
    struct reader {
        fuse_req_t request;
        std::size_t size;
        off_t begin;
    };
    std::deque<reader> readers{};
    fuse_pollhandle* poll = nullptr;
    bool has_news = false;
    /// The state of a read or write that FUSE splits into pieces.
    struct piece {
        std::vector<u8> bytes{};
        off_t next = 0; // offset of the next piece
        std::size_t whole = 0;
    };
    piece reading{}, writing{};
};

opened_file& opened(const fuse_file_info* f) noexcept { return *reinterpret_cast<opened_file*>(f->fh); }

} // namespace

/// The state of a server, and the handlers that need it.
struct file_server::state {
    state(exported_fabric& f, std::vector<vumad::described_port> ports) : fabric(f), tree(ports) {}

    exported_fabric& fabric;
    file_tree tree;
    fuse_session* session = nullptr;
    fuse_buf buffer{};
    std::vector<u8> bytes;                           // buffer for reads
    std::vector<std::unique_ptr<opened_file>> files; // open files of programs
    std::vector<opened_file*> news;                  // files for which MADs have arrived

    static state& of(fuse_req_t r) noexcept { return *static_cast<state*>(fuse_req_userdata(r)); }
    const file_tree::entry* find(fuse_ino_t ino) const noexcept { return tree.find(ino - FUSE_ROOT_ID); }
    struct stat attributes(std::size_t number) const noexcept;

    void open_described(fuse_req_t, fuse_file_info, const file_tree::entry&);
    void finish_open(fuse_req_t, fuse_file_info&, std::unique_ptr<opened_file>);
    void open_device(fuse_req_t, fuse_file_info, const file_tree::entry&);
    void open_sm(fuse_req_t, fuse_file_info, const file_tree::entry&);
    void read_device(opened_file&, fuse_req_t, std::size_t size, off_t begin, bool may_wait);
    bool read_in_pieces(opened_file&, fuse_req_t, std::size_t whole_size, std::size_t size, off_t begin);
    static void reply(fuse_req_t, std::span<const u8>);
    void answer(opened_file&);
    void close(opened_file&);
};

struct stat file_server::state::attributes(std::size_t number) const noexcept {
    struct stat s {};
    const file_tree::entry& e = *tree.find(number);
    s.st_ino = number + FUSE_ROOT_ID;
    s.st_nlink = 1;
    s.st_uid = ::getuid();
    s.st_gid = ::getgid();
    switch (e.what) {
    case file_tree::kind::directory: s.st_mode = S_IFDIR | 0755; break;
    case file_tree::kind::described: s.st_mode = S_IFREG | 0444, s.st_size = usual_size; break;
    case file_tree::kind::umad:
    case file_tree::kind::issm: s.st_mode = S_IFREG | 0666; break;
    }
    return s;
}

// ---- Opening and closing -------------------------------------------------------------------------------------------

void file_server::state::finish_open(fuse_req_t request, fuse_file_info& f, std::unique_ptr<opened_file> file) {
    opened_file* const kept = files.emplace_back(std::move(file)).get();
    f.direct_io = 1;
    f.fh = reinterpret_cast<std::uint64_t>(kept);
    if (fuse_reply_open(request, &f) == -ENOENT) close(*kept); // the program was interrupted
}

/// Fills a described file with what the SMA reports at this moment.
void file_server::state::open_described(fuse_req_t request, fuse_file_info f, const file_tree::entry& e) {
    const vumad::sysfs_file& described = tree.files()[e.file];
    auto finish = [this, request, f, &described](const vumad::local_attributes* a) mutable {
        if (!a) return (void)fuse_reply_err(request, EIO);
        finish_open(
            request, f,
            std::make_unique<opened_file>(opened_file{file_tree::kind::described, described.port, described.text(*a)}));
    };
    if (described.what == 0) {
        const vumad::local_attributes none;
        return finish(&none);
    }
    fabric.ports()[e.port].local->query_attributes(described.what, finish);
}

void file_server::state::open_device(fuse_req_t request, fuse_file_info f, const file_tree::entry& e) {
    auto file = std::make_unique<opened_file>(opened_file{file_tree::kind::umad, e.port});
    file->device = fabric.ports()[e.port].kernel->open();
    file->device->on_arrival([this, own = file.get()] {
        if (!std::exchange(own->has_news, true)) news.push_back(own);
    });
    f.nonseekable = 1;
    finish_open(request, f, std::move(file));
}

void file_server::state::open_sm(fuse_req_t request, fuse_file_info f, const file_tree::entry& e) {
    if (fabric.ports()[e.port].kernel->claim_sm()) {
        f.nonseekable = 1;
        finish_open(request, f, std::make_unique<opened_file>(opened_file{file_tree::kind::issm, e.port}));
    } else {
        fuse_reply_err(request, EAGAIN);
    }
}

void file_server::state::close(opened_file& file) {
    if (file.what == file_tree::kind::issm) fabric.ports()[file.port].kernel->give_up_sm();
    for (const opened_file::reader& r : file.readers) fuse_reply_err(r.request, ENODEV);
    if (file.poll) fuse_pollhandle_destroy(file.poll);
    std::erase(news, &file);
    std::erase_if(files, [&](const auto& f) { return f.get() == &file; });
}

// ---- Reading -------------------------------------------------------------------------------------------------------

void file_server::state::reply(fuse_req_t request, std::span<const u8> data) {
    fuse_reply_buf(request, reinterpret_cast<const char*>(data.data()), data.size());
}

void file_server::state::read_device(opened_file& file, fuse_req_t request, std::size_t size, off_t begin,
                                     bool may_wait) {
    if (bytes.size() < size) bytes.resize(size);
    const std::span<u8> room = std::span(bytes).first(size);
    const std::ptrdiff_t got = file.device->read(room);
    if (got >= 0) return reply(request, room.first(static_cast<std::size_t>(got)));
    if (got == -EAGAIN && may_wait) return file.readers.push_back({request, size, begin});
    if (got == -ENOSPC) {
        ib_user_mad_hdr header;
        std::memcpy(&header, room.data(), sizeof header); // contains the length of the message
        if (size >= most_at_once && read_in_pieces(file, request, header.length, size, begin)) return;
        // For a message that does not fit, the kernel's device copies the start, whose header contains the length. An error reply of FUSE
        // cannot carry data, so this process writes into the program's memory.
        const pid_t thread = fuse_req_ctx(request)->pid;
        const auto call = call_of(thread, SYS_read);
        const std::size_t copied = std::min(size, sizeof(ib_user_mad_hdr) + comad::mad::mad_size);
        if (call && call->size == size) write_to(thread, call->buffer, room.first(copied));
    }
    fuse_reply_err(request, static_cast<int>(-got));
}

/// Replies with the first piece of a message that fits into the buffer of the program, but not into one FUSE call. Returns false if the
/// program's buffer is too small as well.
bool file_server::state::read_in_pieces(opened_file& file, fuse_req_t request, std::size_t whole_size, std::size_t size,
                                        off_t begin) {
    const auto call = call_of(fuse_req_ctx(request)->pid, SYS_read);
    if (!call || call->size < whole_size) return false;
    std::vector<u8> whole(whole_size);
    const std::ptrdiff_t got = file.device->read(whole);
    if (got <= 0) return false;
    reply(request, std::span(whole).first(size));
    file.reading = {{whole.begin() + static_cast<std::ptrdiff_t>(size), whole.begin() + got},
                    begin + static_cast<off_t>(size)};
    return true;
}

/// Completes reads and polls of a file for which a MAD has arrived.
void file_server::state::answer(opened_file& file) {
    file.has_news = false;
    while (!file.readers.empty() && file.device->is_readable()) {
        const opened_file::reader next = file.readers.front();
        file.readers.pop_front();
        read_device(file, next.request, next.size, next.begin, true);
    }
    if (!file.device->is_readable() || !file.poll) return;
    fuse_lowlevel_notify_poll(file.poll);
    fuse_pollhandle_destroy(std::exchange(file.poll, nullptr));
}

namespace {

/// Completes a read() with EINTR when the waiting program gets a signal.
void interrupt(fuse_req_t request, void* file) {
    auto& readers = static_cast<opened_file*>(file)->readers;
    const auto waits = std::ranges::find(readers, request, &opened_file::reader::request);
    if (waits == readers.end()) return;
    readers.erase(waits);
    fuse_reply_err(request, EINTR);
}

} // namespace

// ---- FUSE calls ----------------------------------------------------------------------------------------------------

namespace {

using serving = file_server::state;

fuse_entry_param entry_of(const serving& s, std::size_t number) {
    fuse_entry_param e{};
    e.ino = number + FUSE_ROOT_ID;
    e.attr = s.attributes(number);
    e.attr_timeout = e.entry_timeout = for_ever;
    return e;
}

void on_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    const serving& s = serving::of(request);
    const auto found = s.tree.child(parent - FUSE_ROOT_ID, name);
    if (!found) return (void)fuse_reply_err(request, ENOENT);
    const fuse_entry_param e = entry_of(s, *found);
    fuse_reply_entry(request, &e);
}

void on_getattr(fuse_req_t request, fuse_ino_t ino, fuse_file_info*) {
    const serving& s = serving::of(request);
    if (!s.find(ino)) return (void)fuse_reply_err(request, ENOENT);
    const struct stat attributes = s.attributes(ino - FUSE_ROOT_ID);
    fuse_reply_attr(request, &attributes, for_ever);
}

/// Ignores that open(2) truncates the file, as `>` in a shell does.
void on_setattr(fuse_req_t request, fuse_ino_t ino, struct stat*, int, fuse_file_info* f) {
    on_getattr(request, ino, f);
}

void on_readdir(fuse_req_t request, fuse_ino_t ino, std::size_t size, off_t begin, fuse_file_info*) {
    const serving& s = serving::of(request);
    const file_tree::entry* const directory = s.find(ino);
    if (!directory || directory->what != file_tree::kind::directory) return (void)fuse_reply_err(request, ENOTDIR);
    std::vector<std::pair<std::string, std::size_t>> names{{".", ino - FUSE_ROOT_ID}, {"..", directory->parent}};
    for (const std::size_t n : directory->children) names.emplace_back(s.tree.find(n)->name, n);
    std::string text(size, '\0');
    std::size_t used = 0;
    for (auto n = static_cast<std::size_t>(begin); n < names.size(); ++n) {
        const struct stat attributes = s.attributes(names[n].second);
        const std::size_t needs = fuse_add_direntry(request, text.data() + used, size - used, names[n].first.c_str(),
                                                    &attributes, static_cast<off_t>(n + 1));
        if (needs > size - used) break;
        used += needs;
    }
    fuse_reply_buf(request, text.data(), used);
}

void on_open(fuse_req_t request, fuse_ino_t ino, fuse_file_info* f) {
    serving& s = serving::of(request);
    const file_tree::entry* const e = s.find(ino);
    if (!e) return (void)fuse_reply_err(request, ENOENT);
    switch (e->what) {
    case file_tree::kind::directory: return (void)fuse_reply_err(request, EISDIR);
    case file_tree::kind::described: return s.open_described(request, *f, *e);
    case file_tree::kind::umad: return s.open_device(request, *f, *e);
    case file_tree::kind::issm: return s.open_sm(request, *f, *e);
    }
}

void on_release(fuse_req_t request, fuse_ino_t, fuse_file_info* f) {
    serving::of(request).close(opened(f));
    fuse_reply_err(request, 0);
}

void on_read(fuse_req_t request, fuse_ino_t, std::size_t size, off_t begin, fuse_file_info* f) {
    serving& s = serving::of(request);
    opened_file& file = opened(f);
    if (file.what == file_tree::kind::issm) return (void)fuse_reply_err(request, EINVAL);
    if (file.what == file_tree::kind::described) {
        const std::size_t from = std::min(static_cast<std::size_t>(begin), file.text.size());
        fuse_reply_buf(request, file.text.data() + from, std::min(size, file.text.size() - from));
        return;
    }
    if (opened_file::piece& rest = file.reading; !rest.bytes.empty() && rest.next == begin) {
        const auto end = rest.bytes.begin() + static_cast<std::ptrdiff_t>(std::min(size, rest.bytes.size()));
        serving::reply(request, {rest.bytes.begin(), end});
        rest.next += end - rest.bytes.begin();
        rest.bytes.erase(rest.bytes.begin(), end);
        return;
    }
    file.reading = {};
    s.read_device(file, request, size, begin, (f->flags & O_NONBLOCK) == 0);
    if (!file.readers.empty() && file.readers.back().request == request)
        fuse_req_interrupt_func(request, interrupt, &file);
}

/// Returns true if FUSE will pass more data of the same write.
bool is_piece(opened_file::piece& written, fuse_req_t request, std::span<const u8> data, off_t begin) {
    const bool goes_on = !written.bytes.empty() && written.next == begin;
    if (!goes_on) written = {};
    if (!goes_on && data.size() >= most_at_once) {
        const auto call = call_of(fuse_req_ctx(request)->pid, SYS_write);
        if (call && call->size > data.size()) written.whole = call->size;
    }
    if (written.whole == 0) return false;
    written.bytes.insert(written.bytes.end(), data.begin(), data.end());
    written.next = begin + static_cast<off_t>(data.size());
    return written.bytes.size() < written.whole;
}

void on_write(fuse_req_t request, fuse_ino_t, const char* text, std::size_t size, off_t begin, fuse_file_info* f) {
    opened_file& file = opened(f);
    if (!file.device) return (void)fuse_reply_err(request, EINVAL);
    const std::span<const u8> data(reinterpret_cast<const u8*>(text), size);
    if (is_piece(file.writing, request, data, begin)) return (void)fuse_reply_write(request, size);
    const opened_file::piece whole = std::exchange(file.writing, {});
    const std::ptrdiff_t done = file.device->write(whole.bytes.empty() ? data : std::span<const u8>(whole.bytes));
    if (done < 0) fuse_reply_err(request, static_cast<int>(-done));
    else fuse_reply_write(request, size);
}

void on_ioctl(fuse_req_t request, fuse_ino_t, unsigned command, void*, fuse_file_info* f, unsigned, const void* in,
              std::size_t in_size, std::size_t out_size) {
    opened_file& file = opened(f);
    std::array<u8, 64> argument{}; // longer than every argument of the device's ioctls
    if (!file.device || std::max(in_size, out_size) > argument.size()) return (void)fuse_reply_err(request, ENOTTY);
    if (in_size != 0) std::memcpy(argument.data(), in, in_size);
    const int error = file.device->ioctl(command, argument.data());
    if (error != 0) fuse_reply_err(request, error);
    else fuse_reply_ioctl(request, 0, argument.data(), out_size);
}

void on_poll(fuse_req_t request, fuse_ino_t, fuse_file_info* f, fuse_pollhandle* handle) {
    serving& s = serving::of(request);
    opened_file& file = opened(f);
    if (handle) {
        if (file.poll) fuse_pollhandle_destroy(file.poll);
        file.poll = handle;
    }
    unsigned events = POLLOUT;
    if (!file.device || file.device->is_readable()) events |= POLLIN | POLLRDNORM;
    if (file.device && s.fabric.ports()[file.port].kernel->gone() != 0) events = POLLERR;
    fuse_reply_poll(request, events);
}

constexpr fuse_lowlevel_ops all_calls = [] {
    fuse_lowlevel_ops ops{};
    ops.lookup = on_lookup;
    ops.getattr = on_getattr;
    ops.setattr = on_setattr;
    ops.readdir = on_readdir;
    ops.open = on_open;
    ops.release = on_release;
    ops.read = on_read;
    ops.write = on_write;
    ops.ioctl = on_ioctl;
    ops.poll = on_poll;
    return ops;
}();

std::vector<vumad::described_port> described_ports(exported_fabric& fabric) {
    std::vector<vumad::described_port> all;
    for (const exported_port& p : fabric.ports()) all.push_back(p.described);
    return all;
}

} // namespace

file_server::file_server(comad::mad::unique_fd device, exported_fabric& fabric)
    : state_(std::make_unique<state>(fabric, described_ports(fabric))) {
    std::array<char, 7> name{"ibtool"};
    char* argv[] = {name.data(), nullptr};
    fuse_args arguments = FUSE_ARGS_INIT(1, argv);
    state_->session = fuse_session_new(&arguments, &all_calls, sizeof all_calls, state_.get());
    fuse_opt_free_args(&arguments);
    const int number = ::dup(device.get()); // the session closes its own descriptor
    const bool is_set = ::fcntl(number, F_SETFD, FD_CLOEXEC) == 0 && ::fcntl(number, F_SETFL, O_NONBLOCK) == 0;
    if (!state_->session || !is_set ||
        fuse_session_mount(state_->session, fmt::format("/dev/fd/{}", number).c_str()) != 0)
        throw std::runtime_error("libfuse cannot serve the mounted device");
}

file_server::~file_server() {
    for (exported_port& p : state_->fabric.ports()) p.local.reset(); // replies to requests that wait for the local SMA
    while (!state_->files.empty()) state_->close(*state_->files.back());
    if (state_->session) fuse_session_destroy(state_->session);
    std::free(state_->buffer.mem);
}

int file_server::descriptor() const noexcept { return fuse_session_fd(state_->session); }

bool file_server::take_calls() {
    for (unsigned n = 0; n < most_calls; ++n) {
        const int got = fuse_session_receive_buf(state_->session, &state_->buffer);
        if (got == -EAGAIN || got == -EINTR) return true;
        if (got <= 0) return false;
        fuse_session_process_buf(state_->session, &state_->buffer);
    }
    return true;
}

void file_server::answer_waiting() {
    for (opened_file* file : std::exchange(state_->news, {})) state_->answer(*file);
}

bool file_server::is_available() noexcept { return true; }

} // namespace ibtool

#else

#include <stdexcept>

namespace ibtool {

struct file_server::state {};

file_server::file_server(comad::mad::unique_fd, exported_fabric&) {
    throw std::runtime_error("ibtool was built without libfuse3");
}
file_server::~file_server() = default;
int file_server::descriptor() const noexcept { return -1; }
bool file_server::take_calls() { return false; }
void file_server::answer_waiting() {}
bool file_server::is_available() noexcept { return false; }

} // namespace ibtool

#endif
