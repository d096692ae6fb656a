#include "cli/config_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <istream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/suggestions.hpp"
#include "spikeweave/core/nearest_name.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/spikes/standard_input.hpp"

namespace spikeweave::cli {
namespace {

constexpr std::array<std::string_view, 4> only_typed{"help", "version", "config",
                                                     "list-strategies"};

bool is_flag(const CLI::Option& option) {
    return option.get_items_expected_max() == 0;
}

constexpr const char* name_of_errors = "ConfigFileError";

/// An error about a file, because CLI11 keeps these until --help and the like are done. It throws a
/// copy of the base class, which keeps the name.
class config_error : public CLI::FileError {
public:
    explicit config_error(const std::string& what)
        : FileError(name_of_errors, what, CLI::ExitCodes::FileError) {}
};

/// The options of a file go straight to those of the command line that were not typed.
class config_file : public CLI::Config {
public:
    config_file(CLI::App& program, std::stop_token stop)
        : program_(program), stop_(std::move(stop)) {}

    /// The path to open instead of a pipe, which may never be written into.
    std::string held(const std::string& path) {
        if (pipe_ && path == pipe_name_) return pipe_->path();  // CLI11 asks more than once
        std::error_code unknown;
        if (!std::filesystem::is_fifo(path, unknown)) return path;
        pipe_name_ = path;
        return pipe_.emplace(path, stop_).path();
    }

    /// CLI11 calls this when it has read the words that were typed, before it checks which options
    /// need or exclude others.
    std::vector<CLI::ConfigItem> from_config(std::istream& in) const override {
        const std::string path = name();
        if (launched_ranks() > 1 && !std::filesystem::is_regular_file(path))
            throw config_error(
                fmt::format("--config: '{}' is not a file that each of the {} processes can read",
                            path, launched_ranks()));
        // From a stream, toml++ reads nothing if that is a pipe.
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        try {
            take(toml::parse(text), program_);
        } catch (const toml::parse_error& error) {
            std::string what(error.description());
            if (lacks_quotes(text, error.source().begin.line)) what += "; text stands in quotes";
            refuse_at(error.source(), what);
        }
        return {};
    }

    /// Files are only read.
    std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

private:
    // Whether a line gives a value without quotes.
    static bool lacks_quotes(const std::string& text, std::size_t line) {
        std::istringstream in(text);
        std::string found;
        for (std::size_t i = 0; i < line && std::getline(in, found);) ++i;
        const std::size_t equals = found.find('=');
        return equals != std::string::npos &&
               found.find_first_not_of(" \t\r", equals + 1) != std::string::npos &&
               found.find_first_of("\"'", equals) == std::string::npos;
    }

    [[noreturn]] void refuse_at(const toml::source_region& at, const std::string& what) const {
        throw config_error(fmt::format("{}, line {}: {}", name(), at.begin.line, what));
    }

    std::string name() const {
        return pipe_ ? pipe_name_ : program_.get_config_ptr()->as<std::string>();
    }

    [[noreturn]] void refuse(const toml::node& at, const std::string& what) const {
        refuse_at(at.source(), what);
    }

    void take(const toml::table& table, CLI::App& into) const {
        const std::vector<std::string> commands = names_of_commands(into);
        std::set<std::string> names;
        for (const auto& [key, node] : table) {
            std::string name(key.str());
            const bool is_command = std::ranges::find(commands, name) != commands.end();
            if (is_command && !node.is_table())
                refuse(node, fmt::format("expected a table [{}]", name));
            if (is_command) {
                take(*node.as_table(), *into.get_subcommand(name));
                continue;
            }
            if (node.is_table()) refuse_table(name, node, into, commands);
            std::ranges::replace(name, '_', '-');
            if (!names.insert(name).second) refuse(node, fmt::format("'{}' is given twice", name));
            take_option(name, node, into);
        }
    }

    [[noreturn]] void refuse_table(const std::string& name, const toml::node& node,
                                   const CLI::App& in,
                                   const std::vector<std::string>& commands) const {
        if (commands.empty())
            refuse(node, fmt::format("{} has no tables, but options", in.get_name()));
        refuse(node, fmt::format("there is no {} '{}'{}",
                                 in.get_parent() != nullptr ? "model" : "command", name,
                                 did_you_mean(nearest_name(name, commands))));
    }

