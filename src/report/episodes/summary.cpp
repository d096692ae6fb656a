#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "core/text.hpp"
#include "report/episodes/view.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/report/episodes.hpp"

namespace spikeweave::report {
namespace {

constexpr std::size_t most_chains = 12;
constexpr std::size_t most_edges = 20;

class episode_page : terminal_text {
public:
    episode_page(const episode_view& p, bool colour) : terminal_text(colour), p_(p) {}

    std::string written() {
        heading();
        edges();
        chains();
        levels();
        return taken();
    }

private:
    void heading() {
        const episode_report& report = p_.report;
        line("{}", bold(verdict_of(p_)));
        const std::size_t epochs = report.spikes.epochs().size();
        line("{} spikes of {} units in {}{}; at least {} occurrences; {}, {}, alpha {}",
             core::grouped(report.spikes.size()), core::grouped(report.spikes.unit_count()),
             time_text(report.spikes.observed_time()),
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

    void replication(const episode_search& search) {
        const bool elsewhere = search.confirmed_elsewhere;
        line(
            "Searched in {} of {}; what has p below alpha there, {} episodes, is tested "
            "here, {}.",
            time_text(search.observed), elsewhere ? "another recording" : "the rest",
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
            text += dim(fmt::format(" →{}→ ", format_delays({&what.delays[k], 1}))) +
                    bold(p_.name(what.units[k + 1]));
        return text;
    }

    // Steps of chains that vary more than this need wider intervals.
    static constexpr duration narrow_interval{5'000};

    duration longest_interval() const {
        duration out{0};
        for (const counted_episode& one : p_.report.table.episodes)
            for (const delay_interval& delay : one.what.delays)
                out = std::max(out, delay.high - delay.low);
        for (const pair_test& pair : p_.report.pairs->pairs)
            out = std::max(out, pair.delay.high - pair.delay.low);
        return out;
    }

    void chains() {
        const auto& found = p_.report.circuit.chains;
        line("\n{}", bold(found.empty() ? "No chain of three units or more"
                                        : fmt::format("Chains ({})", found.size())));
        if (found.empty() && p_.report.pairs && longest_interval() <= narrow_interval)
            line("  {}", dim("Steps that vary by more than their intervals were not looked for: "
                             "`delays` 2-14ms with `jitter_window` 60ms and `min_count` 10 does."));
        for (std::size_t c = 0; c < std::min(found.size(), most_chains); ++c) {
            const auto& [what, count] = p_.report.table.episodes[found[c]];
            const episode_test& test = p_.judged[found[c]];
            line("  {}", chain_text(what));
            line("      {} times, {} expected by chance, p {}, strength {:.2f}",
                 core::grouped(count), shown_number(test.expected), p_text(test.p), test.strength);
        }
        if (found.size() > most_chains) line("  … and {} more", found.size() - most_chains);
    }

    void edges() {
        std::map<edge_kind, std::size_t> of_kind;
        for (const circuit_edge& edge : p_.report.circuit.edges) ++of_kind[edge.kind];
        edges_of("Excitatory connections", connection_sign::excitatory, edge_kind::direct);
        edges_of("Inhibitory connections", connection_sign::inhibitory, edge_kind::direct);
        edges_of("Slow relations, not synaptic", connection_sign::excitatory, edge_kind::slow);
        const auto note = [&](std::string_view text) { line("  {}", dim(text)); };
        const auto of = [&](edge_kind kind) { return core::grouped(of_kind[kind]); };
        if (of_kind[edge_kind::indirect] + of_kind[edge_kind::common_input] +
                of_kind[edge_kind::undecided] >
            0)
            note(fmt::format(
                "explained by other units: {} indirect, {} by common input; {} "
                "undecided for want of spikes",
                of(edge_kind::indirect), of(edge_kind::common_input), of(edge_kind::undecided)));
        if (of_kind[edge_kind::shared_spikes] + of_kind[edge_kind::synchronous] +
                of_kind[edge_kind::dead_time] >
            0)
            note(
                fmt::format("no connections: {} of units that share spikes, {} too fast for a "
                            "synapse, {} that lack synchronous spikes",
                            of(edge_kind::shared_spikes), of(edge_kind::synchronous),
                            of(edge_kind::dead_time)));
        if (of_kind[edge_kind::one_neuron] + of_kind[edge_kind::cross_talk] > 0)
            note(fmt::format("no connections: {} of units that may be one neuron, {} by cross-talk",
                             of(edge_kind::one_neuron), of(edge_kind::cross_talk)));
        if (of_kind[edge_kind::stimulus_locked] > 0)
            note(fmt::format("no connections: {} that spikes of other trials show as well",
                             of(edge_kind::stimulus_locked)));
    }

    // The strongest ones come first.
    void edges_of(std::string_view title, connection_sign sign, edge_kind kind) {
        std::vector<const circuit_edge*> shown;
        for (const circuit_edge& edge : p_.report.circuit.edges)
            if (edge.kind == kind && edge.sign == sign) shown.push_back(&edge);
        if (shown.empty()) return;
        std::stable_sort(shown.begin(), shown.end(), [](auto a, auto b) {
            return std::abs(a->transmission.value) > std::abs(b->transmission.value);
        });
        line("\n{}", bold(fmt::format("{} ({})", title, core::grouped(shown.size()))));
        line("  {}", dim(fmt::format("{:<20} {:>12} {:>8} {:>9} {:>10} {:>6} {:>12}", "edge",
                                     "delay", "count", "expected", "q", "gain", "transmission")));
        const char* const arrow = sign == connection_sign::excitatory ? "→" : "⊣";
        for (std::size_t e = 0; e < std::min(shown.size(), most_edges); ++e) {
            const circuit_edge& edge = *shown[e];
            line("  {:<20} {:>12} {:>8} {:>9} {:>10} {:>6} {:>12}",
                 fmt::format("{} {} {}", p_.name(edge.from), arrow, p_.name(edge.to)),
                 format_delays({&edge.best, 1}), core::grouped(edge.count),
                 shown_number(edge.expected), p_text(edge.q), shown_number(edge.gain.value),
                 shown_number(edge.transmission.value));
        }
        if (shown.size() > most_edges)
            line("  … and {} more", core::grouped(shown.size() - most_edges));
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
            line("  {:>4} {:>12} {:>12} {:>12} {:>9.3f}", level.size,
                 core::grouped(level.candidates), core::grouped(level.frequent),
                 level.size == 1 ? "-" : core::grouped(significant), level.seconds);
        }
    }

    const episode_view& p_;
};

// "all 380 pairs tested", or how many of them. Without a candidate of the search none is possible.
std::string tested_text(const pair_tests& pairs) {
    if (pairs.possible == 0) return "no pair of units tested";
    if (pairs.tested == pairs.possible)
        return fmt::format("all {} pairs of units tested", core::grouped(pairs.possible));
    return fmt::format("{} of {} pairs of units tested", core::grouped(pairs.tested),
                       core::grouped(pairs.possible));
}

// "3 of 40 episodes significant", of those of two units or more.
std::string significant_text(const episode_view& p) {
    std::size_t tested = 0;
    std::size_t significant = 0;
    for (std::size_t i = 0; i < p.judged.size(); ++i) {
        if (p.report.table.episodes[i].what.size() < 2) continue;
        ++tested;
        significant += p.significant(i) ? 1 : 0;
    }
    return fmt::format("{} of {} significant", core::grouped(significant),
                       plural(tested, "episode", "episodes"));
}

}  // namespace

std::string verdict_of(const episode_view& p) {
    const circuit& found = p.report.circuit;
    std::array<std::size_t, connection_signs.size()> of_sign{};
    for (const circuit_edge& edge : found.edges)
        if (edge.is_connection()) ++of_sign[static_cast<std::size_t>(edge.sign)];
    const auto [excitatory, inhibitory] = of_sign;
    const std::size_t all = excitatory + inhibitory;
    const auto size = [&](std::size_t i) { return p.report.table.episodes[i].what.size(); };
    std::string chains;
    if (!found.chains.empty())
        chains = fmt::format("{} of {} units", plural(found.chains.size(), "chain", "chains"),
                             range_text(size(found.chains.back()), size(found.chains.front())));
    const bool has_pairs =
        p.report.pairs || std::ranges::any_of(p.report.table.episodes,
                                              [](const auto& one) { return one.what.size() == 2; });
    std::string text = all > 0 ? plural(all, "connection", "connections") : "No connection";
    if (p.report.pairs && all > 0)
        text += fmt::format(" ({} excitatory, {} inhibitory)", core::grouped(excitatory),
                            core::grouped(inhibitory));
    if (!has_pairs) text = chains.empty() ? significant_text(p) : chains;
    text += fmt::format(" among {}", plural(p.report.spikes.unit_count(), "unit", "units"));
    if (has_pairs && !chains.empty()) text += ", " + chains;
    const double alpha = p.report.circuit_rules.alpha;
    if (p.report.pairs)
        text += fmt::format("; {}, {}.", tested_text(*p.report.pairs),
                            level_text(correction_method::benjamini_hochberg, alpha));
    else
        text +=
            fmt::format("{}, {}.", has_pairs || !chains.empty() ? "; " + significant_text(p) : "",
                        level_text(p.report.significance.correction, alpha));
    return with_warnings(text, p.report.run.warnings.size());
}

}  // namespace spikeweave::report

namespace spikeweave {

std::string verdict_of(const episode_report& report) {
    return report::verdict_of(report::episode_view(report));
}

std::string summarize(const episode_report& report, bool colour) {
    const report::episode_view p(report);
    return report::episode_page(p, colour).written();
}

namespace {

std::string line_of(const spike_sequence& spikes, const episode& what) {
    std::string text = spikes.name(what.units.front());
    for (std::size_t i = 0; i < what.delays.size(); ++i)
        text += fmt::format(" →{}→ {}", format_delays({&what.delays[i], 1}),
                            spikes.name(what.units[i + 1]));
    return text;
}

std::string delays_text(std::span<const delay_interval> delays) {
    std::string text = format_delays(delays);
    if (std::ranges::equal(delays, default_delays()))
        text += " (the default; `delays` sets others)";
    return text;
}

}  // namespace

std::uint64_t json_bytes(const episode_report& report) {
    constexpr std::uint64_t per_episode = 2000;
    constexpr std::uint64_t per_unit = 500;
    std::uint64_t bytes = 0;
    for (const counted_episode& one : report.table.episodes)
        bytes += per_episode + per_unit * one.what.units.size();
    return bytes;
}

std::string summarize_search(const episode_report& report, std::span<const delay_interval> delays) {
    const episode_table& table = report.table;
    std::string text = "\n";
    if (!delays.empty())
        text += fmt::format("delays     {}\nthreshold  {}\n", delays_text(delays),
                            core::grouped(table.threshold));
    text +=
        fmt::format("ties       {}\nstrategy   {}", to_string(table.ties), to_string(table.ran_on));
    if (!table.ran_on_devices.empty())
        text += fmt::format(" on {}", format_devices(table.ran_on_devices));
    return text + '\n';
}

std::string summarize_counts(const episode_report& report) {
    std::string text = verdict_of(report) + "\n\n";
    text += fmt::format("{:>10} {:>12} {:>12} {:>12} {:>9}  episode\n", "count", "expected", "p",
                        "q", "strength");
    const std::vector<episode_test> deciding =
        report.surrogates.empty() ? report.assessed
                                  : with_surrogate_tests(report.assessed, report.surrogates);
    for (std::size_t i = 0; i < deciding.size(); ++i) {
        const auto& [what, count] = report.table.episodes[i];
        const episode_test& test = deciding[i];
        text += fmt::format("{:>10} {:>12} {:>12} {:>12} {:>9.2f}  {}\n", core::grouped(count),
                            report::shown_number(test.expected), report::p_text(test.p),
                            report::p_text(test.q), test.strength, line_of(report.spikes, what));
    }
    return text;
}

std::string summarize_files(const episode_report& report, const std::filesystem::path& folder) {
    if (folder.empty()) return {};
    constexpr std::uintmax_t large = 10'000'000;
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(folder / "episodes.tsv", unknown);
    std::string text = fmt::format("written to {}: episodes.tsv has {} episodes, {}\n",
                                   folder.string(), core::grouped(report.table.episodes.size()),
                                   format_memory(unknown ? 0 : bytes));
    if (std::filesystem::exists(folder / "report.html", unknown))
        text += "report.html shows the result in a browser\n";
    if (!unknown && bytes > large)
        text +=
            "`max_size` or a larger `min_count` gives fewer episodes, `surrogates` tells bursts "
            "from chains\n";
    return text;
}

}  // namespace spikeweave
