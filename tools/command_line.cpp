// SPDX-License-Identifier: MIT
// command_line.cpp - converts descriptors to options of the command-line library CLI11, and its errors to one line. The only file that
// uses CLI11.
#include "command_line.hpp"

#include "command.hpp"
#include "command_text.hpp"
#include "help_text.hpp"
#include "long_options.hpp"
#include "session/fabric.hpp"
#include "session/machine_reader.hpp"
#include "session/several_fabrics.hpp"
#include "text/ibtool_overview.hpp"
#include "text/output.hpp"
#include "text/terminal.hpp"
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace ibtool {

/// The program and its commands as CLI11 objects.
class command_line {
public:
    command_line();
    int run(int argc, char** argv);

private:
    void add(const command&);
    void name_command(const command&);
    void declare(const command&, CLI::App&);
    static void add(CLI::App&, const arguments&);
    static CLI::Option* add(CLI::App&, const argument&);
    template <class Place> static CLI::Option* add_number(CLI::App&, const argument&, Place& where);
    static CLI::Option* add_reader(CLI::App&, const argument&, const argument::text_reader&);
    void check_sa() const;
    void choose_fabric();
    void choose_ports();
    int run_action();
    fabric_format output_format() const;
    int explain(const CLI::RequiredError&) const;
    int explain(const CLI::ExtrasError&) const;
    /// Returns the name by which the command was called, for messages: `ibtool sweep`.
    std::string named_command() const;
    static int show_overview(const global_options&);

    std::string help(bool is_short) const;
    std::string missing_value(std::string_view what) const;

    CLI::App app_{"", "ibtool"};
    global_options options_;
    std::vector<global_options> fabrics_; // the options of each fabric
    arguments global_;
    std::map<std::string_view, CLI::App*> commands_;
    // The command that the command line names:
    const command* named_ = nullptr;
    arguments arguments_;
    action action_;
};

command_line::command_line() {
    app_.set_help_flag("-h");
    app_.set_help_all_flag("--help");
    app_.set_version_flag("-V,--version", "ibtool " IBTOOL_VERSION);
    app_.fallthrough(); // global options are also accepted after the command
    app_.require_subcommand(1);
    add_global_options(global_, options_);
    add(app_, global_);
    for (const command& c : all_commands()) add(c);
}

void command_line::add(const command& c) {
    CLI::App& app = *app_.add_subcommand(std::string(c.name));
    app.preparse_callback([this, &c, &app](std::size_t) { declare(c, app); });
    commands_[c.name] = &app;
}

// Declares only the options of the named command. To declare those of all commands takes longer than many commands run.
void command_line::name_command(const command& c) {
    if (std::exchange(named_, &c) == &c) return;
    arguments_ = {};
    action_ = c.declare(arguments_);
}

void command_line::declare(const command& c, CLI::App& app) {
    name_command(c);
    add(app, arguments_);
}

void command_line::add(CLI::App& app, const arguments& taken) {
    std::map<const argument*, CLI::Option*> added;
    for (const argument& a : taken.all()) {
        CLI::Option* const o = added[&a] = add(app, a);
        for (const argument* other : a.excluded_) o->excludes(added.at(other));
        for (const argument* other : a.needed_) o->needs(added.at(other));
    }
}

namespace {

/// The number type of a variable that stores an option.
template <class Place> struct number_of {
    using type = Place;
};
template <class Number> struct number_of<std::optional<Number>> {
    using type = Number;
};

using number_range = std::optional<std::pair<std::int64_t, std::int64_t>>;

/// Replaces CLI11's message "Could not convert" by one that states the rule.
template <class Number> CLI::Validator number_check(const number_range& range) {
    const Number first = range ? static_cast<Number>(range->first) : std::numeric_limits<Number>::min();
    const Number last = range ? static_cast<Number>(range->second) : std::numeric_limits<Number>::max();
    std::string wanted = range                        ? fmt::format("a number from {} to {}", first, last)
                         : std::is_unsigned_v<Number> ? "a number >= 0"
                                                      : "a number";
    return {[=](std::string& text) -> std::string {
                Number n{};
                const bool wraps =
                    std::is_unsigned_v<Number> && text.starts_with('-'); // CLI11 converts -1 to the largest number
                if (!wraps && CLI::detail::lexical_cast(text, n) && n >= first && n <= last) return {};
                return fmt::format("must be {}, not {}", wanted, comad::iba::as_given(text));
            },
            ""};
}

/// Returns a check that rejects an empty word. A script with an unset variable passes one, which is different from a missing option.
CLI::Validator not_empty() {
    return {[](std::string& text) { return text.empty() ? std::string("must not be empty") : std::string(); }, ""};
}

} // namespace

template <class Place> CLI::Option* command_line::add_number(CLI::App& app, const argument& a, Place& where) {
    return app.add_option(a.names_, where)->check(number_check<typename number_of<Place>::type>(a.range_));
}

CLI::Option* command_line::add(CLI::App& app, const argument& a) {
    CLI::Option* const o = std::visit(
        [&](const auto& where) -> CLI::Option* {
            using destination_type = std::remove_cvref_t<decltype(where)>;
            if constexpr (std::is_same_v<destination_type, argument::text_reader>) return add_reader(app, a, where);
            else if constexpr (std::is_same_v<destination_type, std::function<void()>>)
                return app.add_flag_function(a.names_, [where](std::int64_t) { where(); });
            else if constexpr (std::is_same_v<destination_type, bool*>) return app.add_flag(a.names_, *where);
            else if constexpr (std::is_same_v<destination_type, unsigned*>)
                return a.is_flag_ ? app.add_flag(a.names_, *where) : add_number(app, a, *where);
            else if constexpr (std::is_same_v<destination_type, int*> ||
                               std::is_same_v<destination_type, comad::u64*> ||
                               std::is_same_v<destination_type, std::optional<unsigned>*> ||
                               std::is_same_v<destination_type, std::optional<comad::u64>*>)
                return add_number(app, a, *where);
            else return app.add_option(a.names_, *where);
        },
        a.destination_);
    const bool is_text = std::holds_alternative<std::string*>(a.destination_) ||
                         std::holds_alternative<std::vector<std::string>*>(a.destination_) ||
                         std::holds_alternative<argument::text_reader>(a.destination_);
    if (is_text && a.is_option() && !a.is_value_optional_) o->check(not_empty());
    if (a.is_required_) o->required();
    if (!a.choices_.empty()) o->check(CLI::IsMember(a.choices_));
    if (a.is_one_each_) o->allow_extra_args(false);
    if (a.is_at_once_) o->trigger_on_parse();
    if (a.is_value_optional_) o->expected(0, 1);
    if (!a.environment_.empty()) o->envname(a.environment_);
    return o;
}

// Adds a reader to an option. Its errors must name the option, because CLI11 does this only for errors of its own types.
CLI::Option* command_line::add_reader(CLI::App& app, const argument& a, const argument::text_reader& read) {
    const auto validated = [read, name = a.names_.substr(a.names_.rfind(',') + 1)](const std::string& text) {
        try {
            read(text);
        } catch (const usage_error& e) {
            throw CLI::ValidationError(name, e.what());
        }
    };
    return app.add_option_function<std::string>(a.names_, validated);
}

namespace {

/// Shortens long words in a message, because CLI11 quotes the whole argument.
std::string with_short_words(std::string_view text) {
    constexpr std::size_t longest = 100;
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size() - 1) + 1;
        out += text.substr(0, std::min(end, longest));
        if (end > longest) out += "... ";
        text.remove_prefix(end);
    }
    return out;
}

