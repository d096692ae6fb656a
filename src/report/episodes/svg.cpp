#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "report/episodes/circuit_graph.hpp"
#include "report/episodes/view.hpp"
#include "report/svg_canvas.hpp"

namespace spikeweave::report {
namespace {

constexpr double radius = 21;
constexpr double step = 112;              // between circles
constexpr double circle_row_height = 74;  // height of a row of circles
constexpr double title_height = 30;
constexpr std::size_t most_in_row = 10;
constexpr std::size_t most_drawn_chains = 24;
constexpr std::size_t most_listed_chains = 24;

constexpr std::string_view circuit_style =
    R"(  .delay { font-size: 11px; fill: #3e4c59; text-anchor: middle; }
  .strength { font-size: 11px; fill: #0b7285; text-anchor: middle; }
  .arrow { stroke: #0b7285; fill: none; marker-end: url(#head); }
  .inhibits { stroke: #b3261e; marker-end: url(#bar); }
</style>
<defs><marker id="bar" markerUnits="userSpaceOnUse" markerWidth="6" markerHeight="12" refX="3" refY="6" orient="auto"><path d="M1.5,0.5 H4 V11.5 H1.5 z" fill="#b3261e"/></marker><marker id="head" markerUnits="userSpaceOnUse" markerWidth="11" markerHeight="10" refX="9" refY="5" orient="auto"><path d="M0,0.5 L10,5 L0,9.5 z" fill="#0b7285"/></marker></defs>
)";

// The width of an arrow, in [0, 1]: it grows with the logarithm of the gain or of its inverse, up
// to a factor of 8.
double arrow_weight(const circuit_edge& edge) {
    const double gain = std::max(1e-3, edge.gain.value);
    return std::min(1.0, std::abs(std::log2(gain)) / 3);
}

class circuit_picture {
public:
    explicit circuit_picture(const episode_view& p) : p_(p) {}

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
        return out_.drawn(y_ + drawing::margin - 8, std::string(graph_style).append(circuit_style));
    }

private:
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
        for (const std::size_t e : direct)
            arrows.push_back(
                {edges[e].from, edges[e].to, arrow_weight(edges[e]), edges[e].best,
                 edges[e].sign == connection_sign::excitatory ? "arrow" : "arrow inhibits"});
        if (!arrows.empty())
            y_ += draw_circuit_graph(out_, y_ + 8, p_.report.spikes.unit_names(), arrows) + 8;
        if (every > direct.size()) note_more(every - direct.size(), "circuit.tsv");
    }

    void list_chains() {
        const auto& chains = p_.report.circuit.chains;
        if (chains.empty()) return;
        y_ += title_height;
        out_.title(y_, "Chains", "");
        const std::size_t shown = std::min(chains.size(), most_listed_chains);
        for (std::size_t c = 0; c < shown; ++c) {
            const auto& [what, count] = p_.report.table.episodes[chains[c]];
            std::string line = p_.name(what.units.front());
            for (std::size_t k = 1; k < what.size(); ++k)
                line += fmt::format(" → {}", p_.name(what.units[k]));
            y_ += 18;
            out_.text(drawing::margin, y_, "note",
                      fmt::format("{} · {} times, {:.3g} expected by chance", line, count,
                                  p_.judged[chains[c]].expected));
        }
        if (shown < chains.size()) note_more(chains.size() - shown, "episodes.tsv");
    }

    void draw_chains() {
        const auto& chains = p_.report.circuit.chains;
        for (std::size_t c = 0; c < std::min(chains.size(), most_drawn_chains); ++c)
            draw_chain(chains[c]);
        if (chains.size() > most_drawn_chains)
            note_more(chains.size() - most_drawn_chains, "episodes.tsv");
    }

    void draw_chain(std::size_t i) {
        const auto& [what, count] = p_.report.table.episodes[i];
        const episode_test& test = p_.judged[i];
        const std::string p = test.p < 1e-300 ? "p < 1e-300" : fmt::format("p = {:.2g}", test.p);
        y_ += title_height;
        out_.title(y_, fmt::format("{} units, {} times", what.size(), count),
                   fmt::format("{:.3g} expected by chance · {} · strength {:.2f}", test.expected, p,
                               test.strength));
        double x = drawing::margin + radius;
        double y = y_ + 18 + radius;
        for (std::size_t k = 0; k < what.size(); ++k) {
            circle(x, y, p_.name(what.units[k]));
            if (k + 1 == what.size()) break;
            arrow(x, y, step, what.delays[k], edge_strength(what.units[k], what.units[k + 1]));
            x += step;
            if ((k + 1) % most_in_row == 0 && k + 2 < what.size()) {
                // The last circle of a full row is repeated as the first of the next.
                circle(x, y, p_.name(what.units[k + 1]));
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

    void circle(double x, double y, const std::string& name) {
        const std::size_t length = std::max<std::size_t>(length_of(name), 1);
        // A long name is drawn smaller; the tooltip shows it in full.
        const double size = std::clamp(60.0 / static_cast<double>(length), 5.0, 14.0);
        out_.put(
            "<g><title>{0}</title><circle cx=\"{1:g}\" cy=\"{2:g}\" r=\"{3:g}\"/><text "
            "class=\"unit\" x=\"{1:g}\" y=\"{2:g}\" dy=\"0.35em\" "
            "font-size=\"{4:.3g}\">{0}</text></g>\n",
            xml_escaped(name), x, y, radius, size);
        out_.reach(x + radius);
    }

    // The width of the arrow grows with its strength.
    void arrow(double x, double y, double length, const delay_interval& delay, double strength) {
        const double from = x + radius + 3;
        const double to = x + length - radius - 3;
        out_.put("<path class=\"arrow\" stroke-width=\"{:.3g}\" d=\"M{:g},{:g} H{:g}\"/>\n",
                 0.8 + 2.2 * strength, from, y, to);
        out_.text((from + to) / 2 - 2, y - 9, "delay", delay_range(delay));
        out_.text((from + to) / 2 - 2, y + 18, "strength", fmt::format("{:.2f}", strength));
    }

    const episode_view& p_;
    drawing out_;
    double y_ = 0;
};

}  // namespace

std::string circuit_svg(const episode_view& p) {
    return circuit_picture(p).drawn();
}

}  // namespace spikeweave::report
