// SPDX-License-Identifier: MIT
// print.cpp - the printers: walks over a table and bytes.
#include <comad/iba/enums.hpp>
#include <comad/iba/mad_header.hpp>
#include <comad/iba/print.hpp>
#include <comad/iba/registry.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace comad::iba {

namespace {

using byte_span = std::span<const u8>;

bool is_within(const row_info& row, byte_span bytes) { return row.off + row.bits() <= bytes.size() * 8; }

u64 number(const row_info& row, byte_span bytes, unsigned element = 0) {
    return bits_at(bytes.data(), row.off + element * row.width, row.width);
}

byte_span blob(const row_info& row, byte_span bytes) { return bytes.subspan(row.off / 8, row.count); }

std::string_view text_in(const row_info& row, byte_span bytes) {
    const byte_span all = blob(row, bytes);
    const std::string_view text(reinterpret_cast<const char*>(all.data()), all.size());
    return text.substr(0, text.find('\0'));
}

std::string hex_bytes(byte_span bytes) {
    std::string out = "0x";
    for (u8 byte : bytes) fmt::format_to(std::back_inserter(out), "{:02x}", byte);
    return out;
}

std::string hex_number(const row_info& row, u64 n) { return fmt::format("{:#0{}x}", n, (row.width + 3) / 4 + 2); }

std::string gid_prefix(u64 n) { return fmt::format("{}/64", gid(n, guid{0})); }

std::string gid_text(const row_info& row, byte_span bytes, unsigned element) {
    gid g;
    std::copy_n(bytes.data() + row.off / 8 + element * 16, 16, g.bytes.data());
    return fmt::format("{}", g);
}

/// A structure inside a record: of a nested row, of each element of an array of them, or the attribute in a data area.
struct part {
    std::string name;
    const record_info* info;
    unsigned byte; ///< where it begins in the record
};

std::vector<part> parts_of(const row_info& row, const record_info* data) {
    const unsigned begin = row.off / 8;
    if (row.how == show::data && data && data->bytes <= row.count) return {{std::string(row.name), data, begin}};

    std::vector<part> parts;
    for (unsigned i = 0; row.nested && i < row.count; ++i) {
        std::string name = row.count == 1 ? std::string(row.name) : fmt::format("{}[{}]", row.name, i);
        parts.push_back({std::move(name), row.nested, begin + i * row.nested->bytes});
    }
    return parts;
}

// ---- dotted ---------------------------------------------------------------------------------------------------------

std::string dotted_number(const row_info& row, u64 n) {
    switch (row.how) {
    case show::hex: return hex_number(row, n);
    case show::guid: return fmt::format("{}", guid{n});
    case show::prefix: return gid_prefix(n);
    case show::name: return name_or_number(row.names, n);
    default: return std::to_string(n);
    }
}

std::string dotted_element(const row_info& row, byte_span bytes, unsigned element) {
    if (row.how == show::gid) return gid_text(row, bytes, element);
    return dotted_number(row, number(row, bytes, element));
}

std::string dotted_value(const row_info& row, byte_span bytes) {
    if (row.how == show::text) return "'" + escaped(text_in(row, bytes)) + "'";
    if (row.is_blob()) return hex_bytes(blob(row, bytes));
    if (row.count == 1) return dotted_element(row, bytes, 0);

    std::string list;
    for (unsigned i = 0; i < row.count; ++i)
        list += fmt::format("{}{}:{}", i == 0 ? "[" : ", ", i, dotted_element(row, bytes, i));
    return list + ']';
}

void add_dotted_line(std::string& out, const std::string& path, std::string name, const std::string& value) {
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    fmt::format_to(std::back_inserter(out), "{:.<33}{}\n", path + name + '.', value);
}

void add_dotted(std::string& out, const std::string& path, const record_info& info, byte_span bytes,
                const record_info* data) {
    for (const row_info& row : info.rows) {
        if (row.is_reserved || !is_within(row, bytes)) continue;
        const std::vector<part> parts = parts_of(row, data);
        const bool has_line_per_element = row.count > 1 && row.width > 16;
        for (const part& p : parts) add_dotted(out, path + p.name + '.', *p.info, bytes.subspan(p.byte), nullptr);
        if (!parts.empty()) continue;
        if (!has_line_per_element) {
            add_dotted_line(out, path, std::string(row.name), dotted_value(row, bytes));
            continue;
        }
        for (unsigned i = 0; i < row.count; ++i)
            add_dotted_line(out, path, fmt::format("{}[{}]", row.name, i), dotted_element(row, bytes, i));
    }
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

std::string json_element(const row_info& row, byte_span bytes, unsigned element) {
    if (row.how == show::gid) return '"' + gid_text(row, bytes, element) + '"';
    const u64 n = number(row, bytes, element);
    if (row.how == show::guid) return fmt::format("\"{}\"", guid{n});
    if (row.width > 32) return '"' + hex_number(row, n) + '"';
    return std::to_string(n);
}

void add_json(std::string& out, const record_info& info, byte_span bytes, const record_info* data);

void add_json_value(std::string& out, const row_info& row, byte_span bytes, const record_info* data) {
    if (const std::vector<part> parts = parts_of(row, data); !parts.empty()) {
        const bool is_list = parts.size() > 1;
        if (is_list) out += '[';
        for (const part& p : parts) {
            if (&p != parts.data()) out += ',';
            add_json(out, *p.info, bytes.subspan(p.byte), nullptr);
        }
        if (is_list) out += ']';
    } else if (row.how == show::text) {
        out += json_quoted(text_in(row, bytes));
    } else if (row.is_blob()) {
        out += '"' + hex_bytes(blob(row, bytes)) + '"';
    } else if (row.count == 1) {
        out += json_element(row, bytes, 0);
    } else {
        for (unsigned i = 0; i < row.count; ++i) out += (i == 0 ? '[' : ',') + json_element(row, bytes, i);
        out += ']';
    }
}

void add_json(std::string& out, const record_info& info, byte_span bytes, const record_info* data) {
    char separator = '{';
    for (const row_info& row : info.rows) {
        if (row.is_reserved || !is_within(row, bytes)) continue;
        fmt::format_to(std::back_inserter(out), "{}\"{}\":", std::exchange(separator, ','), row.name);
        add_json_value(out, row, bytes, data);
    }
    out += separator == '{' ? "{}" : "}";
}

// ---- dump -----------------------------------------------------------------------------------------------------------

/// Writes lines of one word each; items are added in the order of their words.
class dumper {
public:
    explicit dumper(byte_span bytes) : bytes_(bytes) {}

    void add_record(const record_info& info, unsigned base, const record_info* data) {
        for (const row_info& row : info.rows) {
            if (base * 8 + row.off + row.bits() > bytes_.size() * 8) continue;
            const std::vector<part> parts = parts_of(row, data);
            for (const part& p : parts) add_part(p, base);
            if (parts.empty()) add_row(row, base);
            else next_ = base + (row.off + row.bits()) / 8; // words of a data area behind its attribute say nothing
        }
        write_words(std::min<std::size_t>(base + info.bytes, bytes_.size()));
    }

    /// The lines, without zero words and closing lines at the end.
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
        bool is_idle; ///< nothing is lost if it is left out at the end
    };

    void add_part(const part& p, unsigned base) {
        write_words(base + p.byte);
        lines_.push_back({fmt::format("   + {} {}", p.name, p.info->name), false});
        add_record(*p.info, base + p.byte, nullptr);
        lines_.push_back({fmt::format("   - {}", p.name), true});
    }

    void add_row(const row_info& row, unsigned base) {
        const std::string name(row.name);
        const byte_span record = bytes_.subspan(base);
        if (row.how == show::text) {
            add_item(base, row.off, ",", fmt::format("{}='{}'", name, escaped(text_in(row, record))));
        } else if (row.is_blob()) {
            add_item(base, row.off, ",", fmt::format("{}=<{} bytes>", name, row.count));
        } else if (row.count == 1) {
            add_item(base, row.off, ",", name + '=' + value(row, record, 0));
        } else {
            for (unsigned i = 0; i < row.count; ++i) {
                std::string item = fmt::format("{}:{}", i, value(row, record, i));
                if (i == 0) item.insert(0, name + "=[");
                if (i + 1 == row.count) item += ']';
                add_item(base, row.off + i * row.width, i == 0 ? "," : ", ", item);
            }
        }
    }

    static std::string value(const row_info& row, byte_span record, unsigned element) {
        if (row.how == show::gid) return fmt::format("GID('{}')", gid_text(row, record, element));
        const u64 n = number(row, record, element);
        return row.how == show::guid ? fmt::format("GUID('{}')", guid{n}) : std::to_string(n);
    }

    void add_item(unsigned base, unsigned off, std::string_view separator, const std::string& item) {
        write_words(base + off / 32 * 4);
        if (!items_.empty()) items_ += separator;
        items_ += item;
    }

    /// Writes the words before byte `end`, the first of them with the items collected for it.
    void write_words(std::size_t end) {
        while (next_ < end) {
            const unsigned count = static_cast<unsigned>(std::min<std::size_t>(4, end - next_));
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
    unsigned next_ = 0; ///< the first byte that is not in a line yet
};

} // namespace

std::string dotted(const record_info& info, std::span<const u8> bytes, const record_info* data) {
    std::string out;
    add_dotted(out, {}, info, bytes, data);
    return out;
}

std::string json(const record_info& info, std::span<const u8> bytes, const record_info* data) {
    std::string out;
    add_json(out, info, bytes, data);
    return out;
}

std::string dump(const record_info& info, std::span<const u8> bytes, const record_info* data) {
    dumper d(bytes);
    d.add_record(info, 0, data);
    return d.text();
}

std::string dump_mad(std::span<const u8> mad) {
    const record_info words{"", "", static_cast<unsigned>(mad.size()), {}};
    if (mad.size() < wire_size<MADHeader>) return dump(words, mad);
    const auto header = decode<MADHeader>(mad.first<wire_size<MADHeader>>());
    const record_info* format = find_format(header.mgmtClass, header.classVersion);
    if (!format) return dump(words, mad);
    return dump(*format, mad, find_attribute(header.mgmtClass, header.classVersion, header.attributeID));
}

} // namespace comad::iba
