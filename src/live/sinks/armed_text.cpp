#include "live/sinks/armed_text.hpp"

#include <fmt/format.h>

#include <iomanip>
#include <iterator>
#include <sstream>

namespace spikeweave::live {
namespace {

std::string word_of(const std::string& name) {
    if (name.find_first_of(" \t\"\\#") == std::string::npos) return name;
    std::ostringstream word;
    word << std::quoted(name);
    return word.str();
}

}  // namespace

std::string armed_text(const episode& what, std::span<const std::string> names) {
    std::string text = word_of(names[to_index(what.units.front())]);
    for (std::size_t step = 0; step < what.delays.size(); ++step)
        fmt::format_to(std::back_inserter(text), " {} {}", format_delays({&what.delays[step], 1}),
                       word_of(names[to_index(what.units[step + 1])]));
    return text;
}

std::string armed_text(std::span<const pattern_spike> pattern, duration bin,
                       std::span<const std::string> names) {
    std::string text;
    for (const auto& [unit, lag] : pattern) {
        if (!text.empty()) text += ", ";
        text += names[to_index(unit)];
        if (lag > 0)
            fmt::format_to(std::back_inserter(text), " after {}", format_duration(bin * lag));
    }
    return text;
}

}  // namespace spikeweave::live
