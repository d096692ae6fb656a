#include "spikeweave/pipeline/compare/episodes.hpp"
#include "spikeweave/pipeline/compare/spade.hpp"

#include "bindings/core/episodes.hpp"
#include "bindings/core/held_report.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/report/compare.hpp"

namespace spikeweave::python {
namespace {

// Of both conditions.
using names_in = std::array<std::string, 2>;

// Adds a column for each condition.
template <class Change, class Member>
void add_of_both(nb::dict& columns, const std::vector<Change>& findings, const char* name,
                 Member member) {
    for (const std::size_t c : {0U, 1U})
        columns[(name + std::string(c == 0 ? "_a" : "_b")).c_str()] =
            column(findings, [=](const Change& one) { return (one.*member)[c]; });
}

// Adds the common parts of comparisons of all kinds of findings, except the first columns.
template <class Comparison>
void add_comparison(nb::dict& out, nb::dict columns, const Comparison& found,
                    const names_in& names) {
    add_described<condition_change>(columns, found.findings, [](std::string name) {
        return name.ends_with("_hz") ? name.substr(0, name.size() - 3) : name;
    });
    out["columns"] = std::move(columns);
    out["unit_names"] = found.unit_names;
    out["samples"] = std::string(to_string(found.samples));
    const nb::list conditions =
        dicts_of(found.conditions, "recordings", &condition_summary::recordings, "samples",
                 &condition_summary::samples, "observed", &condition_summary::observed, "spikes",
                 &condition_summary::spikes);
    for (const std::size_t c : {0U, 1U}) conditions[c]["name"] = names[c];
    out["conditions"] = nb::tuple(conditions);
    out["labellings"] = found.labellings.number;
    out["all_labellings"] = found.labellings.exact;
    out["smallest_p"] = found.labellings.smallest_p;
    auto options = found.options;
    out["parameters"] = arguments_of(describe(options));
    out["warnings"] = found.warnings;
    out["seconds"] = found.seconds;
}

// The report of a comparison, of conditions with these names.
template <class Comparison>
auto held_report_of(std::shared_ptr<const Comparison> result, const names_in& names) {
    return held_report([result = std::move(result), names] {
        auto report = report_of(*result);
        report.names = names;
        return report;
    });
}

nb::dict to_python(episode_comparison result, const names_in& names) {
    const auto held = std::make_shared<const episode_comparison>(std::move(result));
    const episode_comparison& found = *held;
    episode_table table;
    for (const episode_change& one : found.findings) table.episodes.push_back({one.what, 0});
    nb::dict out;
    out["report"] = held_report_of(held, names);
    out["table"] = table_arrays(table);
    nb::dict columns = table_of(found.findings, "change", &episode_change::change);
    add_of_both(columns, found.findings, "found", &episode_change::found);
    add_of_both(columns, found.findings, "removed", &episode_change::removed);
    add_comparison(out, std::move(columns), found, names);
    return out;
}

nb::dict to_python(pattern_comparison result, const names_in& names) {
    const auto held = std::make_shared<const pattern_comparison>(std::move(result));
    const pattern_comparison& found = *held;
    nb::list patterns;
    for (const pattern_change& one : found.findings) {
        std::vector<std::string> units;
        std::vector<double> lags;
        for (const auto& [unit, lag] : one.what) {
            units.push_back(unit);
            lags.push_back(to_seconds(found.bin * lag));
        }
        patterns.append(nb::make_tuple(nb::tuple(nb::cast(units)), nb::tuple(nb::cast(lags))));
    }
    nb::dict out;
    out["report"] = held_report_of(held, names);
    out["findings"] = std::move(patterns);
    add_comparison(out, table_of(found.findings, "change", &pattern_change::change), found, names);
    return out;
}

std::vector<time_span> spans(const matrix_in<double>& epochs) {
    std::vector<time_span> out;
    for (std::size_t i = 0; i < epochs.shape(0); ++i)
        out.push_back({duration_from_seconds(epochs(i, 0)), duration_from_seconds(epochs(i, 1))});
    return out;
}

// Patterns of a result: its bin in seconds, and the names of units and the lags in bins of each.
using patterns_in =
    std::pair<double, std::vector<std::pair<std::vector<std::string>, std::vector<std::uint32_t>>>>;

named_patterns joined_results(const std::vector<patterns_in>& results) {
    std::vector<named_patterns> all;
    for (const auto& [bin, patterns] : results) {
        named_patterns& one = all.emplace_back();
        one.bin = duration_from_seconds(bin);
        for (const auto& [units, lags] : patterns) {
            named_pattern& pattern = one.patterns.emplace_back();
            for (std::size_t i = 0; i < units.size(); ++i) pattern.push_back({units[i], lags[i]});
        }
    }
    return joined_patterns(all);
}

using recordings_in = std::vector<std::vector<shared_spikes>>;
using epochs_in = std::vector<matrix_in<double>>;

// The recordings of each condition, or a single one and the epochs of each condition.
compared_recordings conditions(const recordings_in& recordings, const epochs_in& epochs) {
    if (!epochs.empty())
        return conditions_of(*recordings.at(0).at(0).sequence, spans(epochs.at(0)),
                             spans(epochs.at(1)));
    compared_recordings out;
    for (const std::size_t c : {0U, 1U})
        for (const shared_spikes& one : recordings.at(c)) out.of[c].push_back(*one.sequence);
    return out;
}

// `paths` are what the names of the conditions are taken from; empty where there is none.
nb::dict compare(const recordings_in& recordings, const epochs_in& epochs, const names_in& paths,
                 const nb::dict& given) {
    return to_python(call_with<episode_comparison_options>(
                         given,
                         [&](const auto&... arguments) {
                             return compare_episodes(conditions(recordings, epochs), arguments...);
                         }),
                     condition_names(paths[0], paths[1]));
}

nb::dict compare_given(const recordings_in& recordings, const epochs_in& epochs,
                       const names_in& paths, const std::vector<patterns_in>& patterns,
                       const nb::dict& given) {
    const named_patterns joined = joined_results(patterns);
    return to_python(call_with<pattern_comparison_options>(given,
                                                           [&](const auto&... arguments) {
                                                               return compare_patterns(
                                                                   conditions(recordings, epochs),
                                                                   joined, arguments...);
                                                           }),
                     condition_names(paths[0], paths[1]));
}

}  // namespace

void bind_compare(nb::module_& m) {
    m.def("compare_episodes", &compare, "recordings"_a, "epochs"_a, "paths"_a, "given"_a);
    m.def("compare_options", &description<episode_comparison_options>);
    m.def("compare_arguments", &recorded_arguments<episode_comparison_options>);
    m.def("compare_patterns", &compare_given, "recordings"_a, "epochs"_a, "paths"_a, "patterns"_a,
          "given"_a);
    m.def("compare_patterns_options", &description<pattern_comparison_options>);
    m.def("compare_patterns_arguments", &recorded_arguments<pattern_comparison_options>);
}

}  // namespace spikeweave::python