/// Replaces the name in the help by the name by which the command was called.
std::string called_by_name(std::string help) {
    const std::string as_command = "Usage: ibtool ";
    const std::size_t usage = help.find(as_command);
    if (!is_called_by_link() || usage == std::string::npos) return help;
    const std::size_t name = usage + as_command.size();
    return help.replace(usage, help.find(' ', name) - usage, "Usage: " + program_name());
}

} // namespace

int command_line::run(int argc, char** argv) {
    try {
        std::vector<std::string> typed(argv + 1, argv + argc);
        // If the program is called by a link with the name of a command, it runs this command.
        if (argc > 0 && find_command(base_name(argv[0]))) {
            set_program_name(base_name(argv[0]));
            typed.insert(typed.begin(), program_name());
        }
        std::vector<std::string> words = whole_words(typed, global_, [this](std::string& name) -> const arguments* {
            const command* const c = find_command(name);
            if (!c) return nullptr;
            name = c->name;
            name_command(*c);
            return &arguments_;
        });
        std::ranges::reverse(words); // the order that CLI11 expects
        app_.parse(std::move(words));
        check_sa();
        choose_fabric();
    } catch (const CLI::CallForHelp&) {
        write_output(called_by_name(help(true)));
        return complete;
    } catch (const CLI::CallForAllHelp&) {
        write_output(called_by_name(help(false)));
        return complete;
    } catch (const CLI::CallForVersion& e) {
        write_output(std::string(e.what()) + '\n');
        return complete;
    } catch (const CLI::RequiredError& e) {
        return argc > 1 ? explain(e) : show_overview(each_fabric(options_).front());
    } catch (const CLI::ExtrasError& e) {
        return explain(e);
    } catch (const CLI::ArgumentMismatch& e) {
        print_message("{}; see ibtool help", missing_value(e.what()));
        return usage;
    } catch (const CLI::ParseError& e) {
        print_message("{}; see ibtool help", with_short_words(e.what()));
        return usage;
    }
    for (const std::string& line : options_.warnings) print_message("{}", line);
    if (named_->ignores_lids && options_.discovery == discovery_mode::automatic)
        options_.discovery = discovery_mode::DR;
    return run_action();
}

