#include "cli/suggestions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace spikeweave::cli {
namespace {

// Counts the letters to insert, remove, replace or exchange with their neighbour (optimal string
// alignment).
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> edits(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                edits[i][j] = i + j;
                continue;
            }
            const std::size_t differ = a[i - 1] == b[j - 1] ? 0 : 1;
            edits[i][j] =
                std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + differ});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
        }
    }
    return edits[a.size()][b.size()];
}

// Lists the options of a command and of those around it.
std::vector<std::string> names_of_options(const CLI::App* app) {
    std::vector<std::string> names;
    for (; app != nullptr; app = app->get_parent())
        for (const CLI::Option* option : app->get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

const CLI::Option* find_option(const CLI::App* app, const std::string& name) {
    for (; app != nullptr; app = app->get_parent())
        if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
    return nullptr;
}

std::string meant(const std::optional<std::string>& near) {
    return near ? fmt::format("; did you mean {}?", *near) : "";
}

}  // namespace

std::vector<std::string> names_of_commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
    return names;
}

std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& known) {
    std::optional<std::string> best;
    std::size_t least = std::max<std::size_t>(typed.size() / 3, 1) + 1;
    for (const std::string& name : known) {
        const std::size_t edits = edits_between(typed, name);
        if (edits >= least) continue;
        least = edits;
        best = name;
    }
    return best;
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
            if (option == nullptr && word.starts_with("--"))
                return fmt::format("there is no option {}{}", name,
                                   meant(nearest(name, names_of_options(at))));
            continue;
        }
        const std::vector<std::string> commands = names_of_commands(*at);
        if (commands.empty()) continue;
        if (std::ranges::find(commands, word) == commands.end()) {
            const auto near = nearest(word, commands);
            return fmt::format(
                "there is no {} '{}'{}", at->get_parent() ? "model" : "command", word,
                near ? meant(near) : fmt::format(" (there are {})", fmt::join(commands, ", ")));
        }
        at = at->get_subcommand(word);
    }
    return {};
}

}  // namespace spikeweave::cli
