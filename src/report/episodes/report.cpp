#include <utility>

#include "spikeweave/report/episodes.hpp"

namespace spikeweave {

episode_report report_of(spike_sequence spikes, episode_result result, const execution& run) {
    episode_report report{.spikes = std::move(result.part ? *result.part : spikes),
                          .table = std::move(result.table),
                          .assessed = std::move(result.assessed),
                          .surrogates = std::move(result.surrogates),
                          .searched = std::move(result.searched),
                          .circuit = std::move(result.circuit),
                          .pairs = std::move(result.pairs),
                          .significance = result.options.significance,
                          .surrogate = result.options.surrogates,
                          .circuit_rules = {result.options.significance.alpha,
                                            result.options.significance.jitter_window}};
    execution used = run;
    used.threads = result.options.run.threads;
    record_run(report.run, describe(result.options), result.options.surrogates.seed, used,
               report.table.ran_on_devices);
    report.run.warnings = std::move(result.warnings);
    report.run.seconds = result.seconds;
    return report;
}

}  // namespace spikeweave