    // A flag that is on by default is declared by the name that switches it off.
    void take_option(const std::string& name, const toml::node& node, CLI::App& into) const {
        if (std::ranges::find(only_typed, name) != only_typed.end())
            refuse(node, fmt::format("'{}' can only be given on the command line", name));
        CLI::Option* option = into.get_option_no_throw("--" + name);
        CLI::Option* const opposite = into.get_option_no_throw("--no-" + name);
        const bool is_opposite = option == nullptr && opposite != nullptr && is_flag(*opposite);
        if (is_opposite) option = opposite;
        if (option == nullptr) refuse_option(name, node, into);
        // Values are checked for the command that runs, because only there they matter.
        if (!into.parsed() || !option->empty() || typed_excludes(*option)) return;
        if (is_flag(*option))
            take_flag(name, node, *option, is_opposite);
        else
            take_values(name, node, *option);
    }

    [[noreturn]] void refuse_option(const std::string& name, const toml::node& node,
                                    const CLI::App& in) const {
        if (in.get_parent() != nullptr && program_.get_option_no_throw("--" + name) != nullptr)
            refuse(node,
                   fmt::format("'{}' goes with every command: it stands before all tables", name));
        if (&in == &program_)
            for (const CLI::App* command : program_.get_subcommands())
                if (command->get_option_no_throw("--" + name) != nullptr)
                    refuse(node, fmt::format("'{}' is an option of {}: it stands below [{}]", name,
                                             command->get_name(), command->get_name()));
        refuse(node, fmt::format("{} has no option '{}'{}", in.get_name(), name,
                                 did_you_mean(nearest_name(name, names_of_options(in)))));
    }

    // Typed options have precedence, also over those that they exclude.
    bool typed_excludes(const CLI::Option& option) const {
        return std::ranges::any_of(option.get_excludes(), [this](const CLI::Option* other) {
            return !other->empty() && !of_file_.contains(other);
        });
    }

    void take_flag(const std::string& name, const toml::node& node, CLI::Option& option,
                   bool is_opposite) const {
        if (!node.is_boolean()) refuse(node, fmt::format("expected true or false for '{}'", name));
        if (node.as_boolean()->get() != is_opposite) put({"true"}, node, option);
    }

    void take_values(const std::string& name, const toml::node& node, CLI::Option& option) const {
        const toml::array* const list = node.as_array();
        if (list == nullptr) return put({text_of(name, node)}, node, option);
        std::vector<std::string> texts;
        texts.reserve(list->size());
        for (const toml::node& one : *list) texts.push_back(text_of(name, one));
        if (texts.empty()) refuse(node, fmt::format("the list of '{}' is empty", name));
        const bool takes_many = option.get_items_expected_max() > 1;
        put(takes_many ? texts : std::vector{fmt::format("{}", fmt::join(texts, ","))}, node,
            option);
    }

    std::string text_of(const std::string& name, const toml::node& node) const {
        if (const auto* text = node.as_string()) return text->get();
        if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
        if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
        if (const auto* truth = node.as_boolean()) return truth->get() ? "yes" : "no";
        refuse(node, fmt::format("expected text or a number for '{}'", name));
    }

    void put(const std::vector<std::string>& texts, const toml::node& node,
             CLI::Option& option) const {
        of_file_.insert(&option);
        try {
            option.add_result(texts);
            option.run_callback();
        } catch (const CLI::ParseError& error) {
            refuse(node, error.what());
        }
    }

    CLI::App& program_;
    std::stop_token stop_;
    std::optional<held_standard_input> pipe_{};
    std::string pipe_name_{};
    mutable std::set<const CLI::Option*> of_file_{};
};

}  // namespace

void add_config_file(CLI::App& program, const std::stop_token& stop) {
    const auto reading = std::make_shared<config_file>(program, stop);
    program
        .set_config(
            "--config", "",
            "read options that are not on the command line from a TOML file, with a table for each "
            "command")
        ->type_name("FILE")
        ->check([](const std::string& path) {
            return std::string(path.empty() ? "expected a file, found an empty text" : "");
        })
        ->transform([reading](const std::string& path) { return reading->held(path); });
    program.config_formatter(reading);
}

std::string explain_config(const CLI::App& program, const CLI::FileError& error) {
    if (error.get_name() == name_of_errors) return error.what();
    return fmt::format("--config: cannot read '{}'", program.get_config_ptr()->as<std::string>());
}

}  // namespace spikeweave::cli
