#include <fmt/format.h>

#include <algorithm>

#include "bindings/core/arguments.hpp"
#include "bindings/core/episodes.hpp"
#include "bindings/core/held_report.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/assess/episodes/correlogram.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/report/episodes.hpp"
#include "spikeweave/report/episodes/windows.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::python {
namespace {

// The columns of `circuit.tsv`, with times in seconds. `from` cannot be a name in Python.
nb::dict circuit_columns(const circuit& found) {
    nb::dict out;
    add_described<circuit_edge>(out, found.edges, [](const std::string& name) {
        return name == "from" ? "source" : name == "to" ? "target" : name;
    });
    out["chains"] = column(found.chains);
    return out;
}

nb::dict to_python(const circuit_stability& both) {
    nb::dict out;
    add_entries(out, both, "common", &circuit_stability::common, "before",
                &circuit_stability::before, "after", &circuit_stability::after, "jaccard",
                &circuit_stability::jaccard, "jaccard_expected", &circuit_stability::expected,
                "stability", &circuit_stability::index, "p", &circuit_stability::p);
    return out;
}

// The similarity of a window's circuit to the one before it; None if there is no such window.
nb::object stability_of(const tested_window& window) {
    if (!window.stability) return nb::none();
    nb::dict out = to_python(window.stability->both);
    out["since"] = window.stability->since;
    return out;
}

// One window as a result of its own.
episode_report report_of_window(const spike_sequence& spikes, const tested_window& window,
                                const windowed_episode_options& options) {
    const auto times = spikes.times_us();
    const auto begin = std::ranges::lower_bound(times, window.bounds.begin.count());
    const auto end = std::lower_bound(begin, times.end(), window.bounds.end.count());
    const auto units = spikes.units().subspan(static_cast<std::size_t>(begin - times.begin()),
                                              static_cast<std::size_t>(end - begin));
    spike_sequence inside({begin, end}, {units.begin(), units.end()}, spikes.unit_names(),
                          {window.bounds.begin, window.bounds.end});
    episode_result found;
    found.table = window.table;
    found.assessed = window.tests;
    found.circuit = window.circuit;
    found.options = options.search;
    return report_of(std::move(inside), std::move(found));
}

nb::dict window_columns(const tested_window& window) {
    nb::dict out = window_arrays({window.bounds, window.spikes, window.table});
    out["levels"] = column(window.table.levels);
    out.update(table_of(window.tests));
    out["circuit"] = circuit_columns(window.circuit);
    out["stability"] = stability_of(window);
    return out;
}

// Changes with the times of their windows; the one that is not significant is the last one.
nb::dict points_of(const circuit_changes& changes, const change_points& points) {
    std::vector<change_point> all = points.found;
    if (points.next) all.push_back(*points.next);
    nb::dict out;
    out["time"] = column(
        all, [&](const change_point& one) { return to_seconds(changes.windows[one.at].begin); });
    out["p"] = column(all, &change_point::p);
    out["significant"] = points.found.size();
    return out;
}

void add_measure(nb::dict& out, const circuit_changes& changes, const std::string& name,
                 measured_change finding_change::*measure) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const auto put = [&](const char* what, auto get) {
        out[(name + what).c_str()] = column(changes.findings, [=](const finding_change& one) {
            return static_cast<double>(get(one.*measure));
        });
    };
    put("_time", [&](const measured_change& one) {
        return one.point ? to_seconds(changes.windows[one.point->at].begin) : unknown;
    });
    put("_before", [](const measured_change& one) { return one.before; });
    put("_after", [](const measured_change& one) { return one.after; });
    put("_p", [](const measured_change& one) { return one.point ? one.point->p : unknown; });
    put("_q", [](const measured_change& one) { return one.q; });
}

nb::dict changes_of(const circuit_changes& changes) {
    nb::dict out;
    out["windows"] = column(changes.windows);
    out["firing_rates"] = points_of(changes, changes.firing_rates);
    out["circuit"] = points_of(changes, changes.circuit);
    nb::dict findings;
    findings["change"] = column(changes.findings, &finding_change::change);
    add_measure(findings, changes, "rate", &finding_change::rate);
    add_measure(findings, changes, "excess", &finding_change::excess);
    out["findings"] = std::move(findings);
    episode_table what;
    for (const finding_change& one : changes.findings) what.episodes.push_back({one.what, 0});
    out["table"] = table_arrays(what);
    return out;
}

// The pairs of two circuits as rows of (from, to).
nb::dict stability_between(const matrix_in<std::uint32_t>& before,
                           const matrix_in<std::uint32_t>& after, const nb::dict& given) {
    const auto pairs = [](const matrix_in<std::uint32_t>& from) {
        std::vector<directed_pair> out;
        for (std::size_t i = 0; i < from.shape(0); ++i)
            out.emplace_back(unit_id{from(i, 0)}, unit_id{from(i, 1)});
        std::ranges::sort(out);
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    };
    return to_python(call_with<circuit_stability_options>(
        given, [&](const circuit_stability_options& options, const execution& run) {
            return measure_stability(pairs(before), pairs(after), options, run);
        }));
}

