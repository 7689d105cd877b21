// SPDX-License-Identifier: MIT
// described_structures.cpp - makes tables from the values of a structures file, with the checks of compiled tables.
#include "described_structures.hpp"

#include "file_members.hpp"
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

namespace comad::iba::detail {
namespace {

constexpr unsigned largest_structure = 2048; // bytes; positions are 16-bit numbers of bits
constexpr unsigned most_levels = 16; // of nested structures: code that follows tables calls itself for each level

/// Returns `3` or `3.4`, as ibtool describe prints positions.
std::string position_text(unsigned bit) {
    return bit % 8 == 0 ? fmt::format("{}", bit / 8) : fmt::format("{}.{}", bit / 8, bit % 8);
}

/// Returns the levels of structures within each other: 1 for a structure that contains none.
unsigned levels_of(const record_info& info) noexcept {
    unsigned below = 0;
    for (const row_info& row : info.rows)
        if (row.nested) below = std::max(below, levels_of(*row.nested));
    return below + 1;
}

// ---- fields ----

/// A kind of field, and the width of its elements if it has only one.
struct field_kind {
    std::string_view name;
    show how;
    unsigned only_width = 0;
};
constexpr field_kind field_kinds[] = {
    {"integer", show::dec},  {"hex", show::hex},      {"enumeration", show::name}, {"GUID", show::guid, 64},
    {"GID", show::gid, 128}, {"text", show::text, 8}, {"bytes", show::bytes, 8},   {"GID prefix", show::prefix, 64},
    {"reserved", show::dec},
};

class field_reader {
public:
    /// `known`: structures of this text; `s`: keeps the texts.
    field_reader(const std::string& file, described_structure::storage& s,
                 const std::vector<described_structure>& known, bool may_cross_words)
        : file_(file), storage_(s), known_(known),
          words_(may_cross_words ? word_alignment::crossed : word_alignment::kept) {}

    void add(const file_value& field) {
        file_members m(file_, field, storage_.name + ": a field",
                       {"name", "offset", "width", "count", "kind", "enumerators", "mask"});
        const bool is_reserved = is_reserved_kind(m);
        std::string name;
        if (!is_reserved) name = m.identifier("name");
        else if (const file_value* named = m.find("name"))
            m.fail(*named, "a reserved field has no name; remove 'name'");
        row_info row;
        row.off = static_cast<u16>(offset_in(m));
        if (is_reserved) name = fmt::format("reserved_{}", row.off);
        else if (name.starts_with("reserved_"))
            m.fail(field, fmt::format("the name '{}' is for reserved fields; give another name, or the kind 'reserved'",
                                      name));
        m.rename(fmt::format("{}.{}", storage_.name, name));
        for (const row_info& r : storage_.rows)
            if (r.name == name) m.fail(field, "another field has this name; give each field its own name");
        row.name = storage_.keep(std::move(name));
        row.is_reserved = is_reserved;
        if (const file_value* count = m.find("count"))
            row.count = static_cast<u16>(m.number(*count, "count", 1, largest_structure * 8));
        set_kind(m, row);
        set_mask(m, row);
        check(m, row, field);
        storage_.rows.push_back(row);
    }

private:
    static bool is_reserved_kind(const file_members& m) {
        const file_value* kind = m.find("kind");
        const auto* text = kind ? kind->as<std::string>() : nullptr;
        return text && *text == "reserved";
    }

    /// Reads a position: a number of bytes, or a text `BYTE` or `BYTE.BIT`.
    static unsigned offset_in(const file_members& m) {
        const file_value& v = m.required("offset", "the first byte of the field, such as 8 or \"8.4\" with a bit");
        if (const auto* bytes = v.as<std::int64_t>()) {
            if (*bytes < 0 || *bytes >= largest_structure) fail_offset(m, v);
            return static_cast<unsigned>(*bytes) * 8;
        }
        const auto* text = v.as<std::string>();
        if (!text) fail_offset(m, v);
        const std::size_t point = std::min(text->find('.'), text->size());
        const auto byte = parse_digits(std::string_view(*text).substr(0, point), 10);
        const auto bit = point < text->size() ? parse_digits(std::string_view(*text).substr(point + 1), 10)
                                              : std::optional(parsed_number{0, false});
        if (!byte || !bit || byte->value >= largest_structure || bit->value > 7) fail_offset(m, v);
        return static_cast<unsigned>(byte->value * 8 + bit->value);
    }

