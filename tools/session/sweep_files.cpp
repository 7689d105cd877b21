// SPDX-License-Identifier: MIT
// sweep_files.cpp - reads sweep files piece by piece, and adds sweeps to them.
#include "session/sweep_files.hpp"

#include "comad.hpp"
#include "session/calendar_time.hpp"
#include "text/output.hpp"
#include "text/waiting_write.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ibtool {

using comad::mad::unique_fd;
using counters::saved_sweep;
using counters::sweep_file_error;
using counters::sweep_file_reader;

namespace {

[[noreturn]] void refuse_sweep_file(const std::string& file, std::string_view action, std::string_view why) {
    throw std::runtime_error(fmt::format("cannot {} the sweep file '{}': {}", action, iba::escaped(file), why));
}

/// Everything that a sweep file contains, except the sweeps before the last one.
struct file_contents {
    sweep_file_reader reader;
    std::optional<saved_sweep> last;
    std::optional<sweep_file_error> damage;
};

/// Reads an open file to its end, or to a maximum length. `action`: for messages.
file_contents contents_of(int descriptor, const std::string& file, std::string_view action,
                          u64 most = std::numeric_limits<u64>::max()) {
    file_contents all;
    std::string buffer(std::size_t{1} << 20, '\0');
    try {
        for (u64 at = 0; at < most;) {
            const auto wanted = static_cast<std::size_t>(std::min<u64>(buffer.size(), most - at));
            const ssize_t got = ::pread(descriptor, buffer.data(), wanted, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) refuse_sweep_file(file, action, std::strerror(errno));
            if (got == 0) break;
            at += static_cast<u64>(got);
            all.reader.take(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
            while (auto found = all.reader.next()) all.last = std::move(found);
        }
        all.reader.finish();
    } catch (const sweep_file_error& e) {
        all.damage = e;
    }
    return all;
}

void require_regular(int descriptor, const std::string& file, std::string_view action) {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode))
        refuse_sweep_file(file, action, "it is not a regular file");
}

void check_fabric(const discovery::subnet& now, const discovery::subnet& then, const std::string& file,
                  std::string_view action) {
    if (counters::is_same_fabric(now, then)) return;
    refuse_sweep_file(file, action,
                      fmt::format("it is of another fabric: fewer than half of its {} nodes are in this subnet of {} "
                                  "nodes",
                                  then.nodes.size(), now.nodes.size()));
}

mad::duration as_duration(double seconds) {
    return mad::duration(static_cast<mad::duration::rep>(std::llround(seconds * 1e9)));
}

constexpr std::string_view to_read = "read", to_extend = "add sweeps to";

} // namespace

// ---- --since ---------------------------------------------------------------------------------------------------------

earlier_run::earlier_run(const std::string& file) : file_(file) {
    const unique_fd in(iba::open_to_read(file));
    if (!in) throw iba::cannot_read(file);
    require_regular(in.get(), file, to_read);
    file_contents all = contents_of(in.get(), file, to_read);
    if (!all.last) refuse_sweep_file(file, to_read, all.damage ? all.damage->what() : "it contains no sweep");
    last_ = std::move(*all.last);
    if (all.damage)
        print_message("the sweep file '{}' is damaged: {}; its last complete sweep, number {}, is used",
                      iba::escaped(file), all.damage->what(), last_.number);
}

void earlier_run::check(const discovery::subnet& now) const {
    check_fabric(now, *last_.subnet, file_, to_read);
    check_time(as_duration(calendar_time()));
}

void earlier_run::check_time(mad::duration now) const {
    if (last_.values.begin.time_since_epoch() >= now)
        refuse_sweep_file(
            file_, to_read,
            "its last sweep is dated in the future: it was made in virtual time, or the clock of this machine is "
            "wrong");
}

