#include "spikeweave/assess/episode_findings.hpp"

#include "core/stop.hpp"

namespace spikeweave {

episode_findings judge_episodes(const spike_sequence& spikes, const episode_table& table,
                                const significance_options& significance,
                                const surrogate_options& surrogates, const execution& run) {
    episode_findings out{.assessed = assess_episodes(spikes, table, significance)};
    throw_if_stopped(run.stop);
    if (surrogates.surrogates > 0)
        out.surrogates = assess_by_surrogates(spikes, table, surrogates, significance.correct, run);
    out.found = find_circuit(
        spikes, table,
        out.surrogates.empty() ? out.assessed : by_surrogates(out.assessed, out.surrogates),
        {.alpha = significance.alpha}, run);
    throw_if_stopped(run.stop);
    return out;
}

}  // namespace spikeweave
