#include <utility>

#include "spikeweave/report/spade.hpp"

namespace spikeweave {

pattern_report report_of(spike_sequence spikes, spade_result result, const execution& run) {
    spade_options& options = result.options;
    const surrogate_options& surrogates = options.surrogates;
    pattern_report report{.axes = std::move(result.axes),
                          .table = std::move(result.table),
                          .spectrum = options.spectrum,
                          .signatures = std::move(result.signatures),
                          .assessment = std::move(result.assessment),
                          .testing = options.testing(),
                          .surrogate = surrogates,
                          .stabilities = std::move(result.stabilities),
                          .funnel = std::move(result.funnel),
                          .replication = std::move(result.replication),
                          .mining = std::move(result.mining),
                          .ran_on = result.ran_on,
                          .input = result.counts,
                          .spikes = std::move(spikes)};
    report.patterns = report.table.size();
    execution used = run;
    used.threads = options.run.threads;
    record_run(report.run, describe(options), surrogates.seed, used,
               options.run.devices.value_or(std::vector<int>{}));
    if (options.is_tested())
        report.run.parameters.emplace_back("trials", std::uint64_t{surrogates.trials.size()});
    if (!result.time_origin_note.empty())
        report.run.parameters.emplace_back("time_origin_note", result.time_origin_note);
    report.run.warnings = std::move(result.warnings);
    report.run.seconds = result.seconds;
    return report;
}

pattern_report report_of(spike_sequence spikes, spade_stream_result result, const execution& run) {
    pattern_report report = report_of(std::move(spikes), std::move(result.found), run);
    report.patterns = result.patterns;
    report.numbers = std::move(result.numbers);
    return report;
}

}  // namespace spikeweave
