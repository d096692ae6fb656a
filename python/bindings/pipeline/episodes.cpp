#include <nanobind/stl/string.h>

#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/episodes.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/pipeline/episodes.hpp"

namespace spikeweave::python {
namespace {

nb::dict circuit_arrays(const circuit& found) {
    const auto& edges = found.edges;
    nb::dict out =
        table_of(edges, "count", &circuit_edge::count, "expected", &circuit_edge::expected, "p",
                 &circuit_edge::p, "q", &circuit_edge::q, "strength", &circuit_edge::strength);
    out["source"] = column<std::uint32_t>(edges, [](const auto& e) { return to_index(e.from); });
    out["target"] = column<std::uint32_t>(edges, [](const auto& e) { return to_index(e.to); });
    out["delay"] = interval_array(edges, &circuit_edge::delay);
    out["best_delay"] = interval_array(edges, &circuit_edge::best);
    out["kind"] = list_of(edges, [](const auto& e) { return std::string(to_string(e.kind)); });
    out["via"] = list_of(
        edges, [](const auto& e) { return e.via ? nb::cast(to_index(*e.via)) : nb::none(); });
    out["chains"] = column<std::int64_t>(found.chains, std::identity{});
    return out;
}

nb::dict find(const shared_spikes& spikes, const nb::dict& arguments) {
    episode_options options;
    const call_options call = take_options(arguments, describe(options));
    episode_result found = run_for_result(
        call, [&](const execution& run) { return find_episodes(*spikes.sequence, options, run); });
    nb::dict out;
    out["table"] = table_arrays(found.table);
    out["levels"] =
        dicts_of(found.table.levels, "size", &episode_level::size, "candidates",
                 &episode_level::candidates, "frequent", &episode_level::frequent, "seconds",
                 &episode_level::seconds, "kernel_seconds", &episode_level::kernel_seconds);
    out["assessed"] =
        table_of(deciding_tests(found), "expected", &episode_test::expected, "p", &episode_test::p,
                 "q", &episode_test::q, "strength", &episode_test::strength);
    if (!found.surrogates.empty())
        out["by_surrogates"] = table_of(found.surrogates, "mean_count", &surrogate_test::mean_count,
                                        "p", &surrogate_test::p, "q", &surrogate_test::q, "tail_p",
                                        &surrogate_test::tail_p, "tail_q", &surrogate_test::tail_q);
    out["circuit"] = circuit_arrays(found.circuit);
    out["threshold"] = found.table.threshold;
    out["parameters"] = arguments_of(describe(found.options));
    add_warnings(out, spikes, found.warnings);
    out["seconds"] = found.seconds;
    return out;
}

array_out<std::int64_t> count(const shared_spikes& spikes, const array_in<std::int64_t>& offsets,
                              const array_in<std::uint32_t>& units, const matrix_in<double>& delays,
                              const nb::dict& arguments) {
    episode_counting_options options;
    const call_options call = take_options(arguments, describe(options));
    const std::vector<episode> wanted = episodes_of(offsets, units, delays);
    const episode_count_result counted = run_for_result(call, [&](const execution& run) {
        return count_given_episodes(*spikes.sequence, wanted, options, run);
    });
    return column<std::int64_t>(counted.counts, std::identity{});
}

array_out<double> occurrences(const shared_spikes& spikes, const array_in<std::int64_t>& offsets,
                              const array_in<std::uint32_t>& units, const matrix_in<double>& delays,
                              const std::string& ties) {
    const std::vector<episode> wanted = episodes_of(offsets, units, delays);
    const episode& what = wanted.at(0);
    const auto rule = value_named<tie_rule>(ties);
    const auto found = run_for_result({}, [&](const execution& /*run*/) {
        return find_occurrences(*spikes.sequence, what, rule);
    });
    std::vector<double> times;
    times.reserve(found.size() * what.size());
    for (const auto& row : found)
        for (const std::int64_t us : row) times.push_back(to_seconds(duration{us}));
    return to_numpy(std::move(times), {found.size(), what.size()});
}

}  // namespace

void bind_episodes(nb::module_& m) {
    m.def("find_episodes", &find, nb::arg("spikes"), nb::arg("given"));
    m.def("episodes_options", &description<episode_options>);
    m.def("count_episodes_options", &description<episode_counting_options>);
    m.def("count_episodes", &count, nb::arg("spikes"), nb::arg("offsets"), nb::arg("units"),
          nb::arg("delays"), nb::arg("given"));
    m.def("find_occurrences", &occurrences, nb::arg("spikes"), nb::arg("offsets"), nb::arg("units"),
          nb::arg("delays"), nb::arg("ties"));
    m.def("episode_strategies", [](bool on_gpu) {
        const auto device = on_gpu ? device_kind::cuda : device_kind::cpu;
        return list_of(available_episode_strategies(device),
                       [](episode_strategy one) { return std::string(to_string(one)); });
    });
}

}  // namespace spikeweave::python
