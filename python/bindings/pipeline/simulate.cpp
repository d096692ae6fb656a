#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "bindings/pipeline/sorted_data.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/simulate/features.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave::python {
namespace {

array_out<std::uint32_t> unit_array(const std::vector<unit_id>& units) {
    return column<std::uint32_t>(units, &to_index);
}

nb::dict to_python(simulated_spikes made) {
    const auto& truth = made.truth;
    nb::dict edges;
    edges["source"] = column<std::uint32_t>(truth, [](const auto& e) { return to_index(e.from); });
    edges["target"] = column<std::uint32_t>(truth, [](const auto& e) { return to_index(e.to); });
    add_columns(
        edges, truth, "delay", [](const auto& e) { return to_seconds(e.delay); }, "probability",
        &planted_edge::probability);
    nb::dict out;
    out["edges"] = edges;
    out["chains"] = list_of(made.chains, unit_array);
    out["spikes"] = share(std::move(made.spikes));
    return out;
}

nb::dict to_python(simulated_patterns made) {
    nb::dict out;
    out["patterns"] = dicts_of(
        made.truth, "units", [](const auto& one) { return unit_array(one.units); }, "lags",
        [](const auto& one) { return column<double>(one.lags, to_seconds); }, "times",
        [](const auto& one) { return column<double>(one.times, to_seconds); });
    out["spikes"] = share(std::move(made.spikes));
    return out;
}

nb::dict to_python(simulated_recording made) {
    const auto& units = made.truth.units;
    nb::dict out =
        table_of(units, "peak_uv", &simulated_unit::peak_uv, "rate", &simulated_unit::rate_hz);
    out["channel"] = column<std::uint32_t>(units, &simulated_unit::channel);
    out["waveform"] =
        list_of(units, [](const auto& unit) { return std::string(to_string(unit.waveform)); });
    add_columns(out, units, "bursting", &simulated_unit::bursting, "like", [](const auto& unit) {
        return unit.like ? static_cast<std::int64_t>(*unit.like) : -1;
    });
    const auto& motion = made.truth.motion;
    add_columns(
        out, motion, "motion_time", [](const auto& one) { return to_seconds(one.time); },
        "motion_um", &simulated_displacement::um);
    out["spikes"] = share(std::move(made.truth.spikes));
    out["recording"] = std::move(made.traces);
    return out;
}

nb::dict to_python(simulated_features made) {
    nb::dict out = dense_arrays(made.features);
    out["samples"] = to_numpy(std::move(made.samples));
    out["sample_rate"] = made.rate_hz;
    out["truth"] = to_numpy(std::move(made.truth));
    return out;
}

template <class Options, class Made>
void bind_simulation(nb::module_& m, const std::string& name,
                     Made (*generate)(const Options&, const execution&)) {
    m.def(("simulate_" + name).c_str(),
          [generate](const nb::dict& arguments) {
              Options options;
              const call_options call = take_options(arguments, describe(options));
              return to_python(run_for_result(
                  call, [&](const execution& run) { return generate(options, run); }));
          },
          nb::arg("given"));
    m.def((name + "_options").c_str(), &description<Options>);
}

}  // namespace

void bind_simulate(nb::module_& m) {
    bind_simulation(m, "sym26", &simulate_sym26);
    bind_simulation(m, "culture", &simulate_culture);
    bind_simulation(m, "poisson", &simulate_poisson);
    bind_simulation(m, "patterns", &simulate_patterns);
    bind_simulation(m, "recording", &simulate_recording);
    bind_simulation(m, "features", &simulate_features);
}

}  // namespace spikeweave::python
