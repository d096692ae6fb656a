#include "report/episodes/circuit_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "report/episodes/view.hpp"

namespace spikeweave::report {
namespace {

constexpr double node_radius = 17;
constexpr double node_distance = 84;  // along the circle
constexpr double least_circle = 150;
constexpr std::size_t most_labelled_edges = 40;

struct point {
    double x;
    double y;
};

class circuit_graph {
public:
    circuit_graph(drawing& out, double top, std::span<const std::string> unit_names,
                  std::span<const graph_arrow> arrows)
        : out_(out), names_(unit_names), arrows_(arrows) {
        for (const graph_arrow& one : arrows) {
            places_.try_emplace(one.from);
            places_.try_emplace(one.to);
        }
        const auto units = static_cast<double>(places_.size());
        circle_ = std::max(least_circle, units * node_distance / (2 * std::numbers::pi));
        const double reach = circle_ + node_radius + loop_height;
        centre_ = {drawing::margin + reach, top + reach};
        double number = 0;
        for (auto& [unit, place] : places_) {
            const double angle = 2 * std::numbers::pi * number++ / units;
            place = {centre_.x + circle_ * std::sin(angle), centre_.y - circle_ * std::cos(angle)};
        }
    }

    double draw() {
        for (const graph_arrow& one : arrows_) arrow(one);
        // Labels are on top of all arrows, and circles on top of labels.
        if (arrows_.size() <= most_labelled_edges)
            for (const graph_arrow& one : arrows_) label(one);
        for (const auto& [unit, place] : places_) node(unit, place);
        out_.reach(centre_.x + circle_ + node_radius + loop_height);
        return 2 * (circle_ + node_radius + loop_height);
    }

private:
    static constexpr double loop_height = 34;

    // Returns the control point of an arrow. Between two units it is bent to one side, so that the
    // two directions have separate lines; from a unit to itself it is outside the circle.
    point bend(const graph_arrow& of) const {
        const point a = places_.at(of.from);
        const point b = places_.at(of.to);
        if (of.from == of.to) {
            const double out = (circle_ + node_radius + 2 * loop_height) / circle_;
            return {centre_.x + (a.x - centre_.x) * out, centre_.y + (a.y - centre_.y) * out};
        }
        constexpr double share = 0.16;
        return {(a.x + b.x) / 2 + share * (b.y - a.y), (a.y + b.y) / 2 - share * (b.x - a.x)};
    }

    // Returns the point at which a line from a unit towards `to` leaves the unit's circle.
    static point leave(point from, point to, double aside) {
        const double dx = to.x - from.x;
        const double dy = to.y - from.y;
        const double length = std::max(1.0, std::hypot(dx, dy));
        const double along = (node_radius + 3) / length;
        return {from.x + dx * along - dy * aside / length,
                from.y + dy * along + dx * aside / length};
    }

    void arrow(const graph_arrow& of) {
        const point middle = bend(of);
        const double aside = of.from == of.to ? node_radius / 2 : 0;
        const point begin = leave(places_.at(of.from), middle, aside);
        const point end = leave(places_.at(of.to), middle, -aside);
        out_.put(
            "<path class=\"{}\" stroke-width=\"{:.3g}\" d=\"M{:.1f},{:.1f} Q{:.1f},{:.1f} "
            "{:.1f},{:.1f}\"/>\n",
            of.kind, 0.8 + 2.2 * of.strength, begin.x, begin.y, middle.x, middle.y, end.x, end.y);
    }

    void label(const graph_arrow& of) {
        const point a = places_.at(of.from);
        const point b = places_.at(of.to);
        const point middle = bend(of);
        // The midpoint of the curve.
        out_.put("<text class=\"on-arrow\" x=\"{:.1f}\" y=\"{:.1f}\" dy=\"0.35em\">{}</text>\n",
                 (a.x + 2 * middle.x + b.x) / 4, (a.y + 2 * middle.y + b.y) / 4,
                 delay_range(of.delay));
    }

    void node(unit_id unit, point at) {
        const std::string& plain = names_[to_index(unit)];
        const std::string name = xml_escaped(plain);
        const std::size_t length = std::max<std::size_t>(length_of(plain), 1);
        out_.put(
            "<g><title>{0}</title><circle cx=\"{1:.1f}\" cy=\"{2:.1f}\" r=\"{3:g}\"/><text "
            "class=\"unit\" x=\"{1:.1f}\" y=\"{2:.1f}\" dy=\"0.35em\" "
            "font-size=\"{4:.3g}\">{0}</text></g>\n",
            name, at.x, at.y, node_radius,
            std::clamp(48.0 / static_cast<double>(length), 4.5, 13.0));
    }

    drawing& out_;
    std::span<const std::string> names_;
    std::span<const graph_arrow> arrows_;
    std::map<unit_id, point> places_;
    double circle_ = 0;
    point centre_{};
};

}  // namespace

double draw_circuit_graph(drawing& out, double top, std::span<const std::string> unit_names,
                          std::span<const graph_arrow> arrows) {
    return circuit_graph(out, top, unit_names, arrows).draw();
}

}  // namespace spikeweave::report