void command_line::check_sa() const {
    if (options_.by_sa && !named_->no_sa_reason.empty())
        throw usage_error(fmt::format("--sa is not supported by {}: {}", named_->name, named_->no_sa_reason));
    if (options_.by_sa && (options_.discovery == discovery_mode::DR || options_.discovery == discovery_mode::LID))
        throw usage_error("--sa excludes --discovery DR and LID: it sends no SMPs; use --discovery SA or omit it");
    if (options_.discovery == discovery_mode::SA && !named_->no_sa_reason.empty())
        throw usage_error(fmt::format("--discovery SA is not supported by {}: {}", named_->name, named_->no_sa_reason));
}

// Makes the first port that is up the port of the command.
void command_line::choose_ports() {
    if (options_.ports.empty()) return;
    if (!options_.cas.empty() || !options_.ca_ports.empty() || options_.all_fabrics)
        throw usage_error("--local-ports excludes -C, -P and --all-fabrics: it names the local ports itself");
    const char* const usual = std::getenv("IBTOOL_FABRIC"); // a default, which the option replaces
    if (!options_.fabrics.empty() && !(usual && options_.fabrics == std::vector<std::string>{usual}))
        throw usage_error("--local-ports excludes --fabric: it names the local ports itself");
    if (options_.discovers_by_sa() || options_.discovery == discovery_mode::LID)
        throw usage_error("--local-ports excludes --sa and --discovery SA and LID: it discovers by directed routes");
    if (!options_.pcap.empty()) throw usage_error("--pcap supports only one local port");
    options_.ports = in_order_of_use(fabrics_of_ports(options_.ports));
    options_.fabrics = {options_.ports.front()};
}

void command_line::choose_fabric() {
    choose_ports();
    if (options_.all_fabrics && !named_->multi_fabric && !named_->per_fabric)
        throw usage_error(fmt::format("--all-fabrics is not supported by {}", named_->name));
    if (options_.all_fabrics && options_.fabrics.empty() && options_.cas.empty()) {
        options_.fabrics = local_fabrics();
        options_.found_ports = std::make_shared<std::unordered_set<comad::iba::guid>>();
    }
    fabrics_ = each_fabric(options_);
    if (fabrics_.size() > 1 && !named_->multi_fabric && !named_->per_fabric)
        throw usage_error(fmt::format("{} accepts only one fabric, but {} are given", named_->name, fabrics_.size()));
    const std::string& cache = options_.subnet_cache;
    if (fabrics_.size() > 1 && !cache.empty() && cache.find('$') == std::string::npos)
        throw usage_error("--subnet-cache: each fabric needs a file of its own; use $A in the name of the file");
    options_ = fabrics_.front();
}

// Returns the format that the options of the command select: --json, --csv, --format json or --format csv.
fabric_format command_line::output_format() const {
    for (const auto& [name, format] : {std::pair("json", fabric_format::json_lines), {"csv", fabric_format::csv}})
        for (const argument& a : arguments_.all()) {
            const auto* const flag = std::get_if<bool*>(&a.destination_);
            const auto* const text = std::get_if<std::string*>(&a.destination_);
            if (flag && **flag && a.names_ == std::string("--") + name) return format;
            if (text && **text == name && a.names_ == "--format") return format;
        }
    return fabric_format::text;
}

