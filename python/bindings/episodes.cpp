#include "spikeweave/mine/episode.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fields.hpp"
#include "spikes.hpp"
#include "spikeweave/assess/episode_tests.hpp"

namespace spikeweave::python {
namespace {

delay_interval interval_of(nb::handle value) {
    constexpr const char* expected = "delay intervals such as (0.001, 0.005) or '1-5ms'";
    if (nb::isinstance<nb::str>(value)) {
        delay_interval out{};
        keyword_arguments::naming(
            "delays", [&] { out = parse_delay_interval(nb::cast<std::string>(value)); });
        return out;
    }
    if (keyword_arguments::length(value) != 2U) refuse_type("delays", expected, value);
    const nb::list bounds = keyword_arguments::items("delays", value);
    return {keyword_arguments::time("delays", bounds[0]),
            keyword_arguments::time("delays", bounds[1])};
}

// One interval stands for a list of one.
bool is_interval(nb::handle value) {
    if (nb::isinstance<nb::str>(value)) return true;
    if (keyword_arguments::length(value) != 2U) return false;
    const nb::object first = value[nb::int_(0)];
    return !keyword_arguments::length(first);
}

std::vector<delay_interval> delays_of(nb::handle value) {
    std::vector<delay_interval> out;
    if (is_interval(value)) {
        out.push_back(interval_of(value));
        return out;
    }
    for (const nb::handle one : keyword_arguments::items("delays", value))
        out.push_back(interval_of(one));
    return out;
}

void take_threshold(keyword_arguments& how, episode_threshold& into) {
    std::optional<std::uint64_t> count;
    std::optional<double> fraction;
    std::optional<double> rate;
    how.take("min_count", count);
    how.take("min_fraction", fraction);
    how.take("min_rate", rate);
    if (int{count.has_value()} + int{fraction.has_value()} + int{rate.has_value()} > 1)
        throw invalid_argument("min_count, min_fraction, min_rate: expected one of them");
    if (count == 0U) throw invalid_argument("min_count: expected at least 1, found 0");
    if (fraction && !(*fraction > 0 && *fraction <= 1))
        throw invalid_argument("min_fraction: expected a number above 0 and at most 1, found " +
                               std::to_string(*fraction));
    if (rate && !(*rate > 0 && std::isfinite(*rate)))
        throw invalid_argument("min_rate: expected a number above 0, found " +
                               std::to_string(*rate));
    if (count) into = count_threshold{*count};
    if (fraction) into = fraction_threshold{*fraction};
    if (rate) into = rate_threshold{*rate};
}

struct episode_call {
    episode_mining_options mining{.delays = default_delays()};
    significance_options significance{};
    surrogate_options surrogates{};
    call_options call{};
};

template <class Each>
void each_field(episode_call& options, Each each) {
    episode_mining_options& mining = options.mining;
    each.above_zero("max_size", mining.max_size);
    each("self_repeats", mining.self_repeats);
    each("ties", mining.ties, tie_rule_from);
    each("strategy", mining.strategy, episode_strategy_from);
    each("pairs", mining.pairs, pair_method_from);
    each("compaction", mining.compaction, compaction_from);
    each("split", mining.split, device_split_from);
    each.above_zero("max_memory", mining.max_memory_bytes);
    each("alpha", options.significance.alpha);
    each("correction", options.significance.correction, one_stage_correction_from);
    each("test", options.significance.test, significance_test_from);
    each("jitter_window", options.significance.jitter_window);
    each("surrogates", options.surrogates.surrogates);
    each("surrogate_method", options.surrogates.method, surrogate_method_from);
    each("dither", options.surrogates.dither);
    each("seed", options.surrogates.seed);
}

episode_call take_options(keyword_arguments& how) {
    episode_call out;
    if (const auto delays = how.find("delays")) out.mining.delays = delays_of(*delays);
    take_threshold(how, out.mining.threshold);
    each_field(out, field_reader(how));
    out.call = how.take_call();
    how.check_all_known();
    return out;
}

// As the arguments of a call that does the same.
nb::dict arguments_of(episode_call options) {
    nb::dict out;
    nb::list delays;
    for (const delay_interval& delay : options.mining.delays)
        delays.append(nb::make_tuple(to_seconds(delay.low), to_seconds(delay.high)));
    out["delays"] = delays;
    const episode_threshold& least = options.mining.threshold;
    for (const char* const name : {"min_count", "min_fraction", "min_rate"}) out[name] = nb::none();
    if (const auto* count = std::get_if<count_threshold>(&least)) out["min_count"] = count->count;
    each_field(options, field_writer(out));
    write_call(options.call, out);
    return out;
}

// What the search decided takes the place of what it was left to decide.
nb::dict arguments_of(episode_call options, const episode_table& table) {
    options.mining.threshold = count_threshold{table.threshold};
    options.mining.strategy = table.ran_on;
    options.mining.pairs = table.pairs_by;
    options.mining.compaction = table.compacted_by;
    options.call.devices = table.ran_on_devices;
    return arguments_of(std::move(options));
}

nb::dict default_arguments() {
    keyword_arguments nothing{nb::dict()};
    return arguments_of(take_options(nothing));
}

array_out<double> interval_array(const std::vector<delay_interval>& delays) {
    std::vector<double> bounds;
    bounds.reserve(2 * delays.size());
    for (const delay_interval& delay : delays) {
        bounds.push_back(to_seconds(delay.low));
        bounds.push_back(to_seconds(delay.high));
    }
    return to_numpy(std::move(bounds), {delays.size(), std::size_t{2}});
}

// The table as flat arrays: episode i has units[offsets[i]:offsets[i + 1]], and one delay fewer.
nb::dict table_arrays(const episode_table& table) {
    std::size_t nodes = 0;
    for (const counted_episode& one : table.episodes) nodes += one.what.size();
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> units;
    std::vector<double> steps;
    offsets.reserve(table.episodes.size() + 1);
    units.reserve(nodes);
    steps.reserve(2 * (nodes - std::min(nodes, table.episodes.size())));
    for (const counted_episode& one : table.episodes) {
        for (const unit_id unit : one.what.units)
            units.push_back(static_cast<std::uint32_t>(index(unit)));
        for (const delay_interval& delay : one.what.delays) {
            steps.push_back(to_seconds(delay.low));
            steps.push_back(to_seconds(delay.high));
        }
        offsets.push_back(static_cast<std::int64_t>(units.size()));
    }
    const std::size_t rows = steps.size() / 2;
    nb::dict out;
    out["offsets"] = to_numpy(std::move(offsets));
    out["units"] = to_numpy(std::move(units));
    out["delays"] = to_numpy(std::move(steps), {rows, std::size_t{2}});
    out["counts"] = column<std::int64_t>(table.episodes, [](const auto& one) { return one.count; });
    return out;
}

nb::list levels_of(const episode_table& table) {
    nb::list out;
    for (const episode_level& level : table.levels) {
        nb::dict one;
        one["size"] = level.size;
        one["candidates"] = level.candidates;
        one["frequent"] = level.frequent;
        one["seconds"] = level.seconds;
        one["kernel_seconds"] = level.kernel_seconds;
        out.append(one);
    }
    return out;
}

// As it decides on the circuit: by surrogates where there are any.
nb::dict assessed_arrays(const episode_test_result& found) {
    const std::vector<episode_test> judged =
        found.surrogates.empty() ? found.assessed
                                 : with_surrogate_tests(found.assessed, found.surrogates);
    nb::dict out;
    out["expected"] = column<double>(judged, [](const auto& one) { return one.expected; });
    out["p"] = column<double>(judged, [](const auto& one) { return one.p; });
    out["q"] = column<double>(judged, [](const auto& one) { return one.q; });
    out["strength"] = column<double>(judged, [](const auto& one) { return one.strength; });
    return out;
}

nb::dict surrogate_arrays(const std::vector<surrogate_test>& by) {
    nb::dict out;
    out["mean_count"] = column<double>(by, [](const auto& one) { return one.mean_count; });
    out["p"] = column<double>(by, [](const auto& one) { return one.p; });
    out["q"] = column<double>(by, [](const auto& one) { return one.q; });
    out["tail_p"] = column<double>(by, [](const auto& one) { return one.tail_p; });
    out["tail_q"] = column<double>(by, [](const auto& one) { return one.tail_q; });
    return out;
}

nb::dict circuit_arrays(const circuit& found) {
    const auto& edges = found.edges;
    std::vector<delay_interval> delays;
    std::vector<delay_interval> best;
    nb::list kinds;
    nb::list via;
    for (const circuit_edge& edge : edges) {
        delays.push_back(edge.delay);
        best.push_back(edge.best);
        kinds.append(std::string(to_string(edge.kind)));
        via.append(edge.via ? nb::cast(index(*edge.via)) : nb::none());
    }
    nb::dict out;
    out["source"] = column<std::uint32_t>(edges, [](const auto& e) { return index(e.from); });
    out["target"] = column<std::uint32_t>(edges, [](const auto& e) { return index(e.to); });
    out["delay"] = interval_array(delays);
    out["best_delay"] = interval_array(best);
    out["count"] = column<std::int64_t>(edges, [](const auto& e) { return e.count; });
    out["expected"] = column<double>(edges, [](const auto& e) { return e.expected; });
    out["p"] = column<double>(edges, [](const auto& e) { return e.p; });
    out["q"] = column<double>(edges, [](const auto& e) { return e.q; });
    out["strength"] = column<double>(edges, [](const auto& e) { return e.strength; });
    out["kind"] = kinds;
    out["via"] = via;
    out["chains"] = column<std::int64_t>(found.chains, [](std::size_t i) { return i; });
    return out;
}

// Where nobody says, GPUs are taken when they pay and have the strategy.
execution on_devices(execution run, const call_options& call, episode_strategy strategy,
                     const spike_sequence& spikes) {
    const auto on_gpus = available_episode_strategies(device_kind::cuda);
    const bool may_be_gpu = strategy == episode_strategy::automatic ||
                            std::ranges::find(on_gpus, strategy) != on_gpus.end();
    if (call.devices)
        run.devices = *call.devices;
    else if (may_be_gpu)
        run.devices = recommended_devices(spikes);
    return run;
}

nb::dict mine(const shared_spikes& spikes, const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const episode_call options = take_options(how);
    const spike_sequence& sequence = *spikes.sequence;
    double seconds = 0;
    auto [table, found] = run_for_result(options.call, [&](const execution& run) {
        const auto began = std::chrono::steady_clock::now();
        episode_table mined =
            mine_episodes(sequence, options.mining,
                          on_devices(run, options.call, options.mining.strategy, sequence));
        episode_test_result judged =
            test_episodes(sequence, mined, options.significance, options.surrogates, run);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        return std::pair(std::move(mined), std::move(judged));
    });
    nb::dict out;
    out["table"] = table_arrays(table);
    out["levels"] = levels_of(table);
    out["assessed"] = assessed_arrays(found);
    if (!found.surrogates.empty()) out["by_surrogates"] = surrogate_arrays(found.surrogates);
    out["circuit"] = circuit_arrays(found.circuit);
    out["threshold"] = table.threshold;
    out["parameters"] = arguments_of(options, table);
    std::vector<std::string> warnings = table.warnings;
    warnings.insert(warnings.end(), found.warnings.begin(), found.warnings.end());
    add_warnings(out, spikes, std::move(warnings));
    out["seconds"] = seconds;
    return out;
}

// From flat arrays as `table_arrays` gives them.
std::vector<episode> episodes_of(const array_in<std::int64_t>& offsets,
                                 const array_in<std::uint32_t>& units,
                                 const matrix_in<double>& delays) {
    std::vector<episode> out;
    std::size_t step = 0;
    for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        episode one;
        for (std::int64_t at = offsets.data()[i]; at < offsets.data()[i + 1]; ++at)
            one.units.push_back(unit_id{units.data()[at]});
        for (std::size_t s = 0; s + 1 < one.units.size(); ++s, ++step)
            one.delays.push_back({duration_from_seconds(delays.data()[2 * step]),
                                  duration_from_seconds(delays.data()[2 * step + 1])});
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

template <class Each>
void each_field(episode_count_options& options, Each each) {
    each("ties", options.ties, tie_rule_from);
    each("strategy", options.strategy, episode_strategy_from);
    each("compaction", options.compaction, compaction_from);
    each("split", options.split, device_split_from);
}

namespace {

array_out<std::int64_t> count(const shared_spikes& spikes, const array_in<std::int64_t>& offsets,
                              const array_in<std::uint32_t>& units, const matrix_in<double>& delays,
                              const nb::dict& arguments) {
    keyword_arguments how(arguments);
    const auto options = read_fields<episode_count_options>(how);
    const call_options call = how.take_call();
    how.check_all_known();
    const std::vector<episode> wanted = episodes_of(offsets, units, delays);
    episode_count_result counted = run_for_result(call, [&](const execution& run) {
        return count_episodes(*spikes.sequence, wanted, options,
                              on_devices(run, call, options.strategy, *spikes.sequence));
    });
    return column<std::int64_t>(counted.counts, [](std::uint64_t number) { return number; });
}

array_out<double> occurrences(const shared_spikes& spikes, const array_in<std::int64_t>& offsets,
                              const array_in<std::uint32_t>& units, const matrix_in<double>& delays,
                              const std::string& ties) {
    const std::vector<episode> wanted = episodes_of(offsets, units, delays);
    const episode& what = wanted.at(0);
    const tie_rule rule = tie_rule_from(ties);
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
    m.def("mine_episodes", &mine, nb::arg("spikes"), nb::arg("given"));
    m.def("episodes_defaults", &default_arguments);
    m.def("count_episodes_defaults", [] {
        nb::dict out = default_fields<episode_count_options>();
        write_call({}, out);
        return out;
    });
    m.def("count_episodes", &count, nb::arg("spikes"), nb::arg("offsets"), nb::arg("units"),
          nb::arg("delays"), nb::arg("given"));
    m.def("find_occurrences", &occurrences, nb::arg("spikes"), nb::arg("offsets"), nb::arg("units"),
          nb::arg("delays"), nb::arg("ties"));
    m.def("episode_strategies", [](bool on_gpu) {
        nb::list names;
        for (const episode_strategy one :
             available_episode_strategies(on_gpu ? device_kind::cuda : device_kind::cpu))
            names.append(std::string(to_string(one)));
        return names;
    });
}

}  // namespace spikeweave::python
