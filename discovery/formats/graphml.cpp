// SPDX-License-Identifier: MIT
// graphml.cpp - writes a subnet as GraphML, the XML format of graph editors and libraries.
#include "export_words.hpp"
#include "xml_text.hpp"
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <vector>

namespace comad::discovery {

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        if (rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf")) { // XML 1.0 has no U+FFFE and U+FFFF
            out += '?';
            i += 2;
            continue;
        }
        switch (text[i]) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += text[i];
        }
    }
    return out;
}

namespace {

/// Returns the value of an attribute, as an element.
template <class T> std::string data_element(std::string_view key, const T& value) {
    return fmt::format("<data key=\"{}\">{}</data>", key, value);
}

/// The attributes of nodes and edges, with the types of GraphML.
constexpr std::string_view declarations =
    R"(  <key id="name" for="node" attr.name="name" attr.type="string"/>
  <key id="type" for="node" attr.name="type" attr.type="string"/>
  <key id="nodeGUID" for="node" attr.name="nodeGUID" attr.type="string"/>
  <key id="LID" for="node" attr.name="LID" attr.type="int"/>
  <key id="ports" for="node" attr.name="ports" attr.type="int"/>
  <key id="level" for="node" attr.name="level" attr.type="int"/>
  <key id="source_port" for="edge" attr.name="source_port" attr.type="int"/>
  <key id="target_port" for="edge" attr.name="target_port" attr.type="int"/>
  <key id="width" for="edge" attr.name="width" attr.type="string"/>
  <key id="speed" for="edge" attr.name="speed" attr.type="string"/>
  <key id="state" for="edge" attr.name="state" attr.type="string"/>
)";

std::string_view state_word(link_condition c) {
    switch (c) {
    case link_condition::active: return "active";
    case link_condition::not_active: return "not active";
    case link_condition::unknown: break;
    }
    return "unknown";
}

/// Returns the LID of a node: of port 0 of a switch, or of the first port with one; 0: none is known.
unsigned lid_of_node(const node& n) {
    for (const port& p : n.ports) {
        if (p.info && iba::is_unicast(p.info->LID)) return value(p.info->LID);
        if (n.is_switch()) break;
    }
    return 0;
}

} // namespace

std::string format_graphml(const subnet& s, const node_names& names) {
    const std::vector<unsigned> levels = levels_above_edge(s);
    std::string out = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
)";
    out += declarations;
    out += "  <graph id=\"subnet\" edgedefault=\"undirected\">\n";
    for (u32 i = 0; i < s.nodes.size(); ++i) {
        const node& n = s.nodes[i];
        out += fmt::format("    <node id=\"{}\">{}{}{}{}{}{}</node>\n", topology_id(n),
                           data_element("name", xml_escaped(names.of(n))),
                           data_element("type", iba::name_or_number(n.info.nodeType)),
                           data_element("nodeGUID", fmt::format("0x{:016x}", value(n.info.nodeGUID))),
                           data_element("LID", lid_of_node(n)), data_element("ports", n.info.numPorts),
                           data_element("level", levels[i]));
    }
    std::size_t number = 0;
    const auto known_element = [](std::string_view key, std::string_view text) {
        return if_known(text).empty() ? std::string() : data_element(key, text);
    };
    for (const link_ends& l : links_of(s)) {
        const port_ref known = s.at(l.from).info ? l.from : l.to;
        out += fmt::format("    <edge id=\"e{}\" source=\"{}\" target=\"{}\">{}{}{}{}{}</edge>\n", number++,
                           topology_id(s.nodes[l.from.node]), topology_id(s.nodes[l.to.node]),
                           data_element("source_port", l.from.port), data_element("target_port", l.to.port),
                           known_element("width", format_link_width(s.at(known))),
                           known_element("speed", format_link_speed(s, known)),
                           data_element("state", state_word(condition_of(s, l))));
    }
    return out + "  </graph>\n</graphml>\n";
}

} // namespace comad::discovery
