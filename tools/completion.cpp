// SPDX-License-Identifier: MIT
// completion.cpp - analyzes an incomplete command line: which command, which option waits for its value, which argument is next.
#include "completion.hpp"

#include "comad.hpp"
#include "command.hpp"
#include "command_text.hpp"
#include "session/subnet_file.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace ibtool {
namespace {

/// A command line up to the word that is being typed.
struct typed_line {
    const command* named = nullptr;
    arguments global, own; // options of all commands, and of the named command
    global_options values;
    action unused;                           // owns the variables that `own` writes to
    const argument* waiting = nullptr;       // an option whose value is being typed
    std::size_t places = 0;                  // number of previous words that are not options
    std::vector<const argument*> by_place{}; // arguments that are not options

    void name(const command& c) {
        named = &c;
        unused = c.declare(own);
        for (const argument& a : own.all())
            if (!a.is_option()) by_place.push_back(&a);
    }
    const argument* option(std::string_view name) const {
        for (const ibtool::arguments* all : {&own, &global})
            for (const argument& a : all->all())
                if (a.is_option() && a.is_called(name)) return &a;
        return nullptr;
    }
};

bool takes_value(const argument& a) { return !a.is_flag() && !a.is_value_optional(); }

void read_line(typed_line& line, const std::vector<std::string>& words) {
    add_global_options(line.global, line.values);
    if (const command* c = find_command(base_name(words.front()))) line.name(*c);
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (std::exchange(line.waiting, nullptr)) continue;
        if (word.starts_with('-') && word.size() > 1) {
            const argument* o = line.option(word); // an option with its value after `=` does not wait for one
            if (o && takes_value(*o)) line.waiting = o;
        } else if (line.named) {
            ++line.places;
        } else if (const command* c = find_command(word)) {
            line.name(*c);
        }
    }
}

// ---- suggestions ---------------------------------------------------------------------------------------------------------

void add_commands(std::vector<suggestion>& all) {
    for (const command& c : all_commands())
        all.push_back({std::string(c.name), std::string(text_of_command(c.name).summary)});
    for (const command_alias& other : command_aliases())
        all.push_back({std::string(other.name), fmt::format("another name of {}", other.command)});
}

void add_options(std::vector<suggestion>& all, const arguments& taken, std::string_view command) {
    const command_text& texts = text_of_command(command);
    for (const argument& a : taken.all()) {
        if (!a.is_option() || a.is_hidden()) continue;
        const argument_text* const text = texts.find(a);
        for (const std::string& name : a.all_names()) all.push_back({name, text ? text->brief : std::string()});
    }
}

/// Returns the file named by --subnet-cache or --load-cache.
std::string cache_in(const std::vector<std::string>& words) {
    for (std::size_t i = 1; i < words.size(); ++i)
        for (const std::string_view option : {"--subnet-cache", "--load-cache"}) {
            if (words[i] == option && i + 1 < words.size()) return words[i + 1];
            if (words[i].starts_with(fmt::format("{}=", option))) return words[i].substr(option.size() + 1);
        }
    return {};
}

void add_places(std::vector<suggestion>& all, const discovery::subnet& s, bool by_name) {
    for (comad::u32 n = 0; n < s.nodes.size(); ++n) {
        const discovery::node& one = s.nodes[n];
        const std::string name = iba::escaped(one.description);
        if (by_name && !name.empty()) all.push_back({name, discovery::topology_id(one)});
        for (unsigned p = 0; p < one.ports.size(); ++p) {
            if (one.is_switch() ? p > 0 : !one.ports[p].info) continue;
            const comad::iba::lid LID = s.lid_at({n, static_cast<comad::u8>(p)});
            if (value(LID)) all.push_back({fmt::format("{}", LID), name});
            if (value(one.ports[p].portGUID)) all.push_back({fmt::format("{}", one.ports[p].portGUID), name});
        }
    }
}

// Adds the nodes of a cached subnet. If the subnet cannot be read, adds no suggestions and prints no message.
void add_places_of_cache(std::vector<suggestion>& all, const std::string& file, bool by_name) {
    if (file.empty()) return;
    try {
        add_places(all, read_subnet_file(file).found, by_name);
    } catch (const std::exception&) {}
}

bool is_target(const argument& a) {
    return std::ranges::any_of(std::initializer_list<std::string_view>{"target", "from", "to"},
                               [&](std::string_view name) { return a.names() == name; });
}

