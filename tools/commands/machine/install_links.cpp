// SPDX-License-Identifier: MIT
// install_links.cpp - install-links: creates symbolic links to ibtool with the names of infiniband-diags' commands.
#include "comad.hpp"
#include "command.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <vector>

namespace ibtool {
namespace {

namespace fs = std::filesystem;

/// The command line of install-links.
struct install_links_settings {
    std::string directory, target;
    bool list = false, remove = false, dry_run = false, json = false;
};

/// Returns whether the name is a link to ibtool: to the target of a new link, or to another program named ibtool.
bool is_our_link(const fs::path& link, const fs::path& target) {
    std::error_code failed;
    if (!fs::is_symlink(link, failed)) return false;
    const fs::path leads_to = fs::read_symlink(link, failed);
    return leads_to == target || leads_to.filename() == "ibtool";
}

/// Creates, replaces or removes the links in one directory.
class linker {
public:
    explicit linker(const install_links_settings& s) : s_(s), target_(s.target) {
        if (s.target.empty()) target_ = fs::read_symlink("/proc/self/exe");
    }

    int run() {
        if (!fs::is_directory(s_.directory))
            throw std::runtime_error(fmt::format("{} is not a directory", iba::as_given(s_.directory)));
        for (const std::string_view name : names_of_diags()) {
            const fs::path link = fs::path(s_.directory) / name;
            if (s_.remove) remove(link);
            else make(link);
        }
        if (s_.json)
            write_output(json_line({{"schema", "comad.install_links/1"},
                                    {s_.remove ? "removed" : "made", done_},
                                    {"dry_run", s_.dry_run},
                                    {"left", left_}}));
        else
            write_output(fmt::format("{}{} {} {}\n", s_.dry_run ? "would have " : "", s_.remove ? "removed" : "created",
                                     done_, done_ == 1 ? "link" : "links"));
        return left_.empty() ? complete : failed;
    }

private:
    void make(const fs::path& link) {
        std::error_code error;
        if (!is_our_link(link, target_) && fs::exists(fs::symlink_status(link, error)))
            return leave(link, "exists and is not a link to ibtool");
        if (!s_.dry_run) replace(link);
        ++done_;
    }

    /// Replaces a link by renaming a new one, so that the link exists at any time.
    void replace(const fs::path& link) const {
        std::random_device random;
        const fs::path next = fs::path(s_.directory) / fmt::format(".ibtool-{:08x}{:08x}", random(), random());
        fs::create_symlink(target_, next);
        std::error_code error, ignored;
        fs::rename(next, link, error);
        if (!error) return;
        fs::remove(next, ignored);
        throw fs::filesystem_error("cannot create the link", link, error);
    }

    void remove(const fs::path& link) {
        std::error_code error;
        if (!fs::exists(fs::symlink_status(link, error))) return;
        if (!is_our_link(link, target_)) return leave(link, "is not a link to ibtool");
        if (!s_.dry_run) fs::remove(link);
        ++done_;
    }

    void leave(const fs::path& link, std::string_view why) {
        left_.push_back(iba::escaped(link.filename().string()));
        print_message("{} {}; left unchanged", iba::as_given(link.string()), why);
    }

    const install_links_settings& s_;
    fs::path target_;
    unsigned done_ = 0;
    std::vector<std::string> left_;
};

int run_install_links(const install_links_settings& s) {
    if (s.list) {
        std::string names;
        for (const std::string_view name : names_of_diags())
            names += s.json ? json_line({{"link", name}}) : fmt::format("{}\n", name);
        write_output(names);
        return complete;
    }
    if (s.directory.empty()) throw usage_error("no directory given");
    return linker(s).run();
}

} // namespace

command install_links_command() {
    return {.name = "install-links",
            .group = command_group::device,
            .no_sa_reason = "it sends nothing",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<install_links_settings>();
                takes.option("directory", s->directory);
                takes.option("--target", s->target);
                takes.flag("--remove", s->remove);
                takes.flag("--dry-run", s->dry_run);
                takes.flag("--list", s->list);
                takes.flag("--json", s->json);
                return [s](const global_options&) { return run_install_links(*s); };
            }};
}

} // namespace ibtool
