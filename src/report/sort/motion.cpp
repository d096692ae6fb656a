#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>

#include "report/sort/parts.hpp"
#include "report/svg_canvas.hpp"
#include "report/text.hpp"

namespace spikeweave::report {
namespace {

constexpr double picture_width = 760;
constexpr double row_height = 90;
constexpr double plot_left = drawing::margin + 60;

constexpr std::string_view motion_style =
    R"(  .name { font-size: 11px; fill: #3e4c59; text-anchor: end; }
  .tick { font-size: 11px; fill: #616e7c; text-anchor: middle; }
  .axis { stroke: #9aa5b1; stroke-width: 1; }
  .rest { stroke: #d9e2ec; stroke-width: 1; }
  .moved { stroke: #0b7285; stroke-width: 1.4; fill: none; }
</style>
)";

// One row for each window, the deepest in the tissue, which is the lowest y, at the bottom.
class motion_picture {
public:
    explicit motion_picture(const probe_motion& of) : of_(of) {
        for (const double um : of.displacement_um) most_um_ = std::max(most_um_, std::abs(um));
    }

    std::string drawn() {
        out_.text(drawing::margin, drawing::margin + 14, "head", "Motion");
        out_.text(drawing::margin, drawing::margin + 36, "note",
                  fmt::format("displacement of the tissue along the probe, {} · up to {:.1f} um "
                              "from the median",
                              to_string(of_.model), most_um_));
        for (std::size_t w = 0; w < of_.depths_um.size(); ++w) row(w);
        time_axis();
        out_.reach(plot_left + picture_width);
        return out_.drawn(bottom() + 56, motion_style);
    }

private:
    double bottom() const { return top + row_height * static_cast<double>(of_.depths_um.size()); }
    double length_s() const { return of_.time_bin_s * static_cast<double>(of_.times_s.size()); }
    double begin_s() const { return of_.times_s.front() - of_.time_bin_s / 2; }
    double x_of(double time_s) const {
        return plot_left + picture_width * (time_s - begin_s()) / length_s();
    }

    void row(std::size_t window) {
        const std::size_t above = of_.depths_um.size() - 1 - window;
        const double middle = top + row_height * (static_cast<double>(above) + 0.5);
        const double per_um = 0.45 * row_height / most_um_;
        out_.line(plot_left, middle, plot_left + picture_width, middle, "rest");
        out_.text(plot_left - 8, middle + 4, "name",
                  fmt::format("{:.0f} um", of_.depths_um[window]));
        std::string path;
        for (std::size_t t = 0; t < of_.times_s.size(); ++t)
            fmt::format_to(
                std::back_inserter(path), "{}{:.1f},{:.1f}", t == 0 ? "M" : " L",
                x_of(of_.times_s[t]),
                middle - per_um * of_.displacement_um[t * of_.depths_um.size() + window]);
        out_.put("<path class=\"moved\" d=\"{}\"/>\n", path);
    }

    void time_axis() {
        constexpr std::size_t most_marks = 10;
        out_.line(plot_left, bottom(), plot_left + picture_width, bottom(), "axis");
        for (const double mark : axis_marks(begin_s(), begin_s() + length_s(), most_marks)) {
            out_.line(x_of(mark), bottom(), x_of(mark), bottom() + 4, "axis");
            out_.text(x_of(mark), bottom() + 18, "tick", number_text(mark));
        }
        out_.text(plot_left + picture_width / 2, bottom() + 38, "tick", "time (s)");
    }

    static constexpr double top = drawing::margin + 52;

    const probe_motion& of_;
    drawing out_;
    double most_um_ = 1;
};

}  // namespace

std::string motion_tsv(const sorting_report& report) {
    const probe_motion& motion = report.motion;
    std::string text = "time_s\tdepth_um\tdisplacement_um\n";
    for (std::size_t t = 0; t < motion.times_s.size(); ++t)
        for (std::size_t w = 0; w < motion.depths_um.size(); ++w)
            fmt::format_to(std::back_inserter(text), "{}\t{}\t{:.2f}\n",
                           number_text(motion.times_s[t]), number_text(motion.depths_um[w]),
                           motion.displacement_um[t * motion.depths_um.size() + w]);
    return text;
}

std::string motion_svg(const sorting_report& report) {
    return motion_picture(report.motion).drawn();
}

}  // namespace spikeweave::report
