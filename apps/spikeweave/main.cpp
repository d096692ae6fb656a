#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/config_file.hpp"
#include "cli/described_options.hpp"
#include "cli/help_text.hpp"
#include "cli/output.hpp"
#include "cli/process.hpp"
#include "cli/progress.hpp"
#include "cli/suggestions.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/built_with.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/pipes.hpp"
#include "spikeweave/core/version.hpp"
#include "spikeweave/report/run_record.hpp"

namespace {

using namespace spikeweave::cli;

enum exit_code : int { done = 0, internal_error = 1, user_error = 2, stopped = 130 };

struct job {
    std::stop_token stop{};
    /// The processes that share the work; null if this one was started alone.
    std::shared_ptr<spikeweave::communicator> ranks{};
};

// A message may name a text of a file, which may be of any length.
std::string shortened(std::string text) {
    constexpr std::size_t longest = 4'000;
    if (text.size() <= longest) return text;
    std::size_t end = longest;
    while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // within a character
    return text.substr(0, end) + "…";
}

int fail(const job& process, exit_code code, std::string message) {
    // Some libraries break their messages into lines.
    std::replace(message.begin(), message.end(), '\n', ' ');
    message = shortened(spikeweave::with_command_line_names(message));
    if (should_report(process.stop))
        write_stderr(fmt::format(
            "{}{} {}\n", message_prefix(),
            styled(STDERR_FILENO, fmt::emphasis::bold | fg(fmt::terminal_color::red), "error:"),
            message));
    return code;
}

struct parsed {
    command chosen{};
    progress_style progress = progress_style::automatic;
    bool quiet = false;
};

std::string version_text() {
    std::string text = fmt::format("spikeweave {}", spikeweave::version());
    for (const spikeweave::build_part& part : spikeweave::built_with())
        text += fmt::format("\n{}: {}", part.name,
                            part.is_built ? part.details : std::string_view("no"));
    return text;
}

// To declare the options of every command takes as long as all else in many a run. Only completions
// and manuals are about all of them, and a configuration file, which may have a table for each.
bool needs_options_of(const command_entry& entry, const std::vector<std::string>& words) {
    return std::ranges::any_of(words, [&entry](const std::string& word) {
        return word == entry.name || word == "completion" || word == "manual" ||
               word.starts_with("--config");
    });
}

void declare(CLI::App& app, const std::vector<std::string>& words, const std::stop_token& stop,
             parsed& into) {
    app.require_subcommand(1);
    app.fallthrough();
    app.formatter(help_formatter());
    app.set_help_flag("-h", "print a short help and stop");
    app.set_help_all_flag("--help", "print the help on all options and stop");
    app.set_version_flag("-V,--version", version_text(),
                         "print the version and how it was built, and stop");
    spikeweave::option_list options;
    options.begin_group("Options");
    options
        .add("progress", into.progress,
             "how progress is shown on stderr: one line if it is a terminal (auto), lines for a "
             "log (plain), or not at all (none)")
        .written("STYLE");
    add_described(app, std::move(options));
    app.add_flag("-q,--quiet", into.quiet,
                 "print only errors, and the document that --json requests");
    add_config_file(app, stop);
    for (const command_entry& entry : all_commands()) {
        CLI::App& sub = *app.add_subcommand(entry.name, entry.about);
        if (entry.is_basic) list_in_short_help(app, &sub);
        if (needs_options_of(entry, words)) entry.declare(sub, into.chosen);
    }
    app.footer(
        "spikeweave help COMMAND describes the options of a command, with the defaults in "
        "brackets.\n"
        "Exit status: 0 success, 2 invalid input, options, output or device, 130 stopped on "
        "request, 1 a bug in spikeweave, or live lost spikes or results.");
}

// Lists what was typed after the program's name.
std::vector<std::string> words_of(int argc, char** argv) {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (words.empty()) return {"-h"};
    if (words.size() == 1 && (words.front() == "version" || words.front() == "-v"))
        return {"--version"};
    if (words.front() != "help") return words;
    words.erase(words.begin());
    words.emplace_back("--help");
    return words;
}

// Phrases of CLI11 between the names and values of a message, and their replacements.
struct rewording {
    std::string_view said;
    std::string_view instead;  // {0} is what stands before, {1} what stands behind
};
constexpr std::array<rewording, 7> rewordings{{
    {": At Most 1 required but received ", "{0}: it is given {1} times, expected once"},
    {"The following argument was not expected: ", "'{1}' is one argument too many"},
    {"The following arguments were not expected: ", "these arguments are too many: {1}"},
    {" excludes ", "{0} cannot be given together with {1}"},
    {" requires ", "{0} is only for runs with {1}"},
    {": 1 required ", "{0}: expected a value, found none"},
    {" is required", "{0} is missing"},
}};

std::string explain(const CLI::ParseError& error) {
    std::string text = error.what();
    for (const auto& [said, instead] : rewordings) {
        const std::size_t at = text.find(said);
        if (at != std::string::npos)
            return fmt::format(fmt::runtime(instead), text.substr(0, at),
                               text.substr(at + said.size()));
    }
    return text;
}

int parse_error(const job& process, const CLI::App& app, const std::vector<std::string>& words,
                const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr) {
        if (spikeweave::launched_rank() == 0) write_stdout(std::string(error.what()) + "\n");
        return done;
    }
    const auto unknown = explain_unknown(app, words);
    const bool is_whole = dynamic_cast<const CLI::CallForAllHelp*>(&error) != nullptr;
    if (!unknown && (is_whole || dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr)) {
        if (spikeweave::launched_rank() == 0)
            write_stdout(
                app.help("", is_whole ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal));
        return done;
    }
    if (!unknown && error.get_exit_code() == 0) return done;
    if (const auto* file = dynamic_cast<const CLI::FileError*>(&error); !unknown && file != nullptr)
        return fail(process, user_error, explain_config(app, *file));
    std::string path = "spikeweave";
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        path += " " + at->get_name();
    }
    const bool needs_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                               !at->get_subcommands({}).empty();
    return fail(process, user_error,
                fmt::format("{} (see {} --help)",
                            unknown         ? *unknown
                            : needs_command ? fmt::format("expected one of {}",
                                                          fmt::join(names_of_commands(*at), ", "))
                                            : explain(error),
                            path));
}

