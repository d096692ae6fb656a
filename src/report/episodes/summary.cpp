#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/grouped.hpp"
#include "report/episodes/parts.hpp"

namespace spikeweave::report {
namespace {

constexpr std::size_t most_chains = 12;
constexpr std::size_t most_edges = 20;

class episode_page {
public:
    episode_page(const episode_view& p, bool colour) : p_(p), colour_(colour) {}

    std::string written() {
        heading();
        chains();
        edges();
        if (p_.report.scarce) scarce();
        levels();
        return std::move(out_);
    }

private:
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
        out_ += '\n';
    }

    std::string bold(std::string_view text) const {
        return colour_ ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
    }
    std::string dim(std::string_view text) const {
        return colour_ ? fmt::format("\033[2m{}\033[0m", text) : std::string(text);
    }

    void heading() {
        const episode_report& report = p_.report;
        const std::size_t epochs = report.spikes.epochs().size();
        line("{} spikes of {} units in {:.6g} s{}; at least {} occurrences; {}, {}, alpha {}",
             core::grouped(report.spikes.size()), core::grouped(report.spikes.unit_count()),
             to_seconds(report.spikes.observed_time()),
             epochs > 0
                 ? fmt::format(" of {} epoch{}", core::grouped(epochs), epochs > 1 ? "s" : "")
                 : "",
             core::grouped(report.table.threshold),
             report.surrogates.empty()
                 ? fmt::format("{} test", to_string(report.significance.test))
                 : fmt::format("{} surrogates", core::grouped(report.surrogate.surrogates)),
             to_string(report.significance.correction), report.circuit_rules.alpha);
        if (report.searched) replication(*report.searched);
    }

    void replication(const search_part& search) {
        const bool elsewhere = search.confirmed_elsewhere;
        line(
            "Searched in {:.6g} s of {}; what has p below alpha there, {} episodes, is tested "
            "here, {}.",
            to_seconds(search.observed), elsewhere ? "another recording" : "the rest",
            core::grouped(p_.report.table.episodes.size()),
            elsewhere ? "in the recording that confirms" : "where it was held out");
        line("Replicated: {} of {} episodes that are significant in the search.",
             core::grouped(search.replicated), core::grouped(search.significant));
        if (!elsewhere) return;
        line(
            "Units: {} of the {} that were searched are here; {} episodes of the others are not "
            "tested.",
            core::grouped(search.unit_names.size() - search.missing_units.size()),
            core::grouped(search.unit_names.size()), core::grouped(search.untested.size()));
    }

    std::string chain_text(const episode& what) const {
        std::string text = bold(p_.name(what.units.front()));
        for (std::size_t k = 0; k < what.delays.size(); ++k)
            text += dim(fmt::format(" →{}→ ", delay_range(what.delays[k]))) +
                    bold(p_.name(what.units[k + 1]));
        return text;
    }

    void chains() {
        const auto& found = p_.report.circuit.chains;
        line("\n{}", bold(found.empty() ? "No chain of three units or more"
                                        : fmt::format("Chains ({})", found.size())));
        for (std::size_t c = 0; c < std::min(found.size(), most_chains); ++c) {
            const auto& [what, count] = p_.report.table.episodes[found[c]];
            const episode_test& test = p_.judged[found[c]];
            line("  {}", chain_text(what));
            line("      {} times, {:.3g} expected by chance, p {}, strength {:.2f}", count,
                 test.expected, p_text(test.p), test.strength);
        }
        if (found.size() > most_chains) line("  … and {} more", found.size() - most_chains);
    }

