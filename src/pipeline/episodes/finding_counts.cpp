#include "pipeline/episodes/finding_counts.hpp"

#include <algorithm>

#include "spikeweave/assess/episodes/jitter.hpp"

namespace spikeweave::pipeline {

std::vector<episode> direct_edges_and_chains(const episode_result& result) {
    std::vector<episode> found;
    for (const circuit_edge& edge : result.circuit.edges)
        if (edge.is_step()) found.push_back({{edge.from, edge.to}, {edge.best}});
    for (const std::size_t chain : result.circuit.chains)
        found.push_back(result.table.episodes[chain].what);
    return found;
}

sample_counts count_sample(const spike_sequence& spikes, std::span<const episode> findings,
                           tie_rule ties, duration jitter_window, const std::stop_token& stop) {
    const execution alone{.threads = 1, .stop = stop};
    sample_counts out{to_seconds(spikes.observed_time())};
    out.counts = count_episodes(spikes, findings, {.ties = ties}, alone).counts;
    std::vector<std::uint64_t> of_unit(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++of_unit[to_index(unit)];
    for (const episode& one : findings)
        out.first_spikes.push_back(of_unit[to_index(one.units.front())]);
    out.expected = expected_by_jitter(spikes, findings, jitter_window, ties, alone);
    out.removed = removed_by_jitter(spikes, findings, jitter_window, ties, alone);
    return out;
}

std::size_t most_expected(std::span<const sample_counts> samples, std::size_t finding,
                          std::size_t units) {
    std::vector<double> sums(units);
    for (const sample_counts& one : samples)
        for (std::size_t turned = 0; turned < units; ++turned)
            sums[turned] += one.expected[finding][turned];
    return static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
}

}  // namespace spikeweave::pipeline
