#include "spikeweave/assess/episodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "assess/episodes/jitter_null.hpp"
#include "core/stop.hpp"
#include "core/text.hpp"
#include "spikeweave/assess/shared_rates.hpp"
#include "spikeweave/assess/surrogate_numbers.hpp"

namespace spikeweave {

namespace {

void check_shared_rates(const spike_sequence& spikes, significance_test test,
                        std::vector<std::string>& out) {
    const shared_rates rates = measure_shared_rates(spikes);
    if (!rates.certain) return;
    out.push_back(fmt::format(
        "The units' rates rise and fall together: the number of spikes of all units in 100 ms "
        "varies {:.3g} times as much as that of independent units. The test {} assumes constant "
        "rates, so most of its significant findings here are not connections. Use "
        "`test=jitter`, the default, or `surrogates=200`.",
        rates.ratio, to_string(test)));
}

// The width within which a test does not preserve rates. Some surrogates have no such width.
std::optional<duration> unpreserved_width(const episode_table& table,
                                          const significance_options& significance,
                                          const surrogate_options& surrogates) {
    if (surrogates.surrogates > 0) {
        if (surrogates.method != surrogate_method::interval_jitter &&
            surrogates.method != surrogate_method::spike_dithering)
            return std::nullopt;
        return 2 * surrogates.dither;
    }
    if (significance.test != significance_test::jitter) return std::nullopt;
    duration width = significance.jitter_window;
    for (const counted_episode& counted : table.episodes)
        for (const delay_interval& delay : counted.what.delays)
            width = std::max(width, assess::intervals_a_cell * (delay.high - delay.low));
    return width;
}

// The widest of a few dithers that preserves the changes that units share.
std::optional<duration> preserving_dither(const spike_sequence& spikes, duration width) {
    for (const int dither_ms : {6, 5, 4, 3, 2, 1}) {
        const duration cell = std::chrono::milliseconds{2 * dither_ms};
        if (cell < width && !measure_rates_within_cells(spikes, cell).certain) return cell / 2;
    }
    return std::nullopt;
}

// Warns that the findings may be bursts that rise faster than the test preserves.
void check_fast_rates(const spike_sequence& spikes, duration width, std::vector<std::string>& out) {
    const shared_rates rates = measure_rates_within_cells(spikes, width);
    if (!rates.certain) return;
    const std::optional<duration> dither = preserving_dither(spikes, width);
    out.push_back(fmt::format(
        "Bursts: all units speed up together within {}, and this test cannot distinguish that from "
        "connections. {}",
        format_duration(width),
        dither ? fmt::format("Run it again with `surrogates=200` and `dither={}ms`, which preserve "
                             "the bursts.",
                             *dither / std::chrono::milliseconds{1})
               : "No dither of 1 ms or more preserves the bursts."));
}

std::optional<pair_tests> tests_of_pairs(const spike_sequence& spikes, const choice_of_pairs& pairs,
                                         const significance_options& significance,
                                         const execution& run) {
    if (pairs.suggested) return test_suggested_pairs(spikes, *pairs.suggested, significance, run);
    if (pairs.delays.empty()) return std::nullopt;
    return test_pairs(spikes, pairs.delays, significance, run);
}

// Also the pairs of a unit with itself, which the search finds if it is asked to.
std::vector<pair_test> with_repeats(std::vector<pair_test> pairs, const episode_table& table,
                                    std::span<const episode_test> tests) {
    for (std::size_t i = 0; i < tests.size(); ++i) {
        const auto& [what, count] = table.episodes[i];
        if (what.size() == 2 && what.units[0] == what.units[1])
            pairs.push_back({what.units[0], what.units[1], connection_sign::excitatory, false,
                             what.delays[0], count, tests[i].expected, tests[i].p, tests[i].q});
    }
    return pairs;
}

// Lists the excitatory edges that the search did not find frequent, or at other delays. An edge
// counts all pairs of spikes, of which some overlap: what is expected is in proportion.
void add_edges(const spike_sequence& spikes, const circuit& found, episode_table& table,
               std::vector<episode_test>& tests, const execution& run) {
    std::set<episode> known;
    for (const counted_episode& one : table.episodes)
        if (one.what.size() == 2) known.insert(one.what);
    std::vector<episode> added;
    std::vector<double> ratios;
    for (const circuit_edge& edge : found.edges) {
        episode what{{edge.from, edge.to}, {edge.best}};
        if (edge.sign != connection_sign::excitatory || known.contains(what)) continue;
        tests.push_back({0, edge.p, edge.q, edge.strength});
        ratios.push_back(edge.expected /
                         static_cast<double>(std::max<std::uint64_t>(1, edge.count)));
        added.push_back(std::move(what));
    }
    const std::vector<std::uint64_t> counts =
        count_episodes(spikes, added, {.ties = table.ties},
                       {.threads = run.threads, .stop = run.stop})
            .counts;
    for (std::size_t i = 0; i < added.size(); ++i) {
        tests[table.episodes.size()].expected = ratios[i] * static_cast<double>(counts[i]);
        table.episodes.push_back({added[i], counts[i]});
    }
}

std::string names_of(const spike_sequence& spikes, std::span<const unit_id> units) {
    std::vector<std::string> names;
    for (const unit_id unit : units) names.push_back(spikes.name(unit));
    return core::listed(names);
}

// Warns which units fire too rarely for their connections to be found.
void check_untested_units(const spike_sequence& spikes, const pair_tests& pairs,
                          std::vector<std::string>& out) {
    // Who has a unit of a few spikes expects nothing of it.
    std::vector<std::uint64_t> counts(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++counts[to_index(unit)];
    std::vector<unit_id> units = pairs.untested_units;
    std::erase_if(units,
                  [&](unit_id unit) { return counts[to_index(unit)] < least_default_count; });
    if (units.empty() || pairs.tested == 0 || 4 * units.size() <= spikes.unit_count()) return;
    out.push_back(
        fmt::format("{} of {} units {} too rarely for any of their pairs to be tested: {}. Nothing "
                    "is known about their connections.",
                    core::grouped(units.size()), core::grouped(spikes.unit_count()),
                    units.size() == 1 ? "fires" : "fire", names_of(spikes, units)));
}

// Warns that more pairs are related than expected for a circuit of sparse connections. A stimulus
// that units answer at their own latencies, or a fast rhythm whose phases they prefer, gives each
// pair a delay, as a connection does, but nearly all pairs at once. In the networks and recordings
// of docs/algorithms/circuit.md, connections relate up to 11 % of the pairs where not all units of
// a small network are recorded. Without fast input that units share, the median of p at the default
// delays is 0.83 to 0.99 there, with it 0.38 to 0.59.
void check_order(const circuit& found, const pair_tests& pairs, bool at_default_delays,
                 std::vector<std::string>& out) {
    constexpr double many = 0.15;
    constexpr double usual_median = 0.7;
    constexpr std::uint64_t least_pairs = 20;
    constexpr double least_expected = 5;
    const auto related =
        static_cast<std::size_t>(std::ranges::count_if(found.edges, [](const circuit_edge& edge) {
            return edge.kind != edge_kind::stimulus_locked;
        }));
    if (pairs.tested < least_pairs || related == 0) return;
    constexpr std::string_view causes =
        "A stimulus that every unit answers at its own latency, or a fast rhythm, looks like a "
        "connection in each pair. If there are stimuli, give `epochs` of one length "
        "around them, so that each pair is compared with spikes of other trials; leave out ripples "
        "with `epochs`.";
    if (static_cast<double>(related) >= many * static_cast<double>(pairs.tested)) {
        out.push_back(fmt::format(
            "{} of {} tested pairs of units are related within milliseconds, more than a circuit "
            "of sparse connections explains. {}",
            core::grouped(related), core::grouped(pairs.tested), causes));
        return;
    }
    std::vector<double> p;
    for (const pair_test& one : pairs.pairs)
        if (!one.slow && one.expected >= least_expected) p.push_back(one.p);
    if (!at_default_delays || pairs.listed_below < 1 || p.size() < 2 * least_pairs) return;
    std::ranges::nth_element(p, p.begin() + static_cast<std::ptrdiff_t>(p.size() / 2));
    const double median = p[p.size() / 2];
    if (median < usual_median)
        out.push_back(fmt::format(
            "Most pairs of units are related within milliseconds a little more than by chance (the "
            "median of their p is {:.2g}; it is 0.8 or more if units share no fast input), so some "
            "edges may not be connections. {}",
            median, causes));
}

void check_signs(const spike_sequence& spikes, const circuit& found,
                 std::vector<std::string>& out) {
    const std::vector<unit_id> units = units_of_both_signs(found);
    if (units.empty()) return;
    out.push_back(
        fmt::format("{} {} some units and {} others, which one neuron does not do: {}. Such a unit "
                    "may contain several neurons, or some of its edges are not connections.",
                    units.size() == 1 ? "A unit" : core::grouped(units.size()) + " units",
                    units.size() == 1 ? "excites" : "excite",
                    units.size() == 1 ? "inhibits" : "inhibit", names_of(spikes, units)));
}

void check_surrogates(const significance_options& significance, const surrogate_options& surrogates,
                      std::vector<std::string>& out) {
    if (surrogates.surrogates == 0) return;
    if (auto warning = warn_of_few_surrogates(surrogates.surrogates, {significance.alpha}))
        out.push_back(std::move(*warning));
    core::check_given_time("The dither is", surrogates.dither, out);
}

}  // namespace

std::vector<std::string> check_tests(const spike_sequence& spikes,
                                     const significance_options& significance,
                                     const surrogate_options& surrogates) {
    std::vector<std::string> out;
    if (significance.test != significance_test::jitter && surrogates.surrogates == 0)
        check_shared_rates(spikes, significance.test, out);
    check_surrogates(significance, surrogates, out);
    return out;
}

episode_test_result test_episodes(const spike_sequence& spikes, episode_table& table,
                                  const choice_of_pairs& pairs,
                                  const significance_options& significance,
                                  const surrogate_options& surrogates, const execution& run,
                                  const surrogate_tally* counted) {
    execution on_cpu = run;
    on_cpu.devices.clear();
    episode_test_result out{.assessed = test_against_null(spikes, table, significance, on_cpu)};
    core::throw_if_stopped(run.stop);
    if (surrogates.surrogates > 0)
        out.surrogates = test_against_surrogates(
            spikes, table,
            counted != nullptr ? *counted : count_in_surrogates(spikes, table, surrogates, run),
            significance.correction);
    const std::vector<episode_test> deciding =
        out.surrogates.empty() ? out.assessed : with_surrogate_tests(out.assessed, out.surrogates);
    if (significance.test == significance_test::jitter && surrogates.surrogates == 0)
        out.pairs = tests_of_pairs(spikes, pairs, significance, on_cpu);
    const circuit_options rules{significance.alpha, significance.jitter_window};
    out.circuit = out.pairs
                      ? find_circuit(spikes, table, deciding,
                                     with_repeats(out.pairs->pairs, table, deciding), rules, on_cpu)
                      : find_circuit(spikes, table, deciding, rules, on_cpu);
    if (out.pairs) add_edges(spikes, out.circuit, table, out.assessed, on_cpu);
    core::throw_if_stopped(run.stop);
    out.warnings = check_tests(spikes, significance, surrogates);
    if (out.pairs) {
        check_untested_units(spikes, *out.pairs, out.warnings);
        if (!pairs.suggested)
            check_order(out.circuit, *out.pairs, pairs.delays == default_delays(), out.warnings);
    }
    check_signs(spikes, out.circuit, out.warnings);
    std::ranges::move(warnings_of(out.circuit, spikes), std::back_inserter(out.warnings));
    const auto is_significant = [&](const auto& test) { return test.q < significance.alpha; };
    const std::optional<duration> width = unpreserved_width(table, significance, surrogates);
    if (width && (std::ranges::any_of(deciding, is_significant) ||
                  std::ranges::any_of(out.circuit.edges, is_significant)))
        check_fast_rates(spikes, *width, out.warnings);
    return out;
}

}  // namespace spikeweave
