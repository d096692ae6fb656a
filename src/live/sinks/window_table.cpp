#include "live/sinks/window_table.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "live/sinks/armed_text.hpp"

namespace spikeweave::live {

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
        fmt::format_to(std::back_inserter(text), "{}{}\t{}\t{}\n", head, what.size(),
                       armed_text(what, units->all()), count);
    }
    if (!text.empty()) write_(text);
}

}  // namespace spikeweave::live
