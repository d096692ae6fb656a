#include "spikeweave/pipeline/assemblies.hpp"

#include "bindings/core/held_report.hpp"
#include "bindings/core/options.hpp"
#include "bindings/core/spikes.hpp"
#include "bindings/core/values.hpp"
#include "spikeweave/report/assemblies.hpp"

namespace spikeweave::python {
namespace {

template <class Member>
auto of_activations(Member member) {
    return [member](const assembly& one) {
        std::vector<std::remove_cvref_t<std::invoke_result_t<Member, const assembly_activation&>>>
            out;
        for (const assembly_activation& active : one.activations)
            out.push_back(std::invoke(member, active));
        return out;
    };
}

nb::dict look_for_assemblies(const shared_spikes& spikes, const nb::dict& given) {
    const auto held = std::make_shared<const assembly_result>(call_with<assembly_analysis_options>(
        given,
        [&](const auto&... arguments) { return find_assemblies(*spikes.sequence, arguments...); }));
    const assembly_result& result = *held;
    nb::dict out;
    out["report"] = report_on(spikes, held);
    out["assemblies"] =
        dicts_of(result.found.assemblies, "units", &assembly::units, "lags", &assembly::lags, "bin",
                 &assembly::bin, "p", &assembly::p, "p_corrected", &assembly::p_corrected, "counts",
                 &assembly::counts, "times", of_activations(&assembly_activation::begin),
                 "time_counts", of_activations(&assembly_activation::count));
    out["steps"] = table_of(result.found.steps, "bin", &assembly_step::bin, "size",
                            &assembly_step::size, "tests", &assembly_step::tests, "significant",
                            &assembly_step::significant, "kept", &assembly_step::kept);
    if (result.chosen) out["spikes"] = share(*result.chosen, spikes.has_recorded_span);
    add_run(out, spikes, result, result.options);
    return out;
}

}  // namespace

void bind_assemblies(nb::module_& m) {
    m.def("find_assemblies", &look_for_assemblies, "spikes"_a, "given"_a);
    m.def("assemblies_options", &description<assembly_analysis_options>);
    m.def("assemblies_arguments", &recorded_arguments<assembly_analysis_options>);
}

}  // namespace spikeweave::python
