#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "report/episodes/view.hpp"
#include "report/text.hpp"

namespace spikeweave::report {
namespace {

constexpr std::string_view style =
    R"(  text { font-family: "Helvetica Neue", Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; fill: #1f2933; }
  .head { font-size: 19px; font-weight: 600; }
  .title { font-size: 14px; font-weight: 600; }
  .note { font-size: 12px; fill: #616e7c; }
  .on-arrow { font-size: 9px; fill: #3e4c59; text-anchor: middle; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
  .unit { text-anchor: middle; font-weight: 600; }
  circle { fill: #e3f2f6; stroke: #0b7285; stroke-width: 1.6; }
  .both-signs circle { stroke-dasharray: 5 3; }
  .delay { font-size: 11px; fill: #3e4c59; text-anchor: middle; }
  .strength { font-size: 11px; fill: #0b7285; text-anchor: middle; }
  .arrow { stroke: #0b7285; fill: none; marker-end: url(#head); }
  .inhibits { stroke: #b3261e; marker-end: url(#bar); }
</style>
<defs><marker id="bar" markerUnits="userSpaceOnUse" markerWidth="6" markerHeight="12" refX="3" refY="6" orient="auto"><path d="M1.5,0.5 H4 V11.5 H1.5 z" fill="#b3261e"/></marker><marker id="head" markerUnits="userSpaceOnUse" markerWidth="11" markerHeight="10" refX="9" refY="5" orient="auto"><path d="M0,0.5 L10,5 L0,9.5 z" fill="#0b7285"/></marker></defs>
)";

// An SVG picture, whose width follows from what was drawn.
class drawing {
public:
    static constexpr double margin = 28;

    template <typename... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    }
    // Heads and notes widen the picture to their width in DejaVu Sans, the widest of the fonts.
    void text(double x, double y, std::string_view kind, std::string_view words) {
        const double character = kind == "head" ? 13.2 : kind == "note" ? 7.4 : 0;
        if (character > 0) reach(x + character * static_cast<double>(length_of(words)));
        put("<text x=\"{:g}\" y=\"{:g}\" class=\"{}\">{}</text>\n", x, y, kind, xml_escaped(words));
    }
    // Draws a heading and a note in grey.
    void title(double y, std::string_view what, std::string_view note) {
        put("<text x=\"{:g}\" y=\"{:g}\"><tspan class=\"title\">{}</tspan><tspan class=\"note\" "
            "dx=\"10\">{}</tspan></text>\n",
            margin, y, xml_escaped(what), xml_escaped(note));
        reach(margin + 9.8 * static_cast<double>(length_of(what)) +
              7.4 * static_cast<double>(length_of(note)) + 10);
    }
    // Draws a circle with a name, dashed if the unit excites some units and inhibits others. A long
    // name is drawn smaller; the tooltip shows it in full.
    void unit(double x, double y, double radius, const std::string& name,
              bool of_both_signs = false) {
        const auto length = static_cast<double>(std::max<std::size_t>(length_of(name), 1));
        put("<g{5}><title>{0}</title><circle cx=\"{1:.1f}\" cy=\"{2:.1f}\" r=\"{3:g}\"/><text "
            "class=\"unit\" x=\"{1:.1f}\" y=\"{2:.1f}\" dy=\"0.35em\" "
            "font-size=\"{4:.3g}\">{0}</text></g>\n",
            xml_escaped(name), x, y, radius,
            std::clamp(2.84 * radius / length, 0.25 * radius, 8.75 + radius / 4),
            of_both_signs ? " class=\"both-signs\"" : "");
        reach(x + radius);
    }
    void reach(double x) { width_ = std::max(width_, x + margin); }
    std::string drawn(double height) const {
        return fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
            "height=\"{1:g}\">\n<style>\n{2}<rect width=\"{0:g}\" height=\"{1:g}\" rx=\"8\" "
            "fill=\"#ffffff\"/>\n{3}</svg>\n",
            width_, height, style, body_);
    }

private:
    std::string body_;
    double width_ = 480;
};

constexpr std::size_t most_labelled_edges = 40;
constexpr std::size_t most_graph_edges = 150;

struct point {
    double x;
    double y;
};

struct graph_arrow {
    unit_id from{};
    unit_id to{};
    double strength = 0;  // in [0, 1]; its width grows with this
    delay_interval delay{};
    std::string_view kind;  // its class in the style of the picture
    int number = 0;         // among those with these ends
};

bool have_one_delay(std::span<const graph_arrow> arrows) {
    return std::ranges::all_of(
        arrows, [&](const graph_arrow& one) { return one.delay == arrows.front().delay; });
}

// Draws arrows as one graph: units are where their electrodes are, or else on a circle, in order.
class circuit_graph {
public:
    circuit_graph(drawing& out, double top, std::span<const std::string> unit_names,
                  std::span<const graph_arrow> arrows, std::span<const unit_id> of_both_signs,
                  const unit_places& positions)
        : out_(out), names_(unit_names), arrows_(arrows), of_both_signs_(of_both_signs) {
        for (const graph_arrow& one : arrows) {
            places_.try_emplace(one.from);
            places_.try_emplace(one.to);
        }
        if (!put_on_array(positions, top)) put_on_circle(top);
    }

    // Returns the height of the graph.
    double draw() {
        for (const graph_arrow& one : arrows_) arrow(one);
        // Labels are on top of all arrows, and circles on top of labels.
        if (arrows_.size() <= most_labelled_edges && !have_one_delay(arrows_))
            for (const graph_arrow& one : arrows_) label(one);
        for (const auto& [unit, place] : places_)
            out_.unit(place.x, place.y, node_radius, names_[to_index(unit)],
                      std::ranges::binary_search(of_both_signs_, unit));
        out_.reach(right_);
        return height_;
    }

private:
    static constexpr double node_radius = 17;
    static constexpr double node_distance = 84;  // along the circle
    static constexpr double least_circle = 150;
    static constexpr double loop_height = 34;
    static constexpr double most_side = 1600;

    // Puts units where their electrodes are, if all are known and stand apart in two dimensions.
    bool put_on_array(const unit_places& positions, double top) {
        std::vector<unit_place> at;
        for (const auto& [unit, place] : places_) {
            const auto found = positions.find(names_[to_index(unit)]);
            if (found == positions.end()) return false;
            at.push_back(found->second);
        }
        const auto [left, right] = std::ranges::minmax(at, {}, &unit_place::x_um);
        const auto [low, high] = std::ranges::minmax(at, {}, &unit_place::y_um);
        const double width = right.x_um - left.x_um;
        const double height = high.y_um - low.y_um;
        double nearest = std::max(width, height);
        for (std::size_t i = 0; i < at.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                nearest =
                    std::min(nearest, std::hypot(at[i].x_um - at[j].x_um, at[i].y_um - at[j].y_um));
        const double scale = node_distance / nearest;
        if (!(nearest > 0) || scale * std::max(width, height) > most_side ||
            std::min(width, height) < std::max(width, height) / 4)
            return false;
        const double reach = node_radius + loop_height;
        auto place = at.begin();
        for (auto& [unit, point] : places_) {
            point = {drawing::margin + reach + scale * (place->x_um - left.x_um),
                     top + reach + scale * (high.y_um - place->y_um)};
            ++place;
        }
        centre_ = {drawing::margin + reach + scale * width / 2, top + reach + scale * height / 2};
        right_ = drawing::margin + 2 * reach + scale * width;
        height_ = 2 * reach + scale * height;
        return true;
    }

    void put_on_circle(double top) {
        const auto units = static_cast<double>(places_.size());
        const double circle =
            std::max(least_circle, units * node_distance / (2 * std::numbers::pi));
        const double reach = circle + node_radius + loop_height;
        centre_ = {drawing::margin + reach, top + reach};
        double number = 0;
        for (auto& [unit, place] : places_) {
            const double angle = 2 * std::numbers::pi * number++ / units;
            place = {centre_.x + circle * std::sin(angle), centre_.y - circle * std::cos(angle)};
        }
        right_ = centre_.x + reach;
        height_ = 2 * reach;
    }

    // Returns the control point of an arrow. Between two units it is bent to one side, so that the
    // two directions have separate lines; from a unit to itself it is away from the middle. Each
    // further arrow with the same ends is bent more.
    point bend(const graph_arrow& of) const {
        const point a = places_.at(of.from);
        const point b = places_.at(of.to);
        if (of.from == of.to) {
            const double away = std::hypot(a.x - centre_.x, a.y - centre_.y);
            const double height = node_radius + (2 + 0.5 * of.number) * loop_height;
            if (away == 0) return {a.x, a.y - height};
            const double out = (away + height) / away;
            return {centre_.x + (a.x - centre_.x) * out, centre_.y + (a.y - centre_.y) * out};
        }
        const double share = 0.16 * (1 + of.number);
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

    // The label is outside of the bend, so that the arrow, which may be no longer than the words,
    // is seen, and where it covers no unit and no other label if there is such a place.
    void label(const graph_arrow& of) {
        const point a = places_.at(of.from);
        const point b = places_.at(of.to);
        const point middle = bend(of);
        const std::string words = format_delays({&of.delay, 1});
        const point half{2.5 * static_cast<double>(words.size()), 5};
        const double dx = middle.x - (a.x + b.x) / 2;
        const double dy = middle.y - (a.y + b.y) / 2;
        const double length = std::max(1.0, std::hypot(dx, dy));
        const double away = (std::abs(dx) * half.x + std::abs(dy) * half.y) / length + 3;
        const auto beside = [&](double t) {  // the point at t of the curve
            const double u = 1 - t;
            return point{u * u * a.x + 2 * u * t * middle.x + t * t * b.x + away * dx / length,
                         u * u * a.y + 2 * u * t * middle.y + t * t * b.y + away * dy / length};
        };
        constexpr std::array<double, 5> along{0.5, 0.4, 0.6, 0.3, 0.7};
        const auto* const free =
            std::ranges::find_if(along, [&](double t) { return is_free(beside(t), half); });
        const point at = beside(free == along.end() ? along.front() : *free);
        labels_.emplace_back(at, half);
        out_.put("<text class=\"on-arrow\" x=\"{:.1f}\" y=\"{:.1f}\" dy=\"0.35em\">{}</text>\n",
                 at.x, at.y, words);
    }

    bool is_free(point at, point half) const {
        const auto covers_label = [&](const auto& label) {
            const auto& [other, size] = label;
            return std::abs(other.x - at.x) < half.x + size.x &&
                   std::abs(other.y - at.y) < half.y + size.y;
        };
        const auto covers_unit = [&](const auto& unit) {
            return std::hypot(std::max(0.0, std::abs(unit.second.x - at.x) - half.x),
                              std::max(0.0, std::abs(unit.second.y - at.y) - half.y)) < node_radius;
        };
        return std::ranges::none_of(labels_, covers_label) &&
               std::ranges::none_of(places_, covers_unit);
    }

    drawing& out_;
    std::span<const std::string> names_;
    std::span<const graph_arrow> arrows_;
    std::span<const unit_id> of_both_signs_;  // in order
    std::map<unit_id, point> places_;
    std::vector<std::pair<point, point>> labels_;  // their middles and half sizes
    point centre_{};
    double right_ = 0;
    double height_ = 0;
};

// The width of an arrow, in [0, 1]: it grows with the logarithm of the gain or of its inverse, up
// to a factor of 8.
double arrow_weight(const circuit_edge& edge) {
    const double gain = std::max(1e-3, edge.gain.value);
    return std::min(1.0, std::abs(std::log2(gain)) / 3);
}

class circuit_picture {
public:
    explicit circuit_picture(const episode_view& p)
        : p_(p), of_both_signs_(units_of_both_signs(p.report.circuit)) {}

    std::string drawn() {
        y_ = drawing::margin + 14;
        const auto& found = p_.report.circuit;
        out_.text(drawing::margin, y_, "head", "Circuit");
        const auto direct = std::count_if(found.edges.begin(), found.edges.end(),
                                          [](const circuit_edge& e) { return e.is_connection(); });
        y_ += 22;
        out_.text(drawing::margin, y_, "note",
                  fmt::format("{} units · {} · {} at q < {}", p_.report.spikes.unit_count(),
                              plural(static_cast<std::size_t>(direct), "connection", "connections"),
                              plural(found.chains.size(), "chain", "chains"),
                              p_.report.circuit_rules.alpha));
        y_ += 16;
        if (chains_share_no_unit() && p_.loose_edges().empty()) {
            draw_chains();
        } else {
            draw_graph();
            list_chains();
        }
        draw_explained(found.edges.size() - static_cast<std::size_t>(direct));
        return out_.drawn(y_ + drawing::margin - 8);
    }

private:
    static constexpr double radius = 21;
    static constexpr double step = 112;              // between circles
    static constexpr double circle_row_height = 74;  // height of a row of circles
    static constexpr double title_height = 30;
    static constexpr std::size_t most_in_row = 10;
    static constexpr std::size_t most_chains = 24;

    // If so, one row per chain shows every unit once.
    bool chains_share_no_unit() const {
        std::set<unit_id> seen;
        for (const std::size_t i : p_.report.circuit.chains)
            for (const unit_id unit : p_.report.table.episodes[i].what.units)
                if (!seen.insert(unit).second) return false;
        return true;
    }

    void draw_graph() {
        const auto& edges = p_.report.circuit.edges;
        std::vector<std::size_t> direct(edges.size());
        std::iota(direct.begin(), direct.end(), std::size_t{0});
        std::erase_if(direct, [&](std::size_t e) { return !edges[e].is_connection(); });
        std::ranges::stable_sort(direct, std::greater{},
                                 [&](std::size_t e) { return arrow_weight(edges[e]); });
        const std::size_t every = direct.size();
        direct.resize(std::min(every, most_graph_edges));
        std::vector<graph_arrow> arrows;
        arrows.reserve(direct.size());
        std::map<std::pair<unit_id, unit_id>, int> with_ends;
        for (const std::size_t e : direct)
            arrows.push_back(
                {edges[e].from, edges[e].to, arrow_weight(edges[e]), edges[e].best,
                 edges[e].sign == connection_sign::excitatory ? "arrow" : "arrow inhibits",
                 with_ends[{edges[e].from, edges[e].to}]++});
        if (!arrows.empty() && have_one_delay(arrows)) {
            out_.text(drawing::margin, y_, "note",
                      fmt::format("every delay is {}", format_delays({&arrows.front().delay, 1})));
            y_ += 16;
        }
        if (!arrows.empty())
            y_ += circuit_graph(out_, y_ + 8, p_.report.spikes.unit_names(), arrows, of_both_signs_,
                                p_.places)
                      .draw() +
                  8;
        if (every > direct.size()) note_more(every - direct.size(), "circuit.tsv");
        if (!of_both_signs_.empty()) {
            y_ += 16;
            out_.text(drawing::margin, y_, "note",
                      "dashed: a unit that excites some units and inhibits others");
        }
    }

    void list_chains() {
        const auto& chains = p_.report.circuit.chains;
        if (chains.empty()) return;
        y_ += title_height;
        out_.title(y_, "Chains", "");
        const std::size_t shown = std::min(chains.size(), most_chains);
        for (std::size_t c = 0; c < shown; ++c) {
            const auto& [what, count] = p_.report.table.episodes[chains[c]];
            std::string line = p_.name(what.units.front());
            for (std::size_t k = 1; k < what.size(); ++k)
                line += fmt::format(" → {}", p_.name(what.units[k]));
            y_ += 18;
            out_.text(
                drawing::margin, y_, "note",
                fmt::format("{} · {} times, {} expected by chance", line, core::grouped(count),
                            shown_number(p_.judged[chains[c]].expected)));
        }
        if (shown < chains.size()) note_more(chains.size() - shown, "episodes.tsv");
    }

    void draw_chains() {
        const auto& chains = p_.report.circuit.chains;
        for (std::size_t c = 0; c < std::min(chains.size(), most_chains); ++c)
            draw_chain(chains[c]);
        if (chains.size() > most_chains) note_more(chains.size() - most_chains, "episodes.tsv");
    }

    void draw_chain(std::size_t i) {
        const auto& [what, count] = p_.report.table.episodes[i];
        const episode_test& test = p_.judged[i];
        y_ += title_height;
        out_.title(y_, fmt::format("{} units, {} times", what.size(), core::grouped(count)),
                   fmt::format("{} expected by chance · p {} · strength {:.2f}",
                               shown_number(test.expected), p_text(test.p), test.strength));
        double x = drawing::margin + radius;
        double y = y_ + 18 + radius;
        for (std::size_t k = 0; k < what.size(); ++k) {
            out_.unit(x, y, radius, p_.name(what.units[k]));
            if (k + 1 == what.size()) break;
            arrow(x, y, step, what.delays[k], edge_strength(what.units[k], what.units[k + 1]));
            x += step;
            if ((k + 1) % most_in_row == 0 && k + 2 < what.size()) {
                // The last circle of a full row is repeated as the first of the next.
                out_.unit(x, y, radius, p_.name(what.units[k + 1]));
                x = drawing::margin + radius;
                y += circle_row_height;
            }
        }
        y_ = y + radius + 12;
    }

    void draw_explained(std::size_t explained) {
        if (explained == 0) return;
        y_ += 24;
        out_.text(drawing::margin, y_, "note",
                  fmt::format("{} not direct: circuit.tsv",
                              plural(explained, "more pair is", "more pairs are")));
    }

    void note_more(std::size_t n, std::string_view file) {
        y_ += 18;
        out_.text(drawing::margin, y_, "note", fmt::format("and {} more: {}", n, file));
    }

    double edge_strength(unit_id from, unit_id to) const {
        for (const circuit_edge& edge : p_.report.circuit.edges)
            if (edge.from == from && edge.to == to) return edge.strength;
        return 0;
    }

    // The width of the arrow grows with its strength.
    void arrow(double x, double y, double length, const delay_interval& delay, double strength) {
        const double from = x + radius + 3;
        const double to = x + length - radius - 3;
        out_.put("<path class=\"arrow\" stroke-width=\"{:.3g}\" d=\"M{:g},{:g} H{:g}\"/>\n",
                 0.8 + 2.2 * strength, from, y, to);
        out_.text((from + to) / 2 - 2, y - 9, "delay", format_delays({&delay, 1}));
        out_.text((from + to) / 2 - 2, y + 18, "strength", fmt::format("{:.2f}", strength));
    }

    const episode_view& p_;
    std::vector<unit_id> of_both_signs_;
    drawing out_;
    double y_ = 0;
};

}  // namespace

std::string circuit_svg(const episode_view& p) {
    return circuit_picture(p).drawn();
}

}  // namespace spikeweave::report