    [[noreturn]] static void fail_offset(const file_members& m, const file_value& v) {
        m.fail(v, "'offset' must be a byte, such as 8, or a text with the byte and the bit, such as \"8.4\"");
    }

    void set_kind(const file_members& m, row_info& row) {
        const file_value* const given = m.find("kind");
        const bool has_names = m.find("enumerators") != nullptr;
        std::string kind = given ? m.text(*given, "kind") : has_names ? "enumeration" : "integer";
        const auto* known = std::ranges::find(field_kinds, kind, &field_kind::name);
        unsigned only_width = 0;
        if (known != std::end(field_kinds)) {
            row.how = known->how;
            only_width = known->only_width;
        } else {
            row.nested = structure_in(m, *given, kind);
            if (levels_of(*row.nested) >= most_levels)
                m.fail(*given, fmt::format("structures are nested too deeply; the limit is {} levels", most_levels));
            only_width = row.nested->bytes * 8;
        }
        const file_value* const width = m.find("width");
        if (!width && only_width == 0) m.fail(m.line(), "'width' is missing; add the number of bits");
        const u64 bits = width ? m.number(*width, "width", 1, largest_structure * 8) : only_width;
        if (only_width != 0 && bits != only_width)
            m.fail(*width, fmt::format("'width' is {}, but an element of kind {} has {} bits{}", bits, as_given(kind),
                                       only_width, row.is_blob() ? "; 'count' is the number of bytes" : ""));
        row.width = static_cast<u16>(bits);
        if (row.is_reserved) split_reserved(m, row);
        if (has_names != (row.how == show::name))
            m.fail(m.line(), has_names ? "'enumerators' requires the kind 'enumeration'"
                                       : "'enumerators' is missing; add a table of names and numbers");
        if (has_names) set_names(m, row);
    }

    /// A reserved field of more than 64 bits is an array of bytes, as in compiled tables.
    static void split_reserved(const file_members& m, row_info& row) {
        if (row.width > 64 && row.count == 1) {
            if (row.width % 8 != 0 || row.off % 8 != 0)
                m.fail(m.line(), "a reserved field of more than 64 bits must consist of whole bytes; split it");
            row.count = static_cast<u16>(row.width / 8);
            row.width = 8;
        }
        if (row.count > 1 && row.width == 8 && row.off % 8 == 0) row.how = show::bytes;
    }

    const record_info* structure_in(const file_members& m, const file_value& at, const std::string& name) const {
        for (const described_structure& d : known_)
            if (d.info().name == name) return &d.info();
        if (const structure* s = find_structure(name)) return s->info;
        std::vector<std::string_view> names;
        for (const field_kind& k : field_kinds) names.push_back(k.name);
        m.fail(at,
               fmt::format("unknown kind {}; must be {} or the name of a structure that is described before this one",
                           as_given(name), fmt::join(names, ", ")));
    }

    void set_names(const file_members& m, row_info& row) {
        const file_value& v = *m.find("enumerators");
        const auto* all = v.as<file_value::table>();
        if (!all || all->empty()) m.fail(v, "'enumerators' must be a table of names and numbers, such as { Down = 1 }");
        auto& names = *storage_.names.emplace_back(std::make_unique<std::vector<enum_name>>());
        for (const file_member& e : *all) {
            const bool is_printable =
                !e.name.empty() && std::ranges::all_of(e.name, [](char c) { return c >= ' ' && c <= '~'; });
            if (!is_printable)
                m.fail(e.value, fmt::format("invalid enumerator {}; must be printable ASCII", as_given(e.name)));
            const u64 most = row.width >= 64 ? ~u64{0} : low_bits_of(row.width);
            const u64 value = m.number(e.value, e.name, 0, most);
            for (const enum_name& other : names)
                if (other.value == value)
                    m.fail(e.value, fmt::format("the enumerators {} and {} have the same value {}; remove one",
                                                other.name, e.name, value));
            names.push_back({value, storage_.keep(e.name)});
        }
        std::ranges::sort(names, {}, &enum_name::value);
        row.names = names;
    }
    static u64 low_bits_of(unsigned bits) { return (u64{1} << bits) - 1; }

