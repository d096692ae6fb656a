#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "io/result_table.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/detector.hpp"

namespace spikeweave {
namespace {

// The units of an episode with the delays between them, and the line of the file that has it.
struct episode_line {
    std::size_t number;
    std::vector<std::string> words;
};

// Names with spaces stand between quotation marks.
std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; (in >> std::ws).peek() != '#' && in >> std::quoted(word);)
        words.push_back(word);
    return words;
}

std::vector<episode_line> read_list(const std::filesystem::path& path) {
    std::ifstream in = io::open_text(path);
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

// The table `episodes.tsv` writes units as "n0→n1→n2" and delays as "(4,6] (4,6] ms".
std::vector<std::string> words_of_row(const std::string& units, const std::string& delays) {
    const std::vector<std::string_view> names = core::split(units, "→");
    const std::vector<std::string_view> intervals = core::split(delays, " ");
    std::vector<std::string> words{std::string(names.front())};
    for (std::size_t step = 0; step + 1 < names.size(); ++step) {
        std::string interval(step < intervals.size() ? intervals[step] : "");
        if (interval.size() > 2) interval = interval.substr(1, interval.size() - 2) + "ms";
        std::replace(interval.begin(), interval.end(), ',', '-');
        words.push_back(interval);
        words.emplace_back(names[step + 1]);
    }
    return words;
}

bool is_part_of(const std::vector<std::string>& words, const std::vector<std::string>& longer) {
    return words.size() < longer.size() &&
           std::search(longer.begin(), longer.end(), words.begin(), words.end()) != longer.end();
}

// The episodes of a result's folder: the significant ones that are not part of a longer one, or, if
// they were not tested, the maximal ones.
std::vector<episode_line> read_result(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "episodes.tsv";
    io::result_table rows(path);
    const std::string_view chosen_by =
        rows.has("significant") || !rows.has("maximal") ? "significant" : "maximal";
    const std::size_t units = rows.column("units"), delays = rows.column("delays"),
                      chosen = rows.column(chosen_by);
    std::vector<episode_line> lines;
    while (rows.next()) {
        if (rows[chosen] != "yes" || rows[delays] == "-") continue;
        std::vector<std::string> words = words_of_row(rows[units], rows[delays]);
        // The longest ones are first. A maximal one is part of no other.
        const bool is_part =
            chosen_by == "significant" &&
            std::any_of(lines.begin(), lines.end(), [&](const episode_line& longer) {
                return is_part_of(words, longer.words);
            });
        if (!is_part) lines.push_back({rows.line(), std::move(words)});
    }
    if (lines.empty())
        throw io_error(fmt::format("{} holds no {} episode", path.string(), chosen_by));
    return lines;
}

std::vector<episode_line> read_lines(const std::filesystem::path& path) {
    std::error_code unknown;
    return std::filesystem::is_directory(path, unknown) ? read_result(path) : read_list(path);
}

// The number of "@2", the spike at which an armed episode is detected.
std::size_t parse_fire_at(const std::string& word, std::size_t size) {
    std::size_t number = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data() + 1, end, number);
    if (error != std::errc{} || stopped != end || number == 0 || number > size)
        throw invalid_argument(fmt::format(
            "'{}' is not the number of one of the episode's {} spikes, such as @1", word, size));
    return number;
}

episode parse_episode(std::span<const std::string> words, const spike_sequence& spikes) {
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

// Calls `take` with the words of each line. Its results must differ between lines.
template <class Take>
void for_each_line(const std::filesystem::path& path, const Take& take) {
    std::map<decltype(take(std::vector<std::string>())), std::size_t> first_line;
    for (const auto& [number, words] : read_lines(path)) {
        try {
            const auto [same, is_new] = first_line.try_emplace(take(words), number);
            if (!is_new)
                throw invalid_argument(fmt::format("the same episode as in line {}", same->second));
        } catch (const invalid_argument& error) {
            throw io_error(fmt::format("{}, line {}: {}", path.string(), number, error.what()));
        }
    }
}

}  // namespace

std::vector<episode> read_episodes(const std::filesystem::path& path,
                                   const spike_sequence& spikes) {
    std::vector<episode> given;
    for_each_line(path, [&](const std::vector<std::string>& words) {
        given.push_back(parse_episode(words, spikes));
        return given.back();
    });
    return given;
}

std::vector<armed_episode> read_armed_episodes(const std::filesystem::path& path,
                                               const spike_sequence& spikes) {
    std::vector<armed_episode> given;
    for_each_line(path, [&](std::span<const std::string> words) {
        const bool has_place = words.size() % 2 == 0 && words.back().starts_with('@');
        armed_episode one{parse_episode(has_place ? words.first(words.size() - 1) : words, spikes)};
        if (has_place) one.fire_at = parse_fire_at(words.back(), one.what.size());
        given.push_back(one);
        return std::pair(std::move(one.what), one.fire_at);
    });
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
