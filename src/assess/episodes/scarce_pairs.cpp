#include "spikeweave/assess/episodes/scarce_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "assess/episodes/jitter_null.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes/edge_timing.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/shared_spikes.hpp"

namespace spikeweave {

using assess::jitter_null;

namespace {

struct possible_pair {
    scarce_pair pair;
    double least_p;  // that of a count of 0
};

std::vector<episode> pairs_from(unit_id from, std::size_t units,
                                std::span<const delay_interval> delays) {
    std::vector<episode> out;
    for (std::uint32_t to = 0; to < units; ++to)
        for (const delay_interval& delay : delays)
            if (unit_id{to} != from) out.push_back({{from, unit_id{to}}, {delay}});
    return out;
}

// All pairs that could have a p below alpha.
std::vector<possible_pair> test_all(const jitter_null& null, std::size_t units,
                                    std::span<const delay_interval> delays, double alpha,
                                    const execution& run) {
    std::vector<std::vector<possible_pair>> of_unit(units);
    parallel::parallel_for(units, run, "testing for fewer than chance", [&](std::size_t u) {
        const unit_id from{static_cast<std::uint32_t>(u)};
        for (const episode& what : pairs_from(from, units, delays)) {
            const jitter_null::lower_verdict found = null.test_lower(what, alpha);
            if (found.least_p < alpha)
                of_unit[u].push_back(
                    {{from, what.units[1], what.delays[0], found.count, found.expected, found.p, 1},
                     found.least_p});
        }
    });
    std::vector<possible_pair> out;
    for (const std::vector<possible_pair>& some : of_unit)
        out.insert(out.end(), some.begin(), some.end());
    return out;
}

// Keeps the pairs that could be significant if there were so many tests: as few as possible, but at
// least as many as pairs are kept.
void keep_testable(std::vector<possible_pair>& pairs, double alpha) {
    std::ranges::sort(pairs, {}, &possible_pair::least_p);
    auto end = pairs.end();
    for (std::size_t tests = 1; tests <= pairs.size(); ++tests) {
        const double level = alpha / static_cast<double>(tests);
        end = std::ranges::partition_point(pairs,
                                           [&](const auto& one) { return one.least_p < level; });
        if (static_cast<std::size_t>(end - pairs.begin()) <= tests) break;
    }
    pairs.erase(end, pairs.end());
}

// Whether more spikes are at some other lag, within a cell, than are missing at this one. Spikes of
// a peak are spread over the cell, so they are expected, and missing, beside it.
bool has_excess_beside(const jitter_null& null, const episode& pair) {
    const double missing = -null.beyond_chance(pair);
    const auto [low, high] = pair.delays[0];
    const duration width = high - low;
    const std::int64_t steps = (null.cell_us(pair) + width.count() - 1) / width.count();
    for (std::int64_t k = -steps; k <= steps; ++k) {
        const episode beside{pair.units, {{low + k * width, high + k * width}}};
        if (null.beyond_chance(beside) > missing) return true;
    }
    return false;
}

// How far the lags reach that `has_excess_beside` looks at.
duration reach_of_lags(std::span<const delay_interval> delays, duration jitter_window) {
    duration reach{0};
    for (const auto& [low, high] : delays) {
        const duration width = high - low;
        reach = std::max(reach,
                         high + std::max(jitter_window, assess::intervals_a_cell * width) + width);
    }
    return reach;
}

void explain(const jitter_null& null, const spike_sequence& spikes, std::vector<scarce_pair>& pairs,
             double alpha, const execution& run) {
    std::vector<scarce_pair*> significant;
    std::vector<episode> episodes;
    for (scarce_pair& pair : pairs)
        if (pair.q < alpha) {
            significant.push_back(&pair);
            episodes.push_back({{pair.from, pair.to}, {pair.delay}});
        }
    if (significant.empty()) return;
    std::set<std::pair<unit_id, unit_id>> repeated;
    for (const shared_spike_pair& pair : find_shared_spikes(spikes))
        if (pair.repeats) repeated.insert(std::minmax(pair.fewer, pair.more));
    const std::vector<edge_timing> timing = time_edges(spikes, episodes, run);
    for (std::size_t i = 0; i < significant.size(); ++i) {
        scarce_pair& pair = *significant[i];
        pair.kind = scarcity::putative_inhibition;
        if (repeated.contains(std::minmax(pair.from, pair.to)))
            pair.kind = scarcity::shared_spikes;
        else if (has_excess_beside(null, episodes[i]))
            pair.kind = scarcity::beside_excess;
        else if (timing[i].lacks_synchrony)
            pair.kind = scarcity::dead_time;
    }
}

}  // namespace

std::string_view to_string(scarcity kind) {
    switch (kind) {
        case scarcity::none:
            return "-";
        case scarcity::putative_inhibition:
            return "putative-inhibition";
        case scarcity::shared_spikes:
            return "shared-spikes";
        case scarcity::beside_excess:
            return "beside-excess";
        case scarcity::dead_time:
            return "dead-time";
    }
    return "?";
}

std::vector<scarce_pair> find_scarce_pairs(const spike_sequence& spikes,
                                           std::span<const delay_interval> delays, tie_rule ties,
                                           const significance_options& options,
                                           const execution& run) {
    check_options(options);
    if (options.test != significance_test::jitter)
        throw invalid_argument(fmt::format("fewer than chance is tested with jitter, not {}",
                                           to_string(options.test)));
    const separated_epochs apart(spikes, reach_of_lags(delays, options.jitter_window));
    const jitter_null null(apart.spikes(), options.jitter_window, ties);
    std::vector<possible_pair> possible =
        test_all(null, spikes.unit_count(), delays, options.alpha, run);
    keep_testable(possible, options.alpha);
    std::vector<scarce_pair> out;
    std::vector<double> p;
    for (const possible_pair& one : possible) {
        out.push_back(one.pair);
        p.push_back(one.pair.p);
    }
    const std::vector<double> q = adjust_p_values(p, p.size(), options.correction);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].q = q[i];
    explain(null, spikes, out, options.alpha, run);
    std::ranges::sort(out, {}, [](const scarce_pair& pair) {
        return std::tuple(pair.p, pair.from, pair.to, pair.delay);
    });
    return out;
}

}  // namespace spikeweave