    void set_mask(const file_members& m, row_info& row) {
        const file_value* v = m.find("mask");
        if (!v) return;
        static constexpr std::pair<std::string_view, mask> words[] = {{"one", mask::one},
                                                                      {"two", mask::two},
                                                                      {"each", mask::each},
                                                                      {"with_previous", mask::with_previous},
                                                                      {"none", mask::none}};
        const auto* found = std::ranges::find(words, m.text(*v, "mask"), &std::pair<std::string_view, mask>::first);
        if (found == std::end(words)) m.fail(*v, "'mask' must be one, two, each, with_previous or none");
        row.masked = found->second;
        if (row.masked == mask::with_previous && storage_.rows.empty())
            m.fail(*v, "the first field cannot have the mask bit of the field before it");
    }

    // These are the checks of describe() in table.hpp, at run time.
    void check(const file_members& m, const row_info& row, const file_value& field) const {
        if (row.is_blob() && row.off % 8 != 0) m.fail(field, "must start at a whole byte");
        const bool is_whole = row.nested || row.how == show::gid;
        const member_facts facts{
            row.count, row.nested || row.how == show::gid ? row.width : 64u, is_whole, row.how, row.names, row.nested};
        switch (layout_error_of({row.off, row.bits(), &facts, false}, words_)) {
        case layout_error::none: break;
        case layout_error::narrow:
            m.fail(field, fmt::format("{} bits are too many; a number has at most 64", row.width));
        case layout_error::straddles:
            m.fail(field,
                   "crosses the boundary of a 32-bit word; correct 'offset' or 'width', or set crosses_words = true "
                   "in the structure");
        case layout_error::no_wire_form:
        case layout_error::uneven:
        case layout_error::other_size: m.fail(field, "must start at a whole byte");
        }
    }

    const std::string& file_;
    described_structure::storage& storage_;
    const std::vector<described_structure>& known_;
    const word_alignment words_;
};

// ---- structures ----

class structure_reader {
public:
    structure_reader(const std::string& file, std::vector<described_structure>& known) : file_(file), known_(known) {}

    void add(const file_value& one) {
        file_members m(file_, one, "a structure",
                       {"name", "source", "size", "class", "class_version", "OUI", "attribute", "methods",
                        "crosses_words", "fields"});
        auto s = std::make_unique<described_structure::storage>();
        s->name = m.identifier("name");
        m.rename(s->name);
        if (find_structure(s->name) || is_known(s->name))
            m.fail(one, "another structure has this name; choose another name");
        const file_value* source = m.find("source");
        s->source = source ? m.text(*source, "source") : escaped(file_);
        if (source && s->source.find_first_of("\n\r\t") != s->source.npos) m.fail(*source, "'source' must be one line");
        const auto size = static_cast<unsigned>(
            m.number(m.required("size", "the number of bytes of the structure"), "size", 1, largest_structure));
        read_use(m, *s, size);
        const file_value& fields = m.required("fields", "a list of fields");
        const auto* list = fields.as<file_value::list>();
        if (!list || list->empty()) m.fail(fields, "'fields' must be a list of tables, such as [[structures.fields]]");
        field_reader reader(file_, *s, known_, m.truth("crosses_words"));
        for (const file_value& field : *list) reader.add(field);
        check_rows(m, *s, *list, size);
        s->info = {s->name, s->source, size, s->rows};
        check_mask(m, one, *s);
        known_.emplace_back(std::move(s));
    }

private:
    bool is_known(std::string_view name) const {
        return std::ranges::any_of(known_, [&](const described_structure& d) { return d.info().name == name; });
    }

