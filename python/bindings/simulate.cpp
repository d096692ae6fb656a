#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
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

template <class Made, class Options>
nb::dict simulate(given& how, const Options& options,
                  Made (*generate)(const Options&, const execution&)) {
    const call_options call = how.take_call();
    how.check_all_known();
    return to_python(
        run_for_result(call, [&](const execution& run) { return generate(options, run); }));
}

nb::dict sym26(const nb::dict& arguments) {
    given how(arguments);
    sym26_options options;
    how.take("units", options.units);
    how.take("length", options.length);
    how.take("chains", options.chains);
    how.take("rest_rate", options.rest_rate_hz);
    how.take("probability", options.probability);
    how.take("delay", options.delay);
    how.take("jitter", options.jitter);
    how.take("background", options.background);
    how.take("seed", options.seed);
    return simulate(how, options, &simulate_sym26);
}

nb::dict culture(const nb::dict& arguments) {
    given how(arguments);
    culture_options options;
    how.take("channels", options.channels);
    how.take("length", options.length);
    how.take("background_rate", options.background_hz);
    how.take("burst_every", options.burst_every);
    how.take("burst_length", options.burst_length);
    how.take("burst_low", options.burst_low_hz);
    how.take("burst_high", options.burst_high_hz);
    how.take("chains", options.chains);
    how.take("probability", options.probability);
    how.take("delay", options.delay);
    how.take("seed", options.seed);
    return simulate(how, options, &simulate_culture);
}

nb::dict poisson(const nb::dict& arguments) {
    given how(arguments);
    poisson_options options;
    how.take("units", options.units);
    how.take("length", options.length);
    how.take("rate", options.rate_hz);
    how.take("seed", options.seed);
    return simulate(how, options, &simulate_poisson);
}

nb::dict patterns(const nb::dict& arguments) {
    given how(arguments);
    patterns_options options;
    how.take("units", options.units);
    how.take("length", options.length);
    how.take("patterns", options.patterns);
    how.take("occurrences", options.occurrences);
    how.take("lag", options.lag);
    how.take("rate", options.rate_hz);
    how.take("rates", options.rates, rate_profile_from);
    how.take("gamma", options.gamma_order);
    how.take("dead_time", options.dead_time);
    how.take("seed", options.seed);
    return simulate(how, options, &simulate_patterns);
}

}  // namespace

void bind_simulate(nb::module_& m) {
    m.def("simulate_sym26", &sym26, nb::arg("given"));
    m.def("simulate_culture", &culture, nb::arg("given"));
    m.def("simulate_poisson", &poisson, nb::arg("given"));
    m.def("simulate_patterns", &patterns, nb::arg("given"));
}

}  // namespace spikeweave::python
