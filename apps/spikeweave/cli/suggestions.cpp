#include "cli/suggestions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "spikeweave/core/nearest_name.hpp"

namespace spikeweave::cli {
namespace {

// Lists the options of a command and of those around it.
std::vector<std::string> options_around(const CLI::App* app) {
    std::vector<std::string> names;
    for (; app != nullptr; app = app->get_parent())
        for (const std::string& name : names_of_options(*app)) names.push_back("--" + name);
    return names;
}

// The options of `spikeweave spade` for the parameters of elephant.spade.spade that have other
// names. Without dashes and underscores, bin_size and Elephant's earlier binsize are one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> of_elephant{
    {{"binsize", "--bin"},
     {"winlen", "--window"},
     {"nsurr", "--surrogates"},
     {"surrmethod", "--surrogate-method"},
     {"statcorr", "--correction"},
     {"psrparam", "--reduce"},
     {"approxstabpars", "--stability"}}};

std::optional<std::string> option_meant(const std::string& name,
                                        const std::vector<std::string>& known) {
    std::string letters = name;
    std::erase_if(letters, [](char c) { return c == '-' || c == '_'; });
    const auto at =
        std::ranges::find(of_elephant, letters, &decltype(of_elephant)::value_type::first);
    if (at != of_elephant.end() && std::ranges::find(known, at->second) != known.end())
        return std::string(at->second);
    return nearest_name(name, known);
}

const CLI::Option* find_option(const CLI::App* app, const std::string& name) {
    for (; app != nullptr; app = app->get_parent())
        if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
    return nullptr;
}

}  // namespace

std::vector<std::string> names_of_commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
    return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty())
            std::ranges::copy(option->get_lnames(), std::back_inserter(names));
    return names;
}

std::optional<std::string> explain_unknown(const CLI::App& app,
                                           std::span<const std::string> words) {
    const CLI::App* at = &app;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") break;
        if (word.size() > 1 && word.front() == '-') {
            const std::string name = word.substr(0, word.find('='));
            const CLI::Option* const option = find_option(at, name);
            if (option != nullptr && option->get_items_expected_min() > 0 && name == word) ++i;
            const bool is_short = word.size() == 2 && std::isalpha(word[1]) != 0;
            if (option == nullptr && (is_short || word.starts_with("--")))
                return fmt::format("there is no option {}{}", name,
                                   did_you_mean(option_meant(name, options_around(at))));
            continue;
        }
        const std::vector<std::string> commands = names_of_commands(*at);
        if (commands.empty()) continue;
        if (std::ranges::find(commands, word) == commands.end()) {
            const auto near = nearest_name(word, commands);
            return fmt::format("there is no {} '{}'{}", at->get_parent() ? "model" : "command",
                               word,
                               near ? did_you_mean(near)
                                    : fmt::format(" (there are {})", fmt::join(commands, ", ")));
        }
        at = at->get_subcommand(word);
    }
    return {};
}

}  // namespace spikeweave::cli
