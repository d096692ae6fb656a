#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/enum_names.hpp"

namespace spikeweave {
namespace cli {
namespace {

// The shells that can complete the words of a command.
enum class shell : std::uint8_t { bash, zsh, fish };

}  // namespace
}  // namespace cli

template <>
enum_table<cli::shell> enum_names<cli::shell>() {
    using enum cli::shell;
    static constexpr named_value<cli::shell> values[]{{bash, "bash"}, {zsh, "zsh"}, {fish, "fish"}};
    return {"shell", values};
}

namespace cli {
namespace {

// The words that can follow others, such as "episodes" or "simulate culture".
struct place {
    std::vector<std::string> words{};
    std::vector<const CLI::App*> commands{};
    std::vector<const CLI::Option*> options{};  ///< those of the commands around it, too

    std::string name() const { return fmt::format("{}", fmt::join(words, " ")); }
};

std::vector<place> places_below(const CLI::App& at, const place& around) {
    place here = around;
    here.commands = at.get_subcommands({});
    // Every command has a -h and a --help of its own.
    std::erase_if(here.options, [](const CLI::Option* option) {
        return option->check_sname("h") || option->check_lname("help");
    });
    for (const CLI::Option* const option : at.get_options())
        if (option->nonpositional() && !option->get_group().empty()) here.options.push_back(option);
    std::vector<place> all{here};
    for (const CLI::App* const command : here.commands) {
        place next = here;
        next.words.push_back(command->get_name());
        for (place& below : places_below(*command, next)) all.push_back(std::move(below));
    }
    return all;
}

// A text between single quotes, of which the shells' rules differ.
std::string quoted(std::string_view text, std::string_view quote) {
    std::string out = "'";
    for (const char letter : text) {
        if (letter == '\'')
            out += quote;
        else
            out += letter;
    }
    return out + "'";
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

std::vector<std::string> spellings(const CLI::Option& option) {
    std::vector<std::string> out;
    for (const std::string& name : option.get_snames()) out.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) out.push_back("--" + name);
    return out;
}

std::string names_of(const std::vector<const CLI::App*>& commands) {
    std::vector<std::string> names;
    names.reserve(commands.size());
    for (const CLI::App* const command : commands) names.push_back(command->get_name());
    return fmt::format("{}", fmt::join(names, " "));
}

std::string for_bash(const std::vector<place>& places) {
    std::vector<std::string> paths;
    std::string cases;
    for (const place& at : places) {
        paths.push_back(fmt::format("\"{}\"", at.name()));
        std::vector<std::string> options;
        for (const CLI::Option* const option : at.options)
            for (std::string& name : spellings(*option)) options.push_back(std::move(name));
        cases += fmt::format("    \"{}\") commands=\"{}\"; options=\"{}\" ;;\n", at.name(),
                             names_of(at.commands), fmt::join(options, " "));
    }
    return fmt::format(R"(# Completes the words of spikeweave in bash.
_spikeweave() {{
  local word place="" longer commands options
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    longer="${{place:+$place }}$word"
    case "$longer" in {0}) place="$longer" ;; esac
  done
  case "$place" in
{1}  esac
  word="${{COMP_WORDS[COMP_CWORD]}}"
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
  else
    COMPREPLY=()
  fi
}}
complete -o default -F _spikeweave spikeweave
)",
                       fmt::join(paths.begin() + 1, paths.end(), "|"), cases);
}

// The first sentence, without the letters that mean something to _arguments.
std::string for_zsh_brackets(std::string text) {
    text = text.substr(0, text.find(". "));
    std::ranges::replace(text, '\n', ' ');
    std::string out;
    for (const char letter : text) {
        if (std::string_view("[]:\\").find(letter) != std::string_view::npos) out += '\\';
        out += letter;
    }
    return out;
}

std::string for_zsh(const std::vector<place>& places) {
    std::string cases;
    std::vector<std::string> paths;
    for (const place& at : places) {
        if (!at.words.empty()) paths.push_back(fmt::format("{}", quoted(at.name(), "'\\''")));
        cases += fmt::format("    ({})\n", quoted(at.name(), "'\\''"));
        if (!at.commands.empty()) {
            cases += "      commands=(\n";
            for (const CLI::App* const command : at.commands)
                cases += fmt::format(
                    "        {}\n",
                    quoted(command->get_name() + ":" + command->get_description(), "'\\''"));
            cases += "      )\n";
        }
        cases += "      options=(\n";
        for (const CLI::Option* const option : at.options)
            for (const std::string& name : spellings(*option))
                cases += fmt::format(
                    "        {}\n", quoted(fmt::format("{}[{}]{}", name,
                                                       for_zsh_brackets(option->get_description()),
                                                       takes_value(*option) ? ":value:_files" : ""),
                                           "'\\''"));
        cases += "      )\n      ;;\n";
    }
    return fmt::format(R"(#compdef spikeweave
# Completes the words of spikeweave in zsh.
_spikeweave() {{
  local word place="" longer
  local -a commands options
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    longer="${{place:+$place }}$word"
    case "$longer" in ({0}) place="$longer" ;; esac
  done
  case "$place" in
{1}  esac
  if [[ "${{words[CURRENT]}}" == -* ]]; then
    _arguments "${{options[@]}}"
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}}
# The file is sourced, or it is loaded as the function on the first use.
if [[ "${{funcstack[1]}}" == _spikeweave ]]; then
  _spikeweave "$@"
else
  compdef _spikeweave spikeweave
fi
)",
                       fmt::join(paths, "|"), cases);
}

