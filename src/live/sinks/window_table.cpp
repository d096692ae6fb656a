#include "live/sinks/window_table.hpp"

#include <fmt/format.h>

#include <utility>

#include "live/sinks/unit_names.hpp"
#include "spikeweave/live/window_table.hpp"

namespace spikeweave {

std::string_view window_table_columns() {
    return "epoch\twindow\tbegin_s\tend_s\thas_gap\tsize\tepisode\tcount";
}

std::string window_table_line(std::uint64_t epoch, const window_bounds& bounds, bool has_gap,
                              const counted_episode& counted,
                              std::span<const std::string> unit_names) {
    const auto& [what, count] = counted;
    return fmt::format("{}\t{}\t{:.6f}\t{:.6f}\t{}\t{}\t{}\t{}", epoch, bounds.number,
                       to_seconds(bounds.begin), to_seconds(bounds.end), has_gap ? "yes" : "no",
                       what.size(), live::armed_text(what, unit_names), count);
}

}  // namespace spikeweave

namespace spikeweave::live {

window_table::window_table(text_writer write) : write_(std::move(write)) {
    write_(std::string(window_table_columns()) + '\n');
}

void window_table::take(const event& what) {
    what.visit(handlers{[&](const units_added& more) { units_.add(more.names); },
                        [&](const mined_window& window) { write(window); }});
}

void window_table::write(const mined_window& window) {
    const auto units = units_.now();
    std::string text;
    for (const counted_episode* const one : units->ordered(window.mined.table))
        text += window_table_line(window.epoch, window.mined.bounds, window.has_gap, *one,
                                  units->all()) +
                '\n';
    if (!text.empty()) write_(text);
}

}  // namespace spikeweave::live