// Runs a command as a part of another one.
void run_within(const invocation& around, const std::vector<std::string>& words) {
    parsed options;
    CLI::App app("", "spikeweave");
    declare(app, words, around.stop, options);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        throw spikeweave::invalid_argument(explain(error));
    }
    invocation with = around;
    with.command_line = spikeweave::shell_line("spikeweave", words);
    with.began = std::chrono::steady_clock::now();
    options.chosen(with);
}

int run(int argc, char** argv, job& process) {
    hold_standard_streams();
    process.stop = stop_on_signals();
    spikeweave::stop_waiting_for_pipes(process.stop);

    parsed options;
    CLI::App app("Connections and repeated patterns in the firing of neurons.", "spikeweave");
    const std::vector<std::string> words = words_of(argc, argv);
    declare(app, words, process.stop, options);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        return parse_error(process, app, words, error);
    }

    process.ranks = join_ranks(app.get_subcommands().front()->get_name(), process.stop);
    if (process.ranks && process.ranks->rank() > 0) {
        options.progress = progress_style::none;
        options.quiet = true;
    }
    progress_line line(options.progress);
    invocation with{.command_line = spikeweave::shell_line("spikeweave", words),
                    .progress = line,
                    .stop = process.stop,
                    .quiet = options.quiet,
                    .ranks = process.ranks};
    with.run_command = [&with](const std::vector<std::string>& other) { run_within(with, other); };
    try {
        options.chosen(with);
    } catch (...) {
        line.clear();
        throw;
    }
    line.clear();
    return with.exit_status;
}

int run_and_report(int argc, char** argv, job& process) {
    try {
        return run(argc, argv, process);
    } catch (const output_closed&) {
        return done;
    } catch (const spikeweave::cancelled& error) {
        if (should_report(process.stop))
            write_stderr(fmt::format("{}{}\n", message_prefix(), error.what()));
        return stopped;
    } catch (const spikeweave::invalid_argument& error) {
        return fail(process, user_error, error.what());
    } catch (const spikeweave::io_error& error) {
        return fail(process, user_error, error.what());
    } catch (const spikeweave::device_error& error) {
        return fail(process, user_error, error.what());
    } catch (const std::filesystem::filesystem_error& error) {
        return fail(process, user_error, error.what());
    } catch (const std::system_error& error) {
        return fail(
            process, user_error,
            fmt::format("the system has too few threads or open files for this: {}", error.what()));
    } catch (const std::bad_alloc&) {
        return fail(process, user_error,
                    "there is not enough memory (--max-memory bounds what is used)");
    } catch (const std::exception& error) {
        return fail(process, internal_error, fmt::format("internal: {}", error.what()));
    }
}

}  // namespace

int main(int argc, char** argv) {
    job process;
    const int code = run_and_report(argc, argv, process);
    // The other ranks wait for what this one will never send.
    if (code != done && process.ranks) process.ranks->abort(code);
    return code;
}
