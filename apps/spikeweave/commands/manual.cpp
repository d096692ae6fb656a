#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help_text.hpp"
#include "cli/output.hpp"
#include "cli/suggestions.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/nearest_name.hpp"
#include "spikeweave/core/version.hpp"

namespace spikeweave::cli {
namespace {

// A text in which no letter is an instruction to the formatter (groff_man(7)).
std::string plain(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        const bool begins_line = i == 0 || text[i - 1] == '\n';
        if (begins_line && (letter == '.' || letter == '\'')) out += "\\&";
        if (letter == '\\')
            out += "\\e";
        else if (letter == '-')
            out += "\\-";
        else
            out += letter;
    }
    return out;
}

std::string bold(std::string_view text) {
    return fmt::format("\\fB{}\\fR", plain(text));
}

std::string without_stop(std::string text) {
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::string synopsis(const CLI::App& at) {
    std::string out = bold(typed_as(at)) + " ";
    if (!at.get_subcommands({}).empty())
        return out + (at.get_parent() == nullptr ? "\\fICOMMAND\\fR" : "\\fIMODEL\\fR") +
               " [\\fIOPTION\\fR ...]\n";
    for (const CLI::Option* const option : at.get_options())
        if (option->get_positional()) {
            const std::string name = fmt::format("\\fI{}\\fR", plain(option->get_name(true)));
            out += option->get_required() ? name + " " : fmt::format("[{}] ", name);
        }
    return out + "[\\fIOPTION\\fR ...]\n";
}

std::string entry(const std::string& heading, const std::string& text) {
    return fmt::format(".TP\n{}\n{}\n", heading, plain(text));
}

std::string entry_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back(bold("-" + name));
    for (const std::string& name : option.get_lnames()) names.push_back(bold("--" + name));
    if (names.empty()) names.push_back(fmt::format("\\fI{}\\fR", plain(option.get_name(true))));
    std::string heading = fmt::format("{}", fmt::join(names, ", "));
    if (option.get_type_size() != 0 && !option.get_type_name().empty())
        heading += fmt::format(" \\fI{}\\fR", plain(option.get_type_name()));
    return entry(heading, described(option));
}

std::string options_of(const CLI::App& at) {
    std::string out;
    for (const std::string& group : groups_of(at)) {
        const auto options = at.get_options(
            [&group](const CLI::Option* option) { return option->get_group() == group; });
        if (options.empty()) continue;
        out += fmt::format(".SS {}\n", plain(group));
        for (const CLI::Option* const option : options) out += entry_of(*option);
    }
    return out;
}

std::string commands_of(const CLI::App& at) {
    std::string out;
    for (const CLI::App* const command : at.get_subcommands({}))
        out += entry(bold(command->get_name()), command->get_description());
    return out;
}

// The models of a simulation have no pages of their own.
std::string sections_of_models(const CLI::App& at) {
    std::string out;
    if (at.get_parent() == nullptr) return out;
    for (const CLI::App* const model : at.get_subcommands({}))
        out += fmt::format(".SH {}\n{}\n{}", plain(typed_as(*model)),
                           plain(model->get_description()), options_of(*model));
    return out;
}

// Examples are shown as they are typed.
std::string closing_text(const CLI::App& at) {
    const bool are_examples = at.get_footer().starts_with("Example");
    return fmt::format(".SH {}\n.nf\n{}\n.fi\n", are_examples ? "EXAMPLES" : "NOTES",
                       plain(at.get_footer()));
}

// The name of a page without its section: "spikeweave-episodes".
std::string manual_page_name(const CLI::App& at) {
    std::string name = typed_as(at);
    std::ranges::replace(name, ' ', '-');
    return name;
}

std::string other_pages(const CLI::App& at) {
    if (at.get_parent() != nullptr) return ".SH SEE ALSO\n" + bold("spikeweave") + "(1)\n";
    std::vector<std::string> pages;
    for (const CLI::App* const command : at.get_subcommands({}))
        pages.push_back(bold(manual_page_name(*command)) + "(1)");
    return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

// The page of the manual about a command, or about the program if that is `at`, for man(1). It is
// made from the descriptions that --help shows.
std::string manual_page(const CLI::App& at) {
    const std::string name = manual_page_name(at);
    std::string out = fmt::format(".TH {} 1 \"\" \"spikeweave {}\" \"User Commands\"\n",
                                  plain(name), plain(version()));
    out += fmt::format(".SH NAME\n{} \\- {}\n", plain(name),
                       plain(without_stop(at.get_description())));
    out += ".SH SYNOPSIS\n" + synopsis(at);
    if (!at.get_subcommands({}).empty())
        out += fmt::format(".SH {}\n{}", at.get_parent() == nullptr ? "COMMANDS" : "MODELS",
                           commands_of(at));
    out += ".SH OPTIONS\n" + options_of(at) + sections_of_models(at);
    if (!at.get_footer().empty()) out += closing_text(at);
    return out + other_pages(at);
}

struct manual_command {
    const CLI::App* program = nullptr;
    std::string about{};
};

const CLI::App& page_about(const manual_command& options) {
    if (options.about.empty()) return *options.program;
    const std::vector<std::string> commands = names_of_commands(*options.program);
    if (std::ranges::find(commands, options.about) == commands.end())
        throw invalid_argument(fmt::format("there is no command '{}'{}", options.about,
                                           did_you_mean(nearest_name(options.about, commands))));
    return *options.program->get_subcommand(options.about);
}

void run(manual_command& options, invocation& /*call*/) {
    write_stdout(manual_page(page_about(options)));
}

}  // namespace

void declare_manual(CLI::App& sub, command& chosen) {
    const auto options =
        std::make_shared<manual_command>(manual_command{.program = sub.get_parent()});
    sub.add_option("COMMAND", options->about,
                   "the command that the page is about; if not given, all of spikeweave")
        ->type_name("");
    sub.footer("Example: spikeweave manual episodes | man -l -");
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