    void read_use(const file_members& m, described_structure::storage& s, unsigned size) const {
        if (!m.find("attribute")) {
            for (const char* name : {"class", "class_version", "OUI", "methods"})
                if (const file_value* v = m.find(name))
                    m.fail(*v, fmt::format("'{}' requires 'attribute', the ID of the attribute", name));
            return; // a part of other structures
        }
        s.attributeID = static_cast<u16>(m.number(*m.find("attribute"), "attribute", 0, 0xffff));
        attribute_use use{};
        const file_value& in = m.required("class", "the management class, such as 0x0a or \"SubnLID\"");
        use.mgmt_class = class_of(m, in);
        const file_value* version = m.find("class_version");
        use.class_version = version ? static_cast<u8>(m.number(*version, "class_version", 1, 255)) : u8{1};
        const record_info* format = find_format(use.mgmt_class, use.class_version, s.attributeID);
        if (!format && !version) format = find_format(use.mgmt_class, use.class_version = 2, s.attributeID);
        if (!format)
            m.fail(version ? *version : in,
                   fmt::format(
                       "class {:#04x}{} has no known format of MADs; use SubnLID, SubnAdm, Performance, BM, DevMgt, "
                       "CommMgt, SNMP, CongestionControl, or a vendor class 0x09..0x0f or 0x30..0x4f",
                       value(use.mgmt_class),
                       version ? fmt::format(" with version {}", use.class_version) : std::string()));
        if (const unsigned area = data_area_of(*format); size > area)
            m.fail(*m.find("size"), fmt::format("the attribute has {} bytes, but a {} has only {} bytes of data", size,
                                                format->name, area));
        if (const file_value* OUI = m.find("OUI")) {
            if (!is_vendor_oui(use.mgmt_class)) m.fail(*OUI, "only the classes 0x30..0x4f have an OUI; remove 'OUI'");
            use.OUI = static_cast<u32>(m.number(*OUI, "OUI", 1, 0xffffff));
        }
        use.methods = methods_in(m);
        s.uses = {use};
        check_other_uses(m, s, use);
    }

    static MgmtClass class_of(const file_members& m, const file_value& v) {
        const auto* text = v.as<std::string>();
        if (text && !parse_number(*text)) {
            for (const enum_name& n : names_of<MgmtClass>)
                if (n.name == *text) return checked_class(m, v, n.value);
            m.fail(v, fmt::format("unknown class {}; must be a number such as 0x0a, or a name such as SubnLID",
                                  as_given(*text)));
        }
        return checked_class(m, v, m.number(v, "class", 1, 255));
    }
    static MgmtClass checked_class(const file_members& m, const file_value& v, u64 number) {
        const MgmtClass c{static_cast<u8>(number)};
        if (c == MgmtClass::SubnDirected) m.fail(v, "use the class SubnLID, which stands for both routings of SMPs");
        return c;
    }

    static u32 methods_in(const file_members& m) {
        const file_value& v = m.required("methods", "a list of methods, such as Get and Set");
        const auto* list = v.as<file_value::list>();
        if (!list || list->empty()) m.fail(v, "'methods' must be a list of methods, such as Get and Set");
        u32 methods = 0;
        constexpr unsigned highest = 31; // attribute_use::methods has a bit for each method
        for (const file_value& one : *list) {
            std::optional<u64> number;
            if (const auto* text = one.as<std::string>())
                for (const enum_name& n : names_of<Method>)
                    if (n.name == *text) number = n.value;
            if (!number) number = method_number(m, one, highest);
            if (*number > highest) m.fail(one, "a method must be a request, such as Get or Set, not a response");
            methods |= u32{1} << *number;
        }
        return methods;
    }
    static u64 method_number(const file_members& m, const file_value& one, u64 highest) {
        const auto* text = one.as<std::string>();
        if (text && !parse_number(*text)) {
            std::vector<std::string_view> names;
            for (const enum_name& n : names_of<Method>)
                if (n.value <= highest) names.push_back(n.name);
            m.fail(one, fmt::format("unknown method {}; must be {} or a number from 1 to {}", as_given(*text),
                                    fmt::join(names, ", "), highest));
        }
        return m.number(one, "methods", 1, highest);
    }

