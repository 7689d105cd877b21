// SPDX-License-Identifier: MIT
// doctor_remedies.hpp - the possible fixes that `doctor` prints, as a table with a text and an ibtool command for each. Findings use only
// this table, so that a test can run all commands.
#pragma once
#include <comad/iba/types.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ibtool {

/// The possible fixes.
enum class remedy_id : comad::u8 {
    load_vendor_driver,
    load_module,
    show_adapters,
    load_ib_umad,
    newer_kernel,
    join_group,
    as_kernel_reports,
    start_sm,
    check_cable,
    enable_port,
    reset_port,
    clean_cable,
    see_sm_log,
    make_mlx5_port_infiniband,
    make_mlx4_port_infiniband,
    other_adapter,
    pass_in_plane_device,
    choose_port,
    see_above,
    choose_or_connect_port,
    see_help,
    lengthen_queues,
    raise_sa_limit,
    see_dmesg,
    check_sm,
    restart_right_sm,
    stop_other_sms,
    correct_sm_priority,
    wait_for_sa,
    restart_sm,
    correct_name_map_file,
    allow_name_map,
    correct_name_map_lines,
};

/// One possible fix. `{NAME}` in both texts is replaced by a value of the finding, `{command}` by the command.
struct remedy_row {
    remedy_id id;
    std::string_view command; ///< command for a shell, starts with `ibtool `; empty: ibtool cannot do this
    std::string_view text;
};
/// Returns the table, in the order of remedy_id.
std::span<const remedy_row> remedy_table() noexcept;

/// The possible fix of a finding.
class remedy {
public:
    using values = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    /// Means that no fix is needed.
    remedy() = default;
    /// Precondition: `v` has a value for each name in the row.
    remedy(remedy_id id, values v = {}); // NOLINT(google-explicit-constructor): a row without values is a remedy

    const std::string& text() const noexcept { return text_; }
    /// Returns the command; empty: ibtool cannot do this.
    const std::string& command() const noexcept { return command_; }
    bool empty() const noexcept { return text_.empty(); }

private:
    std::string text_, command_;
};

} // namespace ibtool