earlier_run::compared earlier_run::before(const counters::sweep& now, const discovery::subnet& subnet_now,
                                          double unix_begin, const node_choice& wants) const {
    const mad::duration began = as_duration(unix_begin);
    check_time(began);
    compared made{align_to(now, subnet_now, last_.values, *last_.subnet), {}};
    shift_times(made.before, now.begin.time_since_epoch() - began);
    made.about.file = file_;
    made.about.number = last_.number;
    made.about.unix_time = comad::mad::in_seconds(last_.values.begin.time_since_epoch());
    made.about.seconds = unix_begin - made.about.unix_time;
    made.about.new_ports = new_ports(now, subnet_now, last_.values, *last_.subnet);
    made.about.gone_ports = gone_ports(subnet_now, last_.values, *last_.subnet, wants);
    prepare_comparison(now, made.before, made.about);
    return made;
}

// ---- --save ----------------------------------------------------------------------------------------------------------

sweep_saver::sweep_saver(std::string file) : file_(std::move(file)) {
    if (::access(file_.c_str(), F_OK) != 0 && errno == ENOENT) return;
    open();
    struct stat found {};
    if (::fstat(opened_.get(), &found) == 0 && found.st_size == 0) { // replaced as if it did not exist
        opened_.reset();
        return;
    }
    file_contents all = contents_of(opened_.get(), file_, to_extend);
    size_ = all.reader.complete_bytes();
    if (all.damage && !all.damage->is_truncated)
        refuse_sweep_file(file_, to_extend, fmt::format("{}; save to another file", all.damage->what()));
    if (all.damage) {
        print_message("the sweep file '{}' is damaged: {}; the next sweep replaces the incomplete one",
                      iba::escaped(file_), all.damage->what());
        all = contents_of(opened_.get(), file_, to_extend, size_); // the state after the last complete sweep
    }
    if (all.last) last_subnet_ = all.last->subnet;
    writer_ = counters::sweep_file_writer(all.reader.state());
}

/// Opens and locks the existing file.
void sweep_saver::open() {
    opened_ = unique_fd(::open(file_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!opened_) refuse_sweep_file(file_, to_extend, std::strerror(errno));
    require_regular(opened_.get(), file_, to_extend);
    if (::flock(opened_.get(), LOCK_EX | LOCK_NB) != 0)
        refuse_sweep_file(file_, to_extend,
                          errno == EWOULDBLOCK ? "another program adds sweeps to it" : std::strerror(errno));
}

void sweep_saver::check(const discovery::subnet& now) const {
    if (last_subnet_) check_fabric(now, *last_subnet_, file_, to_extend);
    if (!opened_) require_replaceable(file_); // an open file can be written
}

/// Returns whether the name no longer refers to the open file. Sweeps added to the open file would then be hard to find.
bool sweep_saver::was_moved() const {
    struct stat opened {
    }, named{};
    if (!opened_ || ::fstat(opened_.get(), &opened) != 0) return false;
    if (::stat(file_.c_str(), &named) != 0) return errno == ENOENT;
    return opened.st_ino != named.st_ino || opened.st_dev != named.st_dev;
}

void sweep_saver::add(const counters::sweep& s, const discovery::subnet& in, double unix_begin) {
    if (was_moved()) {
        sweep_saver named(file_);
        named.check(in); // before this object uses the file
        *this = std::move(named);
        print_message("the sweep file '{}' was moved or deleted; this sweep goes to a new file, or to the one that now "
                      "has the name",
                      iba::escaped(file_));
    }
    counters::sweep_file_writer next = writer_; // stays as it is if the records cannot be written
    std::string records = next.add(s, in, as_duration(unix_begin));
    if (!opened_) {
        records.insert(0, counters::sweep_file_writer::header());
        replace_file(records, file_);
        open();
    } else {
        const int end = opened_.get();
        int error = ::ftruncate(end, static_cast<off_t>(size_)) == 0 && ::lseek(end, 0, SEEK_END) >= 0 ? 0 : errno;
        if (error == 0) error = write_waiting(end, records);
        if (error == 0 && ::fdatasync(end) != 0 && errno != EINVAL) error = errno;
        if (error != 0) {
            [[maybe_unused]] const int restored = ::ftruncate(end, static_cast<off_t>(size_));
            refuse_sweep_file(file_, to_extend,
                              fmt::format("{}; the earlier sweeps are unchanged", std::strerror(error)));
        }
    }
    size_ += records.size();
    writer_ = std::move(next);
}

} // namespace ibtool
