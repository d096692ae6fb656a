#include "report/svg_canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/text.hpp"

namespace spikeweave::report {
namespace {

constexpr std::string_view common_style =
    R"(  text { font-family: "Helvetica Neue", Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; fill: #1f2933; }
  .head { font-size: 19px; font-weight: 600; }
  .title { font-size: 14px; font-weight: 600; }
  .note { font-size: 12px; fill: #616e7c; }
)";

}  // namespace

void drawing::text(double x, double y, std::string_view kind, std::string_view words) {
    // Character widths of DejaVu Sans, the widest of the fonts that may be used.
    const double character = kind == "head" ? 13.2 : kind == "note" ? 7.4 : 0;
    if (character > 0) reach(x + character * static_cast<double>(length_of(words)));
    put("<text x=\"{:g}\" y=\"{:g}\" class=\"{}\">{}</text>\n", x, y, kind, xml_escaped(words));
}

void drawing::title(double y, std::string_view what, std::string_view note) {
    put("<text x=\"{:g}\" y=\"{:g}\"><tspan class=\"title\">{}</tspan><tspan class=\"note\" "
        "dx=\"10\">{}</tspan></text>\n",
        margin, y, xml_escaped(what), xml_escaped(note));
    reach(margin + 9.8 * static_cast<double>(length_of(what)) +
          7.4 * static_cast<double>(length_of(note)) + 10);
}

void drawing::line(double x1, double y1, double x2, double y2, std::string_view kind) {
    put("<line class=\"{}\" x1=\"{:g}\" y1=\"{:g}\" x2=\"{:g}\" y2=\"{:g}\"/>\n", kind, x1, y1, x2,
        y2);
}

void drawing::reach(double x) {
    width_ = std::max(width_, x + margin);
}

std::string drawing::drawn(double height, std::string_view more) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
        "height=\"{1:g}\">\n<style>\n{2}{3}<rect width=\"{0:g}\" height=\"{1:g}\" rx=\"8\" "
        "fill=\"#ffffff\"/>\n{4}</svg>\n",
        width_, height, common_style, more.empty() ? "</style>\n" : more, body_);
}

std::vector<double> axis_marks(double low, double high, std::size_t most, double least_step) {
    std::vector<double> out;
    if (!(low < high) || most == 0) return {low};
    double power = std::pow(10, std::floor(std::log10((high - low) / static_cast<double>(most))));
    double step = power;
    const auto fits = [&] {
        const double marks = std::floor(high / step) - std::ceil(low / step) + 1;
        return step >= least_step && marks <= static_cast<double>(most);
    };
    while (!fits()) {
        for (const double factor : {1.0, 2.0, 5.0})
            if (!fits()) step = factor * power;
        power *= 10;
    }
    // Multiples are computed from integers, so that rounding errors do not accumulate.
    for (double k = std::ceil(low / step); k <= std::floor(high / step); ++k)
        out.push_back(k * step);
    return out;
}

std::string_view distinct_colour(std::size_t number) {
    // The palette of Okabe and Ito without yellow, which is hard to see on white.
    constexpr std::array<std::string_view, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#5b4b8a"};
    return colours[number % colours.size()];
}

}  // namespace spikeweave::report