void add_values(std::vector<suggestion>& all, const argument& a, const std::vector<std::string>& words) {
    for (const std::string& word : a.choices()) all.push_back({word, {}});
    for (const std::string& word : a.words()) all.push_back({word, {}});
    if (a.names_command()) add_commands(all);
    if (is_target(a)) add_places_of_cache(all, cache_in(words), a.names_node());
}

} // namespace

std::vector<suggestion> suggestions_for(const std::vector<std::string>& words) {
    if (words.size() < 2) return {};
    typed_line line;
    read_line(line, words);
    std::vector<suggestion> all;
    std::string begin = words.back(), before; // parts of the word: the one being typed, and the one that stays
    if (const std::size_t equals = begin.find('='); begin.starts_with("--") && equals != std::string::npos) {
        line.waiting = line.option(std::string_view(begin).substr(0, equals));
        if (!line.waiting) return {};
        before = begin.substr(0, equals + 1);
        begin.erase(0, equals + 1);
    }
    if (line.waiting) {
        add_values(all, *line.waiting, words);
    } else if (begin.starts_with('-')) {
        if (line.named) add_options(all, line.own, line.named->name);
        add_options(all, line.global, "ibtool");
        all.push_back({"--help", "print the complete help"});
    } else if (!line.named) {
        add_commands(all);
    } else if (!line.by_place.empty()) {
        const argument& last = *line.by_place.back();
        if (line.places < line.by_place.size()) add_values(all, *line.by_place[line.places], words);
        else if (last.takes_several()) add_values(all, last, words);
    }
    std::erase_if(all, [&](const suggestion& s) { return !s.word.starts_with(begin); });
    for (suggestion& s : all) s.word.insert(0, before);
    return all;
}

std::vector<std::string> words_of_line(std::string_view line) {
    std::vector<std::string> words{{}};
    char quote = 0;
    bool is_started = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
            words.back() += line[++i];
            is_started = true;
        } else if (quote) {
            if (c == quote) quote = 0;
            else words.back() += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            is_started = true;
        } else if (c == ' ' || c == '\t' || c == '\n') {
            if (is_started || !words.back().empty()) words.emplace_back();
            is_started = false;
        } else {
            words.back() += c;
        }
    }
    return words;
}

// ---- shells ----------------------------------------------------------------------------------------------------------

namespace {

// Each script calls ibtool, which is fast enough, so that all shells have the same suggestions.
// bash splits words at colons, and replaces only the last part.
constexpr std::string_view bash_script = R"(# bash completion for ibtool; made by 'ibtool help --completion bash'
_ibtool() {{
    local line=${{COMP_LINE:0:COMP_POINT}} part=${{COMP_WORDS[COMP_CWORD]}} words word meaning
    words=${{line##*[[:space:]]}}
    local kept=${{words%"$part"}}
    COMPREPLY=()
    while IFS=$'\t' read -r word meaning; do
        printf -v word %q "$word"
        [[ $word == "$kept"* ]] && COMPREPLY+=("${{word#"$kept"}}")
    done < <(ibtool help --complete "$line" 2>/dev/null)
}}
complete -o default -F _ibtool ibtool {0}
)";

constexpr std::string_view zsh_script = R"(#compdef ibtool {0}
# zsh completion for ibtool; made by 'ibtool help --completion zsh'
_ibtool() {{
    local -a found
    local word meaning
    while IFS=$'\t' read -r word meaning; do
        found+=("${{word//:/\\:}}:$meaning")
    done < <(ibtool help --complete "${{(j: :)words[1,CURRENT]}}" 2>/dev/null)
    if (( $#found )); then
        _describe -V ibtool found
    else
        _files
    fi
}}
if [[ $funcstack[1] == _ibtool ]]; then
    _ibtool "$@"
else
    compdef _ibtool ibtool {0}
fi
)";

constexpr std::string_view fish_script = R"(# fish completion for ibtool; made by 'ibtool help --completion fish'
for name in ibtool {0}
    complete -c $name -a '(ibtool help --complete (commandline -cp | string collect) 2>/dev/null)'
end
)";

} // namespace

std::string completion_script(std::string_view shell) {
    const std::string_view script = shell == "zsh" ? zsh_script : shell == "fish" ? fish_script : bash_script;
    return fmt::format(fmt::runtime(script), fmt::join(names_of_diags(), " "));
}

} // namespace ibtool
