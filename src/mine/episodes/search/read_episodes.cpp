#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave {
namespace {

// The units of an episode with the delays between them, and the line of the file that has it.
struct episode_line {
    std::size_t number;
    std::vector<std::string> words;
};

std::ifstream open_episodes(const std::filesystem::path& path) {
    std::ifstream in(path);
    if (!in)
        throw io_error(fmt::format("cannot read {}: {}", path.string(),
                                   std::generic_category().message(errno)));
    return in;
}

// Names with spaces stand between quotation marks.
std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; (in >> std::ws).peek() != '#' && in >> std::quoted(word);)
        words.push_back(word);
    return words;
}

std::vector<episode_line> read_list(const std::filesystem::path& path) {
    std::ifstream in = open_episodes(path);
    std::vector<episode_line> lines;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        std::vector<std::string> words = words_of(line);
        if (!words.empty()) lines.push_back({number, std::move(words)});
    }
    if (in.bad()) throw io_error(fmt::format("cannot read {}", path.string()));
    if (lines.empty()) throw io_error(fmt::format("{} holds no episode", path.string()));
    return lines;
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
    std::vector<std::string> parts;
    std::size_t at = 0;
    for (std::size_t end = text.find(by); end != std::string::npos; end = text.find(by, at)) {
        parts.push_back(text.substr(at, end - at));
        at = end + by.size();
    }
    parts.push_back(text.substr(at));
    return parts;
}

// The table `episodes.tsv` writes units as "n0→n1→n2" and delays as "(4,6] (4,6] ms".
std::vector<std::string> words_of_row(const std::string& units, const std::string& delays) {
    const std::vector<std::string> names = split(units, "→");
    const std::vector<std::string> intervals = split(delays, " ");
    std::vector<std::string> words{names.front()};
    for (std::size_t step = 0; step + 1 < names.size(); ++step) {
        std::string interval = step < intervals.size() ? intervals[step] : "";
        if (interval.size() > 2) interval = interval.substr(1, interval.size() - 2) + "ms";
        std::replace(interval.begin(), interval.end(), ',', '-');
        words.push_back(interval);
        words.push_back(names[step + 1]);
    }
    return words;
}

bool is_part_of(const std::vector<std::string>& words, const std::vector<std::string>& longer) {
    return words.size() < longer.size() &&
           std::search(longer.begin(), longer.end(), words.begin(), words.end()) != longer.end();
}

// Of a result's folder, the significant episodes that are not part of a longer one.
std::vector<episode_line> read_result(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "episodes.tsv";
    std::ifstream in = open_episodes(path);
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> header = split(line, "\t");
    const auto column = [&](const char* name) {
        const auto found = std::find(header.begin(), header.end(), name);
        if (found == header.end())
            throw io_error(fmt::format("{} has no column '{}', expected the table of a result",
                                       path.string(), name));
        return static_cast<std::size_t>(found - header.begin());
    };
    const std::size_t units = column("units"), delays = column("delays"),
                      significant = column("significant");
    std::vector<episode_line> lines;
    for (std::size_t number = 2; std::getline(in, line); ++number) {
        const std::vector<std::string> cells = split(line, "\t");
        if (cells.size() != header.size())
            throw io_error(fmt::format("{}, line {}: {} columns, expected {}", path.string(),
                                       number, cells.size(), header.size()));
        if (cells[significant] != "yes" || cells[delays] == "-") continue;
        std::vector<std::string> words = words_of_row(cells[units], cells[delays]);
        // The longest ones come first.
        const bool is_part = std::any_of(
            lines.begin(), lines.end(),
            [&](const episode_line& longer) { return is_part_of(words, longer.words); });
        if (!is_part) lines.push_back({number, std::move(words)});
    }
    if (lines.empty())
        throw io_error(fmt::format("{} holds no significant episode", path.string()));
    return lines;
}

std::vector<episode_line> read_lines(const std::filesystem::path& path) {
    std::error_code unknown;
    return std::filesystem::is_directory(path, unknown) ? read_result(path) : read_list(path);
}

episode parse_episode(const std::vector<std::string>& words, const spike_sequence& spikes) {
    if (words.size() % 2 == 0)
        throw invalid_argument(fmt::format(
            "'{}' is where a unit was expected to follow (an episode is unit delay unit …, such as "
            "n0 4-6ms n1)",
            words.back()));
    episode what;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i % 2 == 0)
            what.units.push_back(spikes.unit(words[i]));
        else
            what.delays.push_back(parse_delay_interval(words[i]));
    }
    return what;
}

}  // namespace

std::vector<episode> read_episodes(const std::filesystem::path& path,
                                   const spike_sequence& spikes) {
    std::vector<episode> given;
    std::map<episode, std::size_t> first_line;
    for (const auto& [number, words] : read_lines(path)) {
        try {
            given.push_back(parse_episode(words, spikes));
        } catch (const invalid_argument& error) {
            throw io_error(fmt::format("{}, line {}: {}", path.string(), number, error.what()));
        }
        const auto [same, is_new] = first_line.try_emplace(given.back(), number);
        if (!is_new)
            throw io_error(fmt::format("{}, line {}: the same episode as in line {}", path.string(),
                                       number, same->second));
    }
    return given;
}

std::vector<std::string> units_of_episodes(const std::filesystem::path& path) {
    std::vector<std::string> names;
    for (const episode_line& line : read_lines(path))
        for (std::size_t i = 0; i < line.words.size(); i += 2) names.push_back(line.words[i]);
    std::sort(names.begin(), names.end(), natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace spikeweave
