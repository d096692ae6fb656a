#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "report/spade/parts.hpp"
#include "report/svg_canvas.hpp"

namespace spikeweave::report {
namespace {

constexpr double width = 760;
constexpr double size_row_height = 22;
constexpr std::size_t most_columns = 400;
constexpr std::size_t most_sizes = 24;

constexpr std::string_view spectrum_style =
    R"(  .name { font-size: 11px; fill: #3e4c59; text-anchor: end; }
  .tick { font-size: 11px; fill: #616e7c; text-anchor: middle; }
  .key { font-size: 11px; fill: #3e4c59; }
  .axis { stroke: #9aa5b1; stroke-width: 1; }
  .unreached { fill: #f6f8fa; }
  .found { fill: #ffffff; stroke: #1f2933; stroke-width: 1.2; }
  .kept { fill: #d55e00; stroke: #ffffff; stroke-width: 0.8; }
</style>
)";

struct shade {
    double up_to;
    std::string_view colour;
    std::string_view words;
};
constexpr std::array<shade, 6> shades{{{0.001, "#e3f2f6", "p ≤ 0.001"},
                                       {0.01, "#b5dbe5", "≤ 0.01"},
                                       {0.05, "#7dbdd0", "≤ 0.05"},
                                       {0.2, "#3f97b1", "≤ 0.2"},
                                       {0.9999, "#0b7285", "< 1"},
                                       {1, "#084d5a", "1"}}};

std::string_view colour_of(double p) {
    for (const shade& one : shades)
        if (p <= one.up_to) return one.colour;
    return shades.back().colour;
}

// A map with sizes downwards and counts to the right. With "3d#" a field shows the largest p of its
// durations, which is the least significant one.
class map_of_p {
public:
    explicit map_of_p(const pattern_view& p) : p_(p) {
        for (const spectrum_entry& entry : p.report.assessment->spectrum.entries) {
            double& field = fields_[{entry.what.size, entry.what.count}];
            field = std::max(field, entry.p);
            include(entry.what);
        }
        for (const signature_test& test : p.report.assessment->tests.signatures) include(test.what);
    }

    std::string drawn() {
        double y = drawing::margin + 14;
        out_.text(drawing::margin, y, "head", "p-value spectrum");
        y += 22;
        out_.text(
            drawing::margin, y, "note",
            fmt::format("surrogates with a pattern of this size{} that occurs this often · {}",
                        p_.report.spectrum == spectrum_kind::size_count
                            ? ""
                            : " (of any duration: the largest p)",
                        p_.how_tested()));
        top_ = y + 46;
        if (low_ > high_) {
            out_.text(drawing::margin, top_, "note",
                      "nothing was found, in the data or in a surrogate");
            return out_.drawn(top_ + drawing::margin);
        }
        key(y + 18);
        out_.put(
            "<rect class=\"unreached\" x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"/>\n",
            left, top_, width, bottom() - top_);
        if (fields_.empty())
            out_.text(left + width / 2, bottom() + 52, "tick",
                      "no surrogate has a pattern of these sizes that occurs this often");
        fields();
        found();
        axes();
        out_.reach(left + width);
        return out_.drawn(bottom() + 72, spectrum_style);
    }

private:
    static constexpr double left = drawing::margin + 46;

    void include(const pattern_signature& what) {
        low_ = std::min(low_, what.count);
        high_ = std::max(high_, what.count);
        smallest_ = std::min(smallest_, what.size);
        largest_ =
            std::max(largest_, std::min<std::uint32_t>(what.size, smallest_ + most_sizes - 1));
    }

    // Returns how many counts share a column, so that there are not too many columns.
    std::uint32_t counts_a_column() const {
        return static_cast<std::uint32_t>((high_ - low_) / most_columns + 1);
    }
    std::uint32_t column_of(std::uint32_t count) const {
        return (count - low_) / counts_a_column();
    }
    double column_width() const { return width / (column_of(high_) + 1.0); }
    double x_of(std::uint32_t count) const { return left + column_width() * column_of(count); }
    double y_of(std::uint32_t size) const { return top_ + size_row_height * (size - smallest_); }
    double bottom() const { return y_of(largest_) + size_row_height; }

    void key(double y) {
        double x = left;
        for (const shade& one : shades) {
            out_.put("<rect x=\"{:g}\" y=\"{:g}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                     y - 2, one.colour);
            out_.text(x + 16, y + 8, "key", one.words);
            x += 26 + 7.0 * static_cast<double>(length_of(one.words));
        }
        out_.put("<circle class=\"found\" cx=\"{:g}\" cy=\"{:g}\" r=\"3.5\"/>\n", x + 6, y + 4);
        out_.text(x + 14, y + 8, "key", "found");
        out_.put("<circle class=\"kept\" cx=\"{:g}\" cy=\"{:g}\" r=\"4\"/>\n", x + 62, y + 4);
        out_.text(x + 70, y + 8, "key", "significant");
    }

    void fields() {
        std::map<std::pair<std::uint32_t, std::uint32_t>, double> columns;
        for (const auto& [at, p] : fields_)
            if (at.first <= largest_) {
                double& field = columns[{at.first, column_of(at.second)}];
                field = std::max(field, p);
            }
        for (const auto& [at, p] : columns)
            out_.put(
                "<rect x=\"{:.2f}\" y=\"{:g}\" width=\"{:.2f}\" height=\"{:g}\" "
                "fill=\"{}\"/>\n",
                left + column_width() * at.second, y_of(at.first), column_width() + 0.05,
                size_row_height - 1, colour_of(p));
    }

    void found() {
        // Draws one mark per field; significant ones are on top.
        std::map<std::pair<std::uint32_t, std::uint32_t>, bool> marks;
        for (const signature_test& test : p_.report.assessment->tests.signatures)
            if (test.what.size <= largest_) {
                bool& significant = marks[{test.what.size, column_of(test.what.count)}];
                significant = significant || test.significant;
            }
        for (const bool significant : {false, true})
            for (const auto& [at, its] : marks)
                if (its == significant)
                    out_.put("<circle class=\"{}\" cx=\"{:.2f}\" cy=\"{:g}\" r=\"{:.2f}\"/>\n",
                             significant ? "kept" : "found",
                             left + column_width() * (at.second + 0.5),
                             y_of(at.first) + size_row_height / 2 - 0.5,
                             std::clamp(column_width() / 2 - 0.5, 1.2, significant ? 5.0 : 4.0));
    }

    void axes() {
        for (std::uint32_t size = smallest_; size <= largest_; ++size)
            out_.text(left - 8, y_of(size) + size_row_height / 2 + 3.5, "name",
                      std::to_string(size));
        out_.text(drawing::margin, top_ - 8, "key", "size");
        out_.line(left, bottom(), left + width, bottom(), "axis");
        for (const double mark : axis_marks(low_, high_, 10, 1)) {
            const auto count = static_cast<std::uint32_t>(mark);
            out_.text(x_of(count) + column_width() / 2, bottom() + 15, "tick",
                      std::to_string(count));
        }
        out_.text(left + width / 2, bottom() + 34, "tick", "occurrences");
    }

    const pattern_view& p_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> fields_;
    std::uint32_t low_ = ~0U;
    std::uint32_t high_ = 0;
    std::uint32_t smallest_ = ~0U;
    std::uint32_t largest_ = 0;
    double top_ = 0;
    drawing out_;
};

}  // namespace

std::string spectrum_svg(const pattern_view& p) {
    return map_of_p(p).drawn();
}

}  // namespace spikeweave::report