int command_line::run_action() {
    const bool is_one = fabrics_.size() == 1 && !options_.all_fabrics;
    if (is_one || !named_->per_fabric) return action_(options_);
    for (const argument& a : arguments_.all()) {
        const bool is_written =
            a.file_use_ == file_use::written || a.file_use_ == file_use::replaced || a.file_use_ == file_use::cached;
        const auto* const file = std::get_if<std::string*>(&a.destination_);
        if (is_written && file && !(*file)->empty())
            throw usage_error(fmt::format("{}: several fabrics do not fit into one file; run {} for each of them",
                                          a.all_names().front(), named_->name));
        const bool is_subnet = std::ranges::any_of(a.all_names(), [](const auto& n) {
            return n == "--load-cache" || n == "--topology" || n == "topology-file";
        });
        if (is_subnet && file && !(*file)->empty())
            throw usage_error(
                fmt::format("{}: the file contains one subnet, and excludes several fabrics", a.all_names().front()));
    }
    if (!options_.pcap.empty()) throw usage_error("--pcap supports only one fabric");
    return run_in_turn(fabrics_, output_format(), action_);
}

int command_line::explain(const CLI::RequiredError& e) const {
    const auto words = app_.remaining();
    const std::string problem = !app_.get_subcommands().empty() ? e.what()
                                : words.empty()
                                    ? "no command given"
                                    : fmt::format("unknown command {}; similar: {}",
                                                  comad::iba::as_given(words.front()), commands_like(words.front()));
    print_message("{}; see ibtool help", problem);
    return usage;
}

namespace {

/// Returns whether the command's words are a program and its arguments.
bool takes_program(const arguments& taken) {
    return std::ranges::any_of(taken.all(), [](const argument& a) { return !a.is_option() && a.is_program(); });
}

} // namespace

int command_line::explain(const CLI::ExtrasError& e) const {
    constexpr std::size_t most_suggestions = 3;
    const std::vector<std::string> extra = app_.remaining(true);
    const auto option = std::ranges::find_if(extra, [](const std::string& word) { return word.starts_with('-'); });
    if (extra.empty()) {
        print_message("{}; see ibtool help", e.what());
    } else if (option == extra.end()) {
        print_message("unexpected argument {}; see {} --help", comad::iba::as_given(extra.front()), named_command());
    } else {
        const std::string wrong = option->substr(0, option->find('='));
        if (takes_program(arguments_)) {
            print_message("unknown option {}; if it belongs to the program that {} runs, write -- before the program: "
                          "{} [OPTIONS] -- PROGRAM {}; see {} --help",
                          comad::iba::as_given(wrong), named_->name, named_command(), comad::iba::escaped(*option),
                          named_command());
            return usage;
        }
        std::vector<std::string> names;
        for (const arguments* all : {&arguments_, &global_}) {
            for (const argument& a : all->all()) {
                if (a.is_option() && !a.is_hidden()) std::ranges::copy(a.all_names(), std::back_inserter(names));
            }
        }
        print_message("unknown option {}; similar: {}; see {} --help", comad::iba::as_given(wrong),
                      comad::iba::most_similar(wrong, {names.begin(), names.end()}, most_suggestions), named_command());
    }
    return usage;
}

// Replaces CLI11's message for an option without its value: "--max-rate: 1 required UINT missing".
std::string command_line::missing_value(std::string_view what) const {
    const std::string name(what.substr(0, what.find(": 1 required ")));
    for (const auto& [all, command] : {std::pair(&arguments_, named_ ? named_->name : "ibtool"), {&global_, "ibtool"}})
        for (const argument& a : all->all())
            if (const argument_text* const text = text_of_command(command).find(a); a.is_called(name) && text)
                return fmt::format("{} requires a value: {}", name, text->placeholder);
    return with_short_words(what);
}

std::string command_line::help(bool is_short) const {
    if (!named_) return is_short ? short_help() : full_help(help_columns());
    return is_short ? short_help(*named_) : full_help(*named_, help_columns());
}

std::string command_line::named_command() const {
    if (is_called_by_link()) return program_name();
    return named_ ? fmt::format("ibtool {}", named_->name) : "ibtool";
}

int command_line::show_overview(const global_options& options) {
    const bool is_of_machine = is_local(options);
    write_output(is_of_machine ? format_overview(read_machine(options)) : format_overview(options.fabric));
    return complete;
}

int run_command_line(int argc, char** argv) { return command_line().run(argc, argv); }

} // namespace ibtool