    void edges() {
        const auto& all = p_.report.circuit.edges;
        std::vector<const circuit_edge*> direct;
        std::map<edge_kind, std::size_t> of_kind;
        for (const circuit_edge& edge : all) {
            if (edge.kind == edge_kind::direct) direct.push_back(&edge);
            ++of_kind[edge.kind];
        }
        std::stable_sort(direct.begin(), direct.end(),
                         [](auto a, auto b) { return a->strength > b->strength; });
        line("\n{}", bold(direct.empty() ? "No significant delay between two units"
                                         : fmt::format("Direct edges ({})", direct.size())));
        if (!direct.empty())
            line("  {}", dim(fmt::format("{:<20} {:>12} {:>8} {:>9} {:>10} {:>9}", "edge", "delay",
                                         "count", "expected", "q", "strength")));
        for (std::size_t e = 0; e < std::min(direct.size(), most_edges); ++e) {
            const circuit_edge& edge = *direct[e];
            line("  {:<20} {:>12} {:>8} {:>9.3g} {:>10} {:>9.2f}",
                 p_.name(edge.from) + " → " + p_.name(edge.to), delay_range(edge.best), edge.count,
                 edge.expected, p_text(edge.q), edge.strength);
        }
        if (direct.size() > most_edges) line("  … and {} more", direct.size() - most_edges);
        const std::size_t indirect = of_kind[edge_kind::indirect];
        const std::size_t common = of_kind[edge_kind::common_input];
        if (indirect + common > 0)
            line("  {}", dim(fmt::format("explained by others: {} indirect, {} by common input",
                                         indirect, common)));
        const std::size_t shared = of_kind[edge_kind::shared_spikes];
        const std::size_t synchronous = of_kind[edge_kind::synchronous];
        const std::size_t dead = of_kind[edge_kind::dead_time];
        if (shared + synchronous + dead > 0)
            line("  {}", dim(fmt::format("no connections: {} of units that share spikes, {} too "
                                         "fast for a synapse, {} that lack synchronous spikes",
                                         shared, synchronous, dead)));
    }

    void scarce() {
        std::map<scarcity, std::size_t> of_kind;
        for (const scarce_pair& pair : *p_.report.scarce) ++of_kind[pair.kind];
        const std::size_t found = of_kind[scarcity::putative_inhibition];
        line("\n{}",
             bold(found == 0 ? "No putative inhibition between two units"
                             : fmt::format("Fewer than chance: putative inhibition ({})", found)));
        if (found > 0)
            line("  {}", dim(fmt::format("{:<20} {:>12} {:>8} {:>9} {:>10} {:>9}", "pair", "delay",
                                         "count", "expected", "q", "ratio")));
        std::size_t shown = 0;
        for (const scarce_pair& pair : *p_.report.scarce) {
            if (pair.kind != scarcity::putative_inhibition || ++shown > most_edges) continue;
            line("  {:<20} {:>12} {:>8} {:>9.3g} {:>10} {:>9.2f}",
                 p_.name(pair.from) + " → " + p_.name(pair.to), delay_range(pair.delay), pair.count,
                 pair.expected, p_text(pair.q), pair.ratio());
        }
        if (found > most_edges) line("  … and {} more", found - most_edges);
        line("  {}", dim(fmt::format("of {} pairs that could be significant",
                                     core::grouped(p_.report.scarce->size()))));
        const std::size_t shared = of_kind[scarcity::shared_spikes];
        const std::size_t dead = of_kind[scarcity::dead_time];
        const std::size_t beside = of_kind[scarcity::beside_excess];
        if (shared + dead + beside > 0)
            line("  {}", dim(fmt::format("no inhibition: {} of units that share spikes, {} that "
                                         "lack synchronous spikes, too, {} beside an excess",
                                         shared, dead, beside)));
    }

    void levels() {
        line("\n{}", bold("Search"));
        line("  {}", dim(fmt::format("{:>4} {:>12} {:>12} {:>12} {:>9}", "size", "candidates",
                                     "frequent", "significant", "seconds")));
        for (const episode_level& level : p_.report.table.levels) {
            std::size_t significant = 0;
            for (std::size_t i = 0; i < p_.judged.size(); ++i)
                significant +=
                    p_.report.table.episodes[i].what.size() == level.size && p_.significant(i) ? 1
                                                                                               : 0;
            line("  {:>4} {:>12} {:>12} {:>12} {:>9.3f}", level.size, level.candidates,
                 level.frequent, level.size == 1 ? "-" : std::to_string(significant),
                 level.seconds);
        }
    }

    const episode_view& p_;
    bool colour_;
    std::string out_;
};

}  // namespace
}  // namespace spikeweave::report

namespace spikeweave {

std::string summarize(const episode_report& report, bool colour) {
    const report::episode_view p(report);
    return report::episode_page(p, colour).written();
}

}  // namespace spikeweave