    // A text may replace a compiled table, but not another text.
    void check_other_uses(const file_members& m, const described_structure::storage& s,
                          const attribute_use& use) const {
        const auto has_use = [&](const structure& other) {
            return other.attributeID == s.attributeID && std::ranges::any_of(other.uses, [&](const attribute_use& u) {
                       return u.mgmt_class == use.mgmt_class && u.class_version == use.class_version &&
                              u.OUI == use.OUI;
                   });
        };
        std::string_view other;
        for (const described_structure& d : known_)
            if (has_use(d.entry())) other = d.info().name;
        for (const structure& added : registered_structures())
            if (has_use(added)) other = added.info->name;
        if (!other.empty())
            m.fail(*m.find("attribute"),
                   fmt::format("{} describes the same attribute of this class; remove one of the two", other));
    }

    static void check_rows(const file_members& m, const described_structure::storage& s, const file_value::list& fields,
                           unsigned size) {
        unsigned end = 0;
        for (std::size_t i = 0; i < s.rows.size(); ++i) {
            const row_info& row = s.rows[i];
            const std::string_view before = i == 0 ? "" : s.rows[i - 1].name;
            const std::string place = fmt::format("field '{}' at {}", row.name, position_text(row.off));
            if (i > 0 && row.off < s.rows[i - 1].off)
                m.fail(fields[i], fmt::format("{} is listed after '{}'; list the fields in the order of their offsets",
                                              place, before));
            if (row.off < end)
                m.fail(fields[i], fmt::format("{} overlaps '{}', which ends at {}; correct an offset or a width", place,
                                              before, position_text(end)));
            if (row.off > end) fail_gap(m, fields[i].line, end, row.off);
            end = row.off + row.bits();
            if (end > size * 8)
                m.fail(fields[i],
                       fmt::format("{} ends at {}, outside of the structure of {} bytes; correct the field or 'size'",
                                   place, position_text(end), size));
        }
        if (end < size * 8) fail_gap(m, fields.back().line, end, size * 8);
    }
    [[noreturn]] static void fail_gap(const file_members& m, unsigned line, unsigned from, unsigned to) {
        m.fail(
            line,
            fmt::format("no field describes the {} bits at {}; add a field of the kind 'reserved' with offset = \"{}\" "
                        "and width = {}",
                        to - from, position_text(from), position_text(from), to - from));
    }

    static void check_mask(const file_members& m, const file_value& one, const described_structure::storage& s) {
        if (s.uses.empty() || s.uses.front().mgmt_class != MgmtClass::SubnAdm) return;
        unsigned bits = 0;
        for (const row_info& row : s.rows) bits += component_count(row);
        if (bits > 64)
            m.fail(one,
                   fmt::format(
                       "its fields have {} bits of a component mask, but a mask has 64; give fields mask = \"none\"",
                       bits));
    }

    const std::string& file_;
    std::vector<described_structure>& known_;
};

} // namespace

std::vector<described_structure> read_described_structures(std::string_view text, const std::string& name) {
    const file_value all = parse_file_values(text, name);
    const file_members m(name, all, "the file", {"structures"});
    const file_value& structures_value = m.required("structures", "a list of structures, such as [[structures]]");
    const auto* list = structures_value.as<file_value::list>();
    if (!list || list->empty())
        m.fail(structures_value, "'structures' must be a list of tables, such as [[structures]]");
    std::vector<described_structure> known;
    structure_reader reader(name, known);
    for (const file_value& one : *list) reader.add(one);
    return known;
}

} // namespace comad::iba::detail
