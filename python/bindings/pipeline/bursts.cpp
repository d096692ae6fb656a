#include "spikeweave/pipeline/bursts.hpp"

#include "bindings/core/held_report.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "bindings/core/values.hpp"
#include "spikeweave/report/bursts.hpp"

namespace spikeweave::python {
namespace {

// In seconds, NaN if it is unknown.
template <class Struct>
auto seconds_of(std::optional<duration> Struct::*member) {
    return [member](const Struct& one) {
        return one.*member ? std::optional(to_seconds(*(one.*member))) : std::nullopt;
    };
}

// The index of a network burst, -1 for none.
std::int64_t network_of(const unit_burst& one) {
    return one.network ? static_cast<std::int64_t>(*one.network) : -1;
}

nb::dict look_for_bursts(const shared_spikes& spikes, const nb::dict& given) {
    const auto held = std::make_shared<const burst_result>(call_with<burst_analysis_options>(
        given,
        [&](const auto&... arguments) { return find_bursts(*spikes.sequence, arguments...); }));
    const mined_bursts& found = held->found;
    nb::dict out;
    out["report"] = report_on(spikes, held);
    out["units"] = table_of(
        found.units, "spikes", &unit_bursting::spikes, "rate", &unit_bursting::rate_hz, "bursts",
        &unit_bursting::bursts, "bursts_per_minute", &unit_bursting::bursts_per_minute,
        "share_in_bursts", &unit_bursting::share_in_bursts, "mean_duration",
        &unit_bursting::mean_duration_s, "mean_rate", &unit_bursting::mean_rate_hz, "mean_interval",
        &unit_bursting::mean_interval_s, "interval_variation", &unit_bursting::interval_variation,
        "spike_variation", &unit_bursting::spike_variation, "longest_interval",
        seconds_of(&unit_bursting::longest_interval));
    out["network"] = table_of(
        found.network, "begin", &network_burst::begin, "end", &network_burst::end, "participating",
        &network_burst::participating, "spikes", &network_burst::spikes, "peak_rate",
        &network_burst::peak_rate_hz, "interval", seconds_of(&network_burst::interval));
    out["bursts"] =
        table_of(found.bursts, "unit", &unit_burst::unit, "begin", &unit_burst::begin, "end",
                 &unit_burst::end, "spikes", &unit_burst::spikes, "rate", &unit_burst::rate_hz,
                 "interval", seconds_of(&unit_burst::interval), "network", network_of);
    out["units_of_network"] = found.units_of_network;
    if (held->chosen) out["spikes"] = share(*held->chosen, spikes.has_recorded_span);
    add_run(out, spikes, *held, held->options);
    return out;
}

}  // namespace

void bind_bursts(nb::module_& m) {
    m.def("find_bursts", &look_for_bursts, "spikes"_a, "given"_a);
    m.def("bursts_options", &description<burst_analysis_options>);
    m.def("bursts_arguments", &recorded_arguments<burst_analysis_options>);
}

}  // namespace spikeweave::python
