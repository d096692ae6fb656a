#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/spade/parts.hpp"
#include "report/svg_canvas.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::report {
namespace {

constexpr std::size_t most_drawn_patterns = 12;
constexpr std::size_t most_rows = 48;
constexpr std::size_t most_marks = 4000;  // per pattern
constexpr double labels_width = 84;
constexpr double raster_width = 800;
constexpr double unit_row_height = 13;
constexpr std::size_t most_panel_columns = 3;
constexpr double title_character = 9.2;  // at 13 px, bold, in the widest font
constexpr double panel_gap = 26;
constexpr double lane_height = 26;
constexpr std::size_t most_aligned = 60;  // number of occurrences
constexpr std::size_t most_lanes = 12;

constexpr std::string_view pattern_style =
    R"(  .name { font-size: 10px; fill: #3e4c59; text-anchor: end; }
  .tick { font-size: 10px; fill: #616e7c; text-anchor: middle; }
  .axis { stroke: #9aa5b1; stroke-width: 1; }
  .row { stroke: #eef1f4; stroke-width: 1; }
  .lane { fill: #f6f8fa; }
  .other { stroke: #b8c2cc; stroke-width: 1.2; fill: none; }
</style>
)";

std::string shortened(std::string text, std::size_t most) {
    if (length_of(text) <= most) return text;
    while (length_of(text) > most - 1) text.pop_back();
    // The text must not end within a character.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80U)
        text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0U) text.pop_back();
    return text + "…";
}

class pattern_picture {
public:
    explicit pattern_picture(const pattern_view& p)
        : p_(p),
          trains_(p.report.spikes),
          shown_(p.order.begin(), p.order.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                        p.order.size(), most_drawn_patterns))) {}

    std::string drawn() {
        heading();
        if (!shown_.empty()) {
            raster();
            panels();
        }
        return out_.drawn(y_ + drawing::margin, pattern_style);
    }

private:
    void heading() {
        const pattern_report& report = p_.report;
        y_ = drawing::margin + 14;
        out_.text(drawing::margin, y_, "head", "Patterns");
        y_ += 22;
        out_.text(drawing::margin, y_, "note",
                  fmt::format(
                      "{} · bins of {} ms, windows of {} ms · {}",
                      plural(report.patterns, "pattern", "patterns"), milliseconds(report.axes.bin),
                      milliseconds(report.axes.bin * report.axes.window_bins), p_.how_tested()));
        y_ += 18;
    }

    // Returns the position of an occurrence on the axis of the raster.
    double place(std::uint32_t start) const {
        return p_.report.axes.timed ? to_seconds(p_.report.axes.time_of(start)) : start;
    }

    // Returns the range of the mined data.
    std::pair<double, double> range() const {
        const pattern_axes& axes = p_.report.axes;
        if (!axes.timed)
            return {0, std::max<double>(1, static_cast<double>(p_.report.input.windows))};
        const auto bins = static_cast<std::uint32_t>(p_.report.input.bins);
        double low = place(0);
        double high = place(bins);
        for (const auto& segment : axes.segments) {
            low = std::min(low, to_seconds(segment.original));
            high = std::max(high, to_seconds(segment.original));
        }
        for (const std::size_t i : shown_)
            for (const std::uint32_t start : p_.report.table.occurrences_of(i)) {
                low = std::min(low, place(start));
                high = std::max(high, place(start));
            }
        return {low, std::max(high, low + 1e-3)};
    }

    std::map<std::uint32_t, std::size_t> rows_of_units() const {
        std::map<std::uint32_t, std::size_t> rows;
        for (const std::size_t i : shown_)
            for (const pattern_item item : p_.report.table.pattern(i))
                if (rows.size() < most_rows)
                    rows.try_emplace(item / p_.report.axes.window_bins, rows.size());
        return rows;
    }

    void raster() {
        const auto rows = rows_of_units();
        const auto [low, high] = range();
        const double left = drawing::margin + labels_width;
        const double top = y_ + 8;
        const double bottom = top + unit_row_height * static_cast<double>(rows.size());
        for (const auto& [unit, row] : rows) {
            const double y = top + unit_row_height * (static_cast<double>(row) + 0.5);
            out_.text(left - 8, y + 3.5, "name", shortened(p_.report.axes.unit_names[unit], 14));
            out_.line(left, y, left + raster_width, y, "row");
        }
        for (std::size_t n = 0; n < shown_.size(); ++n) marks(n, rows, low, high, left, top);
        out_.line(left, bottom, left + raster_width, bottom, "axis");
        for (const double mark : axis_marks(low, high, 9)) {
            const double x = left + raster_width * (mark - low) / (high - low);
            out_.line(x, bottom, x, bottom + 4, "axis");
            out_.text(x, bottom + 16, "tick", fmt::format("{:.12g}", mark));
        }
        out_.text(left + raster_width / 2, bottom + 32, "tick",
                  p_.report.axes.timed ? "time (s)" : "window");
        out_.reach(left + raster_width);
        y_ = bottom + 50;
    }

    // Draws every spike of every occurrence at its own time: start plus lag.
    void marks(std::size_t n, const std::map<std::uint32_t, std::size_t>& rows, double low,
               double high, double left, double top) {
        const pattern_table& table = p_.report.table;
        const pattern_axes& axes = p_.report.axes;
        std::string path;
        std::size_t marks = 0;
        for (const std::uint32_t start : table.occurrences_of(shown_[n]))
            for (const pattern_item item : table.pattern(shown_[n])) {
                const auto row = rows.find(item / axes.window_bins);
                if (row == rows.end() || marks == most_marks) continue;
                ++marks;
                const double at = place(start) + (axes.timed ? to_seconds(p_.lag(item)) : 0.0);
                fmt::format_to(std::back_inserter(path), "M{:.1f},{:.1f}v{:g}",
                               left + raster_width * std::min(1.0, (at - low) / (high - low)),
                               top + unit_row_height * static_cast<double>(row->second) + 2,
                               unit_row_height - 4);
            }
        out_.put("<path stroke=\"{}\" stroke-width=\"1.4\" d=\"{}\"/>\n", distinct_colour(n), path);
    }

    void panels() {
        // Columns are not left empty.
        const std::size_t columns = std::min(shown_.size(), most_panel_columns);
        const double gaps = panel_gap * static_cast<double>(columns - 1);
        const double width = (labels_width + raster_width - gaps) / static_cast<double>(columns);
        double tallest = 0;
        for (std::size_t n = 0; n < shown_.size(); ++n) {
            if (n > 0 && n % columns == 0) {
                y_ += tallest + panel_gap;
                tallest = 0;
            }
            const double x =
                drawing::margin + (width + panel_gap) * static_cast<double>(n % columns);
            tallest = std::max(tallest, panel(n, x, width));
        }
        y_ += tallest;
        if (p_.report.patterns > shown_.size()) {
            y_ += 22;
            out_.text(drawing::margin, y_, "note",
                      fmt::format("and {} more: patterns.tsv", p_.report.patterns - shown_.size()));
        }
    }

    // Draws the occurrences of one pattern on top of each other, with one lane per spike. Returns
    // the height.
    double panel(std::size_t n, double x, double width) {
        const pattern_table& table = p_.report.table;
        const std::size_t i = shown_[n];
        const auto items = table.pattern(i);
        const signature_test* test = p_.tests[i];
        constexpr double title_height = 34;
        const std::string title = fmt::format("{}: {}", p_.number[i], p_.chain(i));
        const auto room = static_cast<std::size_t>(width / title_character);
        out_.put(
            "<text x=\"{:g}\" y=\"{:g}\" class=\"title\" style=\"fill:{};font-size:13px\">"
            "<title>{}</title>{}</text>\n",
            x, y_ + 10, distinct_colour(n), xml_escaped(title),
            xml_escaped(shortened(title, room)));
        out_.text(x, y_ + 26, "note",
                  fmt::format("{} times{}", table.counts[i],
                              test == nullptr ? "" : fmt::format(", p {}", p_.p_words(test->p))));
        const std::size_t lanes = std::min(items.size(), most_lanes);
        const double top = y_ + title_height;
        const double left = x + labels_width * 0.6;
        const double across = width - labels_width * 0.6;
        for (std::size_t k = 0; k < lanes; ++k) {
            const double lane = top + (lane_height + 3) * static_cast<double>(k);
            out_.text(left - 5, lane + lane_height / 2 + 3.5, "name",
                      shortened(p_.name(items[k]), 8));
            out_.put(
                "<rect class=\"lane\" x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"/>\n",
                left, lane, across, lane_height);
            aligned(i, items[k], left, lane, across, distinct_colour(n));
        }
        const double bottom = top + (lane_height + 3) * static_cast<double>(lanes);
        out_.text(left, bottom + 11, "tick", "0");
        out_.text(
            left + across - 10, bottom + 11, "tick",
            fmt::format("{} ms", milliseconds(p_.report.axes.bin * p_.report.axes.window_bins)));
        return title_height + (lane_height + 3) * static_cast<double>(lanes) + 16;
    }

    // Draws one spike of a pattern over its occurrences: at its exact time, with the unit's other
    // spikes in grey, if the spikes are known; otherwise in its bin.
    void aligned(std::size_t i, pattern_item item, double left, double top, double across,
                 std::string_view colour) {
        const pattern_axes& axes = p_.report.axes;
        const auto starts = p_.report.table.occurrences_of(i);
        const std::size_t rows = std::min(starts.size(), most_aligned);
        if (rows == 0) return;
        const double height = lane_height / static_cast<double>(rows);
        const double mark = std::max(0.8, height - 0.6);
        const double window = static_cast<double>((axes.bin * axes.window_bins).count());
        std::string of_pattern;
        std::string others;
        for (std::size_t r = 0; r < rows; ++r) {
            const double y = top + height * static_cast<double>(r);
            const auto draw = [&](std::string& into, double us) {
                fmt::format_to(std::back_inserter(into), "M{:.1f},{:.2f}v{:.2f}",
                               left + across * us / window, y, mark);
            };
            if (trains_.size() == 0) {
                draw(of_pattern, static_cast<double>((p_.lag(item) + axes.bin / 2).count()));
                continue;
            }
            const std::int64_t begin = (axes.origin + axes.bin * starts[r]).count();
            const auto train = trains_.times_us(unit_id{item / axes.window_bins});
            for (auto at = std::lower_bound(train.begin(), train.end(), begin);
                 at != train.end() && *at < begin + (axes.bin * axes.window_bins).count(); ++at) {
                const bool its = (*at - begin) / axes.bin.count() == item % axes.window_bins;
                draw(its ? of_pattern : others, static_cast<double>(*at - begin));
            }
        }
        if (!others.empty()) out_.put("<path class=\"other\" d=\"{}\"/>\n", others);
        if (!of_pattern.empty())
            out_.put("<path fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" d=\"{}\"/>\n", colour,
                     of_pattern);
    }

    const pattern_view& p_;
    spike_trains trains_;
    std::vector<std::size_t> shown_;
    drawing out_;
    double y_ = 0;
};

}  // namespace

std::string patterns_svg(const pattern_view& p) {
    return pattern_picture(p).drawn();
}

}  // namespace spikeweave::report
