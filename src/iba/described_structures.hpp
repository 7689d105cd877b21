// SPDX-License-Identifier: MIT
// described_structures.hpp - structures that a text describes at run time, with the memory of their tables.
#pragma once
#include <comad/iba/detail/registry.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comad::iba::detail {

/// A structure and the memory that its table refers to. The memory does not move when the object does.
class described_structure {
public:
    /// The table and its texts.
    struct storage {
        std::string name, source;
        std::vector<std::unique_ptr<std::string>> texts; ///< names of rows and of values
        std::vector<std::unique_ptr<std::vector<enum_name>>> names;
        std::vector<row_info> rows;
        record_info info{};
        std::vector<attribute_use> uses;
        u16 attributeID = 0;

        /// Keeps a text, and returns a view of it that stays valid.
        std::string_view keep(std::string text) {
            return *texts.emplace_back(std::make_unique<std::string>(std::move(text)));
        }
    };
    explicit described_structure(std::unique_ptr<storage> s) : storage_(std::move(s)) {}

    const record_info& info() const noexcept { return storage_->info; }
    structure entry() const noexcept { return {&storage_->info, storage_->attributeID, storage_->uses}; }

private:
    std::unique_ptr<storage> storage_;
};

/// Returns the bytes of a format's data area.
inline unsigned data_area_of(const record_info& format) noexcept {
    for (const row_info& row : format.rows)
        if (row.how == show::data) return row.count;
    return 0;
}

/// Returns the structures that were registered at run time.
std::span<const structure> registered_structures() noexcept;

/// Reads and checks the structures of a TOML or JSON text; see register_structures(). Throws std::runtime_error with one line.
std::vector<described_structure> read_described_structures(std::string_view text, const std::string& name);

} // namespace comad::iba::detail
