// SPDX-License-Identifier: MIT
// print_dump.cpp - prints the words of a structure in hex, each with the fields that start in it.
#include "rows.hpp"
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/mad_tables.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace comad::iba {
namespace {

using detail::byte_span;
using detail::part;

std::string value_text(const row_info& row, byte_span record, unsigned element) {
    if (row.how == show::gid) return fmt::format("GID('{}')", detail::format_gid(row, record, element));
    const u64 n = detail::number_in(row, record, element);
    return row.how == show::guid ? fmt::format("GUID('{}')", guid{n}) : std::to_string(n);
}

/// Writes lines of one word each; items are added in the order of their words. Words are counted from the first byte,
/// independent of the start of nested structures. A word that two structures share has a line in each.
class dumper {
public:
    explicit dumper(byte_span bytes) : bytes_(bytes) {}

    void add_record(const record_info& info, unsigned base, const std::string& path, const record_info* data) {
        for (const row_info& row : info.rows) {
            if (base * 8 + row.off + row.bits() > bytes_.size() * 8) continue;
            const std::vector<part> parts = detail::parts_in(info, bytes_.subspan(base), row, data);
            if (parts.empty()) {
                add_row(row, base);
                continue;
            }
            for (const part& p : parts) add_part(p, base, path);
            const unsigned end = base + (row.off + row.bits()) / 8;
            next_ = std::max(next_, (end + 3) / 4 * 4); // words of a data area after its attribute have no meaning
        }
        write_until(base + info.bytes);
    }

    /// Returns the lines, without zero words and closing lines at the end.
    std::string text() const {
        std::size_t count = lines_.size();
        while (count > 0 && lines_[count - 1].is_idle) --count;
        std::string out;
        for (std::size_t i = 0; i < count; ++i) out += lines_[i].text + '\n';
        return out;
    }

private:
    struct line {
        std::string text;
        bool is_idle; ///< the line contains no information and may be omitted at the end
    };

    void add_part(const part& p, unsigned base, const std::string& path) {
        const unsigned begin = base + p.byte;
        write_until(begin);
        lines_.push_back({fmt::format("   + {}{} {}", path, p.name, p.info->name), false});
        add_record(*p.info, begin, path + p.name + '.', nullptr);
        lines_.push_back({fmt::format("   - {}{}", path, p.name), true});
    }

    void add_row(const row_info& row, unsigned base) {
        const byte_span record = bytes_.subspan(base);
        const unsigned off = base * 8 + row.off;
        if (row.how == show::text) {
            add_item(off, ",", fmt::format("{}='{}'", row.name, escaped(detail::text_in(row, record))));
        } else if (row.is_blob()) {
            add_item(off, ",", fmt::format("{}=<{} bytes>", row.name, row.count));
        } else if (row.count == 1) {
            add_item(off, ",", fmt::format("{}={}", row.name, value_text(row, record, 0)));
        } else {
            for (unsigned i = 0; i < row.count; ++i) {
                std::string item = fmt::format("{}:{}", i, value_text(row, record, i));
                if (i == 0) item.insert(0, fmt::format("{}=[", row.name));
                if (i + 1 == row.count) item += ']';
                add_item(off + i * row.width, i == 0 ? "," : ", ", item);
            }
        }
    }

    void add_item(unsigned off, std::string_view separator, const std::string& item) {
        const unsigned word = off / 32 * 4;
        write_until(word);
        next_ = word; // repeats the word if it is already on a line of the previous structure
        if (!items_.empty()) items_ += separator;
        items_ += item;
    }

    /// Writes the words that start before byte `end`. The first one has the items that were collected for it.
    void write_until(std::size_t end) {
        while (next_ < std::min(end, bytes_.size())) {
            const unsigned count = static_cast<unsigned>(std::min<std::size_t>(4, bytes_.size() - next_));
            const u64 word = bits_at(bytes_.data(), next_ * 8, count * 8);
            lines_.push_back(
                {fmt::format("{:3} {:0{}X} {}", next_, word, count * 2, items_), items_.empty() && word == 0});
            items_.clear();
            next_ += count;
        }
    }

    byte_span bytes_;
    std::vector<line> lines_;
    std::string items_;
    unsigned next_ = 0; ///< the first byte that is not on a line yet
};

} // namespace

std::string dump(const record_info& info, std::span<const u8> bytes, const record_info* data) {
    dumper d(bytes);
    d.add_record(info, 0, {}, data);
    return d.text();
}

std::string dump_mad(std::span<const u8> mad) {
    const record_info words{"", "", static_cast<unsigned>(mad.size()), {}};
    const mad_tables tables = tables_of(mad);
    return dump(tables.format ? *tables.format : words, mad, tables.attribute);
}

} // namespace comad::iba
