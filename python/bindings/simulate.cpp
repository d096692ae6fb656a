#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fields.hpp"
#include "spikes.hpp"
#include "spikeweave/simulate/features.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave::python {
namespace {

nb::dict edges_of(const std::vector<planted_edge>& truth) {
    nb::dict out;
    out["source"] = column<std::uint32_t>(truth, [](const auto& e) { return index(e.from); });
    out["target"] = column<std::uint32_t>(truth, [](const auto& e) { return index(e.to); });
    out["delay"] = column<double>(truth, [](const auto& e) { return to_seconds(e.delay); });
    out["probability"] = column<double>(truth, [](const auto& e) { return e.probability; });
    return out;
}

nb::list unit_lists(const std::vector<std::vector<unit_id>>& chains) {
    nb::list out;
    for (const auto& chain : chains)
        out.append(column<std::uint32_t>(chain, [](unit_id unit) { return index(unit); }));
    return out;
}

nb::dict to_python(simulated_spikes made) {
    nb::dict out;
    out["edges"] = edges_of(made.truth);
    out["chains"] = unit_lists(made.chains);
    out["spikes"] = nb::cast(share(std::move(made.spikes)));
    return out;
}

nb::dict to_python(simulated_patterns made) {
    nb::list patterns;
    const auto seconds = [](duration time) { return to_seconds(time); };
    for (const planted_pattern& one : made.truth) {
        nb::dict pattern;
        pattern["units"] =
            column<std::uint32_t>(one.units, [](unit_id unit) { return index(unit); });
        pattern["lags"] = column<double>(one.lags, seconds);
        pattern["times"] = column<double>(one.times, seconds);
        patterns.append(pattern);
    }
    nb::dict out;
    out["patterns"] = patterns;
    out["spikes"] = nb::cast(share(std::move(made.spikes)));
    return out;
}

}  // namespace

template <class Each>
void each_field(sym26_options& options, Each each) {
    each("units", options.units);
    each("length", options.length);
    each("chains", options.chains);
    each("rest_rate", options.rest_rate_hz);
    each("probability", options.probability);
    each("delay", options.delay);
    each("jitter", options.jitter);
    each("background", options.background);
    each("seed", options.seed);
}

template <class Each>
void each_field(culture_options& options, Each each) {
    each("channels", options.channels);
    each("length", options.length);
    each("background_rate", options.background_hz);
    each("burst_every", options.burst_every);
    each("burst_length", options.burst_length);
    each("burst_low", options.burst_low_hz);
    each("burst_high", options.burst_high_hz);
    each("chains", options.chains);
    each("probability", options.probability);
    each("delay", options.delay);
    each("seed", options.seed);
}

template <class Each>
void each_field(poisson_options& options, Each each) {
    each("units", options.units);
    each("length", options.length);
    each("rate", options.rate_hz);
    each("seed", options.seed);
}

template <class Each>
void each_field(patterns_options& options, Each each) {
    each("units", options.units);
    each("length", options.length);
    each("patterns", options.patterns);
    each("occurrences", options.occurrences);
    each("lag", options.lag);
    each("rate", options.rate_hz);
    each("rates", options.rates, value_named<rate_profile>);
    each("gamma", options.gamma_order);
    each("dead_time", options.dead_time);
    each("seed", options.seed);
}

namespace {

template <class Options, class Made>
nb::dict simulate(const nb::dict& arguments, Made (*generate)(const Options&, const execution&)) {
    keyword_arguments how(arguments);
    const auto options = read_fields<Options>(how);
    const call_options call = how.take_call();
    how.check_all_known();
    return to_python(
        run_for_result(call, [&](const execution& run) { return generate(options, run); }));
}

template <class Options, class Made>
void bind_simulation(nb::module_& m, const std::string& name,
                     Made (*generate)(const Options&, const execution&)) {
    m.def(("simulate_" + name).c_str(),
          [generate](const nb::dict& arguments) { return simulate(arguments, generate); },
          nb::arg("given"));
    m.def((name + "_defaults").c_str(), &default_fields<Options>);
}

}  // namespace

void bind_simulate(nb::module_& m) {
    bind_simulation(m, "sym26", &simulate_sym26);
    bind_simulation(m, "culture", &simulate_culture);
    bind_simulation(m, "poisson", &simulate_poisson);
    bind_simulation(m, "patterns", &simulate_patterns);
}

}  // namespace spikeweave::python