// Adds what could not be tested in another recording, as rows with the names of units.
void add_untested(nb::dict& out, const episode_search& search) {
    out["missing_units"] = column(search.missing_units);
    out["untested"] = column(search.untested, [&](const untested_episode& one) {
        const auto& [what, count] = one.found;
        const auto name = [&](unit_id unit) { return search.unit_names[to_index(unit)]; };
        return nb::make_tuple(column(what.units, name), column(what.delays), count,
                              one.test.expected, one.test.p, one.test.q, one.test.strength);
    });
}

// The tests of all pairs, as the columns of `pairs.tsv`.
nb::dict pair_columns(const pair_tests& pairs, const circuit& found, const spike_sequence& spikes,
                      double alpha) {
    nb::dict out = table_of(pairs.pairs);
    add_columns(out, pairs.pairs, "source", &pair_test::from, "target", &pair_test::to, "sign",
                &pair_test::sign, "slow", &pair_test::slow, "delay", &pair_test::delay);
    out["kind"] = column(kinds_of_pairs(pairs, found, alpha), [](const auto& kind) {
        return kind ? std::optional(std::string(to_string(*kind))) : std::nullopt;
    });
    out["tested"] = pairs.tested;
    out["possible"] = pairs.possible;
    out["listed_below"] = pairs.listed_below;
    out["untested_units"] =
        column(pairs.untested_units, [&](unit_id unit) { return spikes.name(unit); });
    return out;
}

// Returns a result of a search, or of counting given episodes, with the options of that call.
template <class Options>
nb::dict to_python(const shared_spikes& spikes, episode_result result, const Options& options,
                   bool has_recorded_span) {
    const auto held = std::make_shared<const episode_result>(std::move(result));
    const episode_result& found = *held;
    nb::dict out;
    out["report"] = report_on(spikes, held);
    out["table"] = table_arrays(found.table);
    out["levels"] = column(found.table.levels);
    out["assessed"] = table_of(deciding_tests(found));
    if (!found.surrogates.empty())
        out["by_surrogates"] = table_of(found.surrogates, "mean_count", &surrogate_test::mean_count,
                                        "p", &surrogate_test::p, "q", &surrogate_test::q, "tail_p",
                                        &surrogate_test::tail_p, "tail_q", &surrogate_test::tail_q);
    out["circuit"] = circuit_columns(found.circuit);
    const spike_sequence& tested = found.chosen ? *found.chosen : *spikes.sequence;
    const double alpha = found.options.significance.alpha;
    if (found.pairs) out["pairs"] = pair_columns(*found.pairs, found.circuit, tested, alpha);
    out["threshold"] = found.table.threshold;
    if (found.searched) {
        nb::dict search = table_of(found.searched->tests);
        search["counts"] = column(found.searched->counts);
        search["seconds"] = plain(found.searched->observed);
        search["significant"] = found.searched->significant;
        search["replicated"] = found.searched->replicated;
        if (found.searched->confirmed_elsewhere) add_untested(search, *found.searched);
        out["search"] = std::move(search);
    }
    add_run(out, spikes, found, options);
    if (found.chosen) out["spikes"] = share(*found.chosen, has_recorded_span);
    return out;
}

// Tests in one recording the findings of another.
episode_result find_and_confirm(const spike_sequence& spikes, const spike_sequence& confirm,
                                const episode_options& options, const execution& run) {
    episode_result found = confirm_episodes(spikes, confirm, options, run);
    for (const std::string& warning : check_spikes(confirm))
        found.warnings.push_back("In the recording that confirms: " + warning);
    return found;
}

// Searches the recording, whose findings another one may confirm.
nb::dict find(const shared_spikes& spikes, const nb::dict& given,
              const std::optional<shared_spikes>& confirm) {
    episode_result found = call_with<episode_options>(
        given, [&](const episode_options& options, const execution& run) {
            return confirm ? find_and_confirm(*spikes.sequence, *confirm->sequence, options, run)
                           : find_episodes(*spikes.sequence, options, run);
        });
    const episode_options options = found.options;
    return to_python(spikes, std::move(found), options,
                     (confirm ? *confirm : spikes).has_recorded_span);
}

nb::dict find_in_windows(const shared_spikes& spikes, const nb::dict& given) {
    const auto held = std::make_shared<const windowed_episode_result>(
        call(find_episodes_in_windows, *spikes.sequence, given));
    const windowed_episode_result& found = *held;
    nb::dict out;
    out["report"] = report_on(spikes, held);
    out["windows"] = column(found.windows, [&](const tested_window& one) {
        nb::dict columns = window_columns(one);
        columns["report"] = held_report([held, &one, sequence = spikes.sequence] {
            return report_of_window(held->chosen ? *held->chosen : *sequence, one, held->options);
        });
        return columns;
    });
    if (found.changes) out["changes"] = changes_of(*found.changes);
    add_run(out, spikes, found, found.options);
    return out;
}

