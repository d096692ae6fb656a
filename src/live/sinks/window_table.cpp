#include "live/sinks/window_table.hpp"

#include <fmt/format.h>

#include <iomanip>
#include <iterator>
#include <sstream>
#include <utility>

namespace spikeweave::live {
namespace {

// A name as it stands in a file of episodes.
std::string word_of(const std::string& name) {
    if (name.find_first_of(" \t\"\\#") == std::string::npos) return name;
    std::ostringstream word;
    word << std::quoted(name);
    return word.str();
}

}  // namespace

window_table::window_table(text_writer write) : write_(std::move(write)) {
    write_("epoch\twindow\tbegin_s\tend_s\thas_gap\tsize\tepisode\tcount\n");
}

void window_table::units_added(std::span<const std::string> names) {
    units_.add(names);
}

// An episode is written as in a file of armed episodes: "n0 4-6ms n1".
void window_table::mined(const mined_window& window) {
    const window_bounds& bounds = window.mined.bounds;
    const auto units = units_.now();
    const std::string head = fmt::format("{}\t{}\t{:.6f}\t{:.6f}\t{}\t", window.epoch,
                                         bounds.number, to_seconds(bounds.begin),
                                         to_seconds(bounds.end), window.has_gap ? "yes" : "no");
    std::string text;
    for (const counted_episode* const one : units->ordered(window.mined.table)) {
        const auto& [what, count] = *one;
        fmt::format_to(std::back_inserter(text), "{}{}\t{}", head, what.size(),
                       word_of((*units)[what.units.front()]));
        for (std::size_t step = 0; step < what.delays.size(); ++step)
            fmt::format_to(std::back_inserter(text), " {} {}",
                           format_delays({&what.delays[step], 1}),
                           word_of((*units)[what.units[step + 1]]));
        fmt::format_to(std::back_inserter(text), "\t{}\n", count);
    }
    if (!text.empty()) write_(text);
}

}  // namespace spikeweave::live
