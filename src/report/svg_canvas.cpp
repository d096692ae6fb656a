#include "report/svg_canvas.hpp"

#include <algorithm>

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

}  // namespace spikeweave::report
