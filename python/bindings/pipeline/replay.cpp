#include "spikeweave/pipeline/replay.hpp"

#include "bindings/core/episodes.hpp"
#include "bindings/core/held_report.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "spikeweave/report/replay.hpp"

namespace spikeweave::python {
namespace {

nb::dict look_for(const shared_spikes& spikes, const episodes_in& chains, const nb::dict& given) {
    const std::vector<episode> wanted = episodes_of(chains);
    const auto held = std::make_shared<const replay_result>(
        call_with<replay_analysis_options>(given, [&](const auto&... arguments) {
            return find_replay(*spikes.sequence, wanted, arguments...);
        }));
    const replay_result& found = *held;
    nb::dict out;
    out["report"] = report_on(spikes, held, wanted);
    out["tests"] = table_of(found.scores.tests);
    out["events"] = table_of(found.scores.events);
    out["event_times"] = column(found.events);
    if (found.chosen) out["spikes"] = share(*found.chosen, spikes.has_recorded_span);
    add_run(out, spikes, found, found.options);
    return out;
}

}  // namespace

void bind_replay(nb::module_& m) {
    m.def("find_replay", &look_for, "spikes"_a, "chains"_a, "given"_a);
    m.def("replay_options", &description<replay_analysis_options>);
    m.def("replay_arguments", &recorded_arguments<replay_analysis_options>);
}

}  // namespace spikeweave::python
