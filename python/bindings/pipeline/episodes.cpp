#include "bindings/core/episodes.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::python {
namespace {

nb::dict circuit_columns(const circuit& found) {
    nb::dict out = table_of(
        found.edges, "count", &circuit_edge::count, "expected", &circuit_edge::expected, "p",
        &circuit_edge::p, "q", &circuit_edge::q, "strength", &circuit_edge::strength, "source",
        &circuit_edge::from, "target", &circuit_edge::to, "delay", &circuit_edge::delay,
        "best_delay", &circuit_edge::best, "kind", &circuit_edge::kind, "via", &circuit_edge::via);
    out["chains"] = column(found.chains);
    return out;
}

nb::dict find(const shared_spikes& spikes, const nb::dict& given) {
    episode_result found = call(find_episodes, *spikes.sequence, given);
    nb::dict out;
    out["table"] = table_arrays(found.table);
    out["levels"] = column(found.table.levels);
    out["assessed"] = table_of(deciding_tests(found));
    if (!found.surrogates.empty())
        out["by_surrogates"] = table_of(found.surrogates, "mean_count", &surrogate_test::mean_count,
                                        "p", &surrogate_test::p, "q", &surrogate_test::q, "tail_p",
                                        &surrogate_test::tail_p, "tail_q", &surrogate_test::tail_q);
    out["circuit"] = circuit_columns(found.circuit);
    out["threshold"] = found.table.threshold;
    out["parameters"] = arguments_of(describe(found.options));
    add_warnings(out, spikes, found.warnings);
    out["seconds"] = found.seconds;
    return out;
}

array_out<std::int64_t> count(const shared_spikes& spikes, const episodes_in& episodes,
                              const nb::dict& given) {
    const std::vector<episode> wanted = episodes_of(episodes);
    const auto counted = call_with<episode_counting_options>(given, [&](const auto&... how) {
        return count_given_episodes(*spikes.sequence, wanted, how...);
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

}  // namespace

void bind_episodes(nb::module_& m) {
    m.def("find_episodes", &find, "spikes"_a, "given"_a);
    m.def("episodes_options", &description<episode_options>);
    m.def("count_episodes_options", &description<episode_counting_options>);
    m.def("count_episodes", &count, "spikes"_a, "episodes"_a, "given"_a);
    m.def("find_occurrences", &occurrences, "spikes"_a, "episodes"_a, "ties"_a);
    m.def("page_of", &page_of, "data"_a);
    nb::class_<result_data>(m, "PageData").def(nb::init<std::string, std::string>());
    m.def("compared_page", [](const std::vector<result_data>& results, const nb::dict& given) {
        return call(compared_page, results, given);
    });
    m.def("episode_strategies", [](bool on_gpu) {
        const auto device = on_gpu ? device_kind::cuda : device_kind::cpu;
        return column(available_episode_strategies(device));
    });
}

}  // namespace spikeweave::python
