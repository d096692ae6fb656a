#include "cli/config_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/suggestions.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/nearest_name.hpp"

namespace spikeweave::cli {
namespace {

constexpr std::array<std::string_view, 4> only_typed{"help", "version", "config",
                                                     "list-strategies"};

bool is_flag(const CLI::Option& option) {
    return option.get_items_expected_max() == 0;
}

/// The options of a file go straight to those of the command line that were not typed.
class config_file : public CLI::Config {
public:
    explicit config_file(CLI::App& program) : program_(program) {}

    /// CLI11 calls this when it has read the words that were typed, before it checks which options
    /// need or exclude others.
    std::vector<CLI::ConfigItem> from_config(std::istream& in) const override {
        try {
            take(toml::parse(in), program_);
        } catch (const toml::parse_error& error) {
            throw invalid_argument(in_line(error.source(), std::string(error.description())));
        }
        return {};
    }

    /// Files are only read.
    std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

private:
    std::string in_line(const toml::source_region& at, const std::string& what) const {
        return fmt::format("{}, line {}: {}", program_.get_config_ptr()->as<std::string>(),
                           at.begin.line, what);
    }

    [[noreturn]] void refuse(const toml::node& at, const std::string& what) const {
        throw invalid_argument(in_line(at.source(), what));
    }

    void take(const toml::table& table, CLI::App& into) const {
        for (const auto& [key, node] : table) {
            const std::string name(key.str());
            if (!node.is_table()) {
                take_option(name, node, into);
                continue;
            }
            const std::vector<std::string> commands = names_of_commands(into);
            if (std::ranges::find(commands, name) == commands.end())
                refuse(node, fmt::format("there is no {} '{}'{}",
                                         into.get_parent() != nullptr ? "model" : "command", name,
                                         did_you_mean(nearest_name(name, commands))));
            take(*node.as_table(), *into.get_subcommand(name));
        }
    }

    // A flag that is on by default is declared by the name that switches it off.
    void take_option(std::string name, const toml::node& node, CLI::App& into) const {
        std::ranges::replace(name, '_', '-');
        if (std::ranges::find(only_typed, name) != only_typed.end())
            refuse(node, fmt::format("'{}' can only be typed", name));
        CLI::Option* option = into.get_option_no_throw("--" + name);
        CLI::Option* const opposite = into.get_option_no_throw("--no-" + name);
        const bool is_opposite = option == nullptr && opposite != nullptr && is_flag(*opposite);
        if (is_opposite) option = opposite;
        if (option == nullptr) {
            std::vector<std::string> known;
            for (const CLI::Option* one : into.get_options())
                for (const std::string& known_name : one->get_lnames()) known.push_back(known_name);
            refuse(node, fmt::format("{} has no option '{}'{}", into.get_name(), name,
                                     did_you_mean(nearest_name(name, known))));
        }
        // Values are checked for the command that runs, because only there they matter.
        if (!into.parsed() || !option->empty()) return;
        if (is_flag(*option))
            take_flag(name, node, *option, is_opposite);
        else
            take_values(name, node, *option);
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
        if (texts.empty()) return;
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
        try {
            option.add_result(texts);
            option.run_callback();
        } catch (const CLI::ParseError& error) {
            refuse(node, error.what());
        }
    }

    CLI::App& program_;
};

}  // namespace

void add_config_file(CLI::App& program) {
    program
        .set_config("--config", "",
                    "read options that are not typed from a TOML file, with a table for each "
                    "command")
        ->type_name("FILE");
    program.config_formatter(std::make_shared<config_file>(program));
}

}  // namespace spikeweave::cli
