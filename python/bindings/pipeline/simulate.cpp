#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/simulate/examples.hpp"
#include "spikeweave/simulate/features.hpp"
#include "spikeweave/simulate/network.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave::python {
namespace {

nb::dict to_python(simulated_spikes simulated) {
    nb::dict out;
    out["edges"] =
        table_of(simulated.truth, "source", &planted_edge::from, "target", &planted_edge::to,
                 "delay", &planted_edge::delay, "probability", &planted_edge::probability);
    out["chains"] = column(simulated.chains);
    out["spikes"] = share(std::move(simulated.spikes));
    return out;
}

nb::dict to_python(simulated_patterns simulated) {
    nb::dict out;
    out["patterns"] = dicts_of(simulated.truth, "units", &planted_pattern::units, "lags",
                               &planted_pattern::lags, "times", &planted_pattern::times);
    out["spikes"] = share(std::move(simulated.spikes));
    return out;
}

nb::dict to_python(simulated_network simulated) {
    nb::dict out;
    out["synapses"] = table_of(simulated.truth, "source", &synapse::from, "target", &synapse::to,
                               "delay", &synapse::delay, "weight_mv", &synapse::weight_mv);
    out["spikes"] = share(std::move(simulated.spikes));
    return out;
}

nb::dict to_python(simulated_recording simulated) {
    const auto& units = simulated.truth.units;
    nb::dict out = table_of(
        units, "peak_uv", &simulated_unit::peak_uv, "rate", &simulated_unit::rate_hz, "waveform",
        &simulated_unit::waveform, "bursting", &simulated_unit::bursting, "like",
        [](const auto& unit) { return unit.like ? std::int64_t{*unit.like} : -1; });
    std::vector<std::uint32_t> channels;
    for (const simulated_unit& unit : units) channels.push_back(unit.channel);
    out["channel"] = to_numpy(std::move(channels));
    add_columns(out, simulated.truth.motion, "motion_time", &simulated_displacement::time,
                "motion_um", &simulated_displacement::um);
    out["spikes"] = share(std::move(simulated.truth.spikes));
    out["recording"] = std::move(simulated.traces);
    return out;
}

nb::dict to_python(simulated_features simulated) {
    const auto shape = {simulated.features.size(), simulated.features.feature_count()};
    nb::dict out;
    out["features"] = to_numpy(simulated.features.dense_values(), shape);
    out["masks"] = to_numpy(simulated.features.dense_masks(), shape);
    out["samples"] = to_numpy(std::move(simulated.samples));
    out["sample_rate"] = simulated.rate_hz;
    out["truth"] = to_numpy(std::move(simulated.truth));
    return out;
}

template <class Options, class Made>
void bind_simulation(nb::module_& m, const std::string& name,
                     Made (*generate)(const Options&, const execution&)) {
    m.def(("simulate_" + name).c_str(),
          [generate](const nb::dict& given) {
              return to_python(call_with<Options>(given, generate));
          },
          "given"_a);
    m.def((name + "_options").c_str(), &description<Options>);
}

// The function that simulates an example, and its arguments.
nb::tuple example_of(const std::string& name) {
    const example_recording& which = find_example(name);
    return std::visit(
        [&](auto options) {
            return nb::make_tuple(std::string(which.model), arguments_of(describe(options)));
        },
        which.options);
}

// The names of the examples, each with its description and answer.
nb::dict list_of_examples() {
    nb::dict out;
    for (const example_recording& one : example_recordings())
        out[nb::cast(std::string(one.name))] =
            std::string(one.about) + ": " + std::string(one.answer);
    return out;
}

}  // namespace

void bind_simulate(nb::module_& m) {
    bind_simulation(m, "sym26", &simulate_sym26);
    bind_simulation(m, "culture", &simulate_culture);
    bind_simulation(m, "poisson", &simulate_poisson);
    bind_simulation(m, "patterns", &simulate_patterns);
    bind_simulation(m, "network", &simulate_network);
    bind_simulation(m, "recording", &simulate_recording);
    bind_simulation(m, "features", &simulate_features);
    m.def("example", &example_of);
    m.def("examples", &list_of_examples);
}

}  // namespace spikeweave::python