nb::dict count_and_test(const shared_spikes& spikes, const episodes_in& episodes,
                        const nb::dict& given) {
    const std::vector<episode> wanted = episodes_of(episodes);
    episode_result found = call_with<given_episode_options>(given, [&](const auto&... arguments) {
        return count_and_test_episodes(*spikes.sequence, wanted, arguments...);
    });
    const auto options = options_for_given(found.options);
    return to_python(spikes, std::move(found), options, spikes.has_recorded_span);
}

array_out<std::int64_t> count(const shared_spikes& spikes, const episodes_in& episodes,
                              const nb::dict& given) {
    const std::vector<episode> wanted = episodes_of(episodes);
    const auto counted = call_with<episode_counting_options>(given, [&](const auto&... arguments) {
        return count_given_episodes(*spikes.sequence, wanted, arguments...);
    });
    return column(counted.counts);
}

// Returns the times of the spikes of each occurrence of the first episode.
array_out<double> occurrences(const shared_spikes& spikes, const episodes_in& episodes,
                              const std::string& ties) {
    const episode what = episodes_of(episodes).at(0);
    const auto rule = value_named<tie_rule>(ties);
    const auto found = run_for_result(
        [&](const execution& /*run*/) { return find_occurrences(*spikes.sequence, what, rule); });
    std::vector<double> times;
    times.reserve(found.size() * what.size());
    for (const auto& row : found)
        for (const std::int64_t us : row) times.push_back(to_seconds(duration{us}));
    return to_numpy(std::move(times), {found.size(), what.size()});
}

// Returns the counts of lags, and the edges of their bins in seconds.
nb::tuple correlogram(const shared_spikes& spikes, unit_id source, unit_id target, nb::handle width,
                      nb::handle reach) {
    const duration bin = time_of("bin", width);
    const duration end = time_of("reach", reach);
    if (bin <= duration{0} || end <= duration{0} || end % bin != duration{0})
        throw nb::value_error(fmt::format("reach: expected a whole number of bins, found {} for "
                                          "bins of {}",
                                          format_duration(end), format_duration(bin))
                                  .c_str());
    const lag_bins bins{bin, static_cast<std::size_t>(end / bin)};
    const auto counts = run_for_result([&](const execution& run) {
        const lags_of_pair pair{source, target, bins};
        return cross_correlograms(*spikes.sequence, {&pair, 1}, run).front();
    });
    std::vector<double> edges;
    edges.reserve(counts.size() + 1);
    for (std::int64_t i = 0; i <= std::ssize(counts); ++i)
        edges.push_back(to_seconds(bin * i - end));
    return nb::make_tuple(column(counts), to_numpy(std::move(edges)));
}

}  // namespace

void bind_episodes(nb::module_& m) {
    m.def("find_episodes", &find, "spikes"_a, "given"_a, "confirm"_a = nb::none());
    m.def("circuit_stability", &stability_between, "before"_a, "after"_a, "given"_a);
    m.def("circuit_stability_options", &description<circuit_stability_options>);
    m.def("episodes_options", &description<episode_options>);
    m.def("episodes_arguments", &recorded_arguments<episode_options>);
    m.def("find_episodes_in_windows", &find_in_windows, "spikes"_a, "given"_a);
    m.def("windows_arguments", &recorded_arguments<windowed_episode_options>);
    m.def("windows_options", &description<windowed_episode_options>);
    m.def("count_and_test_episodes", &count_and_test, "spikes"_a, "episodes"_a, "given"_a);
    m.def("count_options", &description<given_episode_options>);
    m.def("count_arguments", &recorded_arguments<given_episode_options>);
    m.def("count_episodes_options", &description<episode_counting_options>);
    m.def("count_episodes", &count, "spikes"_a, "episodes"_a, "given"_a);
    m.def(
        "maximal_episodes",
        [](const episodes_in& episodes) {
            episode_table table;
            for (episode& one : episodes_of(episodes))
                table.episodes.push_back({std::move(one), 0});
            return to_numpy(maximal_episodes(table));
        },
        "episodes"_a);
    m.def("find_occurrences", &occurrences, "spikes"_a, "episodes"_a, "ties"_a);
    m.def(
        "correlogram",
        [](const shared_spikes& spikes, std::uint32_t source, std::uint32_t target, nb::handle bin,
           nb::handle reach) {
            return correlogram(spikes, unit_id{source}, unit_id{target}, bin, reach);
        },
        "spikes"_a, "source"_a, "target"_a, "bin"_a, "reach"_a);
    m.def("episode_strategies", [](bool on_gpu) {
        const auto device = on_gpu ? device_kind::cuda : device_kind::cpu;
        return column(available_episode_strategies(device));
    });
}

}  // namespace spikeweave::python