std::string for_fish(const std::vector<place>& places) {
    std::string out = R"(# Completes the words of spikeweave in fish.
function __spikeweave_is_at
    set -l place (string join ' ' (string match -v -- '-*' (commandline -opc)[2..-1]))
    test "$place" = "$argv[1]"; or string match -q -- "$argv[1] *" "$place"
end
)";
    for (const place& at : places) {
        const std::string here =
            at.words.empty()
                ? ""
                : fmt::format(" -n {}",
                              quoted(fmt::format("__spikeweave_is_at '{}'", at.name()), "\\'"));
        for (const CLI::App* const command : at.commands)
            out += fmt::format(
                "complete -c spikeweave -n {} -f -a {} -d {}\n",
                at.words.empty() ? "__fish_use_subcommand"
                                 : quoted(fmt::format("__spikeweave_is_at '{}'", at.name()), "\\'"),
                command->get_name(), quoted(command->get_description(), "\\'"));
        for (const CLI::Option* const option : at.options) {
            out += fmt::format("complete -c spikeweave{}", here);
            for (const std::string& name : option->get_snames()) out += " -s " + name;
            for (const std::string& name : option->get_lnames()) out += " -l " + name;
            std::string description = option->get_description();
            std::ranges::replace(description, '\n', ' ');
            out += fmt::format("{} -d {}\n", takes_value(*option) ? " -r" : "",
                               quoted(description, "\\'"));
        }
    }
    return out;
}

// A script that makes a shell complete the commands and options of the program.
std::string completion_script(const CLI::App& root, shell which) {
    const std::vector<place> places = places_below(root, {});
    switch (which) {
        case shell::bash:
            return for_bash(places);
        case shell::zsh:
            return for_zsh(places);
        case shell::fish:
            return for_fish(places);
    }
    return {};
}

struct completion_command {
    const CLI::App* program = nullptr;
    shell which = shell::bash;
};

void run(completion_command& options, invocation& /*call*/) {
    write_stdout(completion_script(*options.program, options.which));
}

}  // namespace

void declare_completion(CLI::App& sub, command& chosen) {
    const auto options =
        std::make_shared<completion_command>(completion_command{.program = sub.get_parent()});
    option_list list;
    list.begin_group("Options");
    list.add("shell", options->which, "the shell that you use");
    sub.add_option_function<std::string>(
           "SHELL",
           [options](const std::string& name) {
               option_list of_shell;
               of_shell.add("shell", options->which, "");
               set_checked([&] { of_shell.find("shell").set_text(name); });
           },
           "the same as --shell SHELL")
        ->type_name("");
    add_described(sub, std::move(list));
    find_described(sub, "shell")->excludes(sub.get_option("SHELL"));
    sub.footer("Example: source <(spikeweave completion bash)");
    choose(sub, chosen, options);
}

}  // namespace cli
}  // namespace spikeweave
