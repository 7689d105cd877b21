// SPDX-License-Identifier: MIT
// iba_typed.cpp - operations on the C++ structure of every table.
#include "iba_typed.hpp"

#include <comad/iba.hpp>

#include <algorithm>

using namespace comad::iba;
using comad::u64;
using comad::u8;

namespace {

template <wire T> std::vector<u8> round_trip(const std::vector<u8>& bytes) {
    T value;
    decode(value, bytes.data());
    std::vector<u8> out(bytes.size(), 0xa5);
    encode(value, out.data());
    return out;
}

template <class V> bool is_at(const V& v, const u8* p, unsigned off, unsigned bits) {
    if constexpr (wire<V>) {
        const auto bytes = encode(v);
        return std::equal(bytes.begin(), bytes.end(), p + off / 8);
    } else if constexpr (std::is_same_v<V, gid>) {
        return std::equal(v.bytes.begin(), v.bytes.end(), p + off / 8);
    } else if constexpr (requires { v.size(); }) {
        const unsigned width = bits / static_cast<unsigned>(v.size());
        return std::all_of(v.begin(), v.end(), [&](const auto& e) {
            off += width;
            return is_at(e, p, off - width, width);
        });
    } else {
        return static_cast<u64>(v) == bits_at(p, off, bits);
    }
}

template <class T, unsigned Bytes, auto... Member, unsigned... Off, unsigned... Width>
bool are_rows_at(const record<Bytes, field<Member, Off, Width>...>&, [[maybe_unused]] const T& value,
                 [[maybe_unused]] const u8* p) {
    return (is_at(value.*Member, p, Off, Width) && ...);
}

template <wire T> bool decodes_rows(const std::vector<u8>& bytes) {
    T value;
    decode(value, bytes.data());
    return are_rows_at(described<T>::layout, value, bytes.data());
}

/// Returns `LMC` for &PortInfo::LMC, as the compiler prints it.
template <auto Member> constexpr std::string_view name_of_member() {
    const std::string_view function = __PRETTY_FUNCTION__;
    const std::size_t begin = function.find("Member = ");
    const std::string_view member = function.substr(begin, function.find_first_of(";]", begin) - begin);
    return member.substr(member.rfind(':') + 1);
}

template <unsigned Bytes, auto... Member, unsigned... Off, unsigned... Width>
std::vector<member> members_of(const record<Bytes, field<Member, Off, Width>...>&) {
    std::vector<member> out;
    [[maybe_unused]] const auto add = [&out](member m) {
        if (m.bits > 0) out.push_back(m); // without bits it is a header, whose rows are separate members
    };
    (add({name_of_member<Member>(), Off, Width}), ...);
    return out;
}

template <wire... T> std::vector<typed> list(structure_list<T...>) {
    return {{&info_of<T>, round_trip<T>, decodes_rows<T>, [] { return members_of(described<T>::layout); }}...};
}

} // namespace

std::span<const typed> all_typed() {
    static const std::vector<typed> all = list(all_structures{});
    return all;
}
