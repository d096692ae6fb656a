#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>

#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave {
namespace {

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word && word.front() != '#';) words.push_back(word);
    return words;
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
    std::ifstream in(path);
    if (!in)
        throw io_error(fmt::format("cannot read {}: {}", path.string(),
                                   std::generic_category().message(errno)));
    std::vector<episode> given;
    std::map<episode, std::size_t> first_line;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const std::vector<std::string> words = words_of(line);
        if (words.empty()) continue;
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
    if (in.bad()) throw io_error(fmt::format("cannot read {}", path.string()));
    if (given.empty()) throw io_error(fmt::format("{} holds no episode", path.string()));
    return given;
}

}  // namespace spikeweave
