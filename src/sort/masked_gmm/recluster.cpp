#include "spikeweave/sort/recluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/stop.hpp"
#include "sort/masked_gmm/sparse_data.hpp"
#include "sort/masked_gmm/split_start.hpp"
#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

std::vector<std::uint32_t> spikes_of(const std::vector<std::uint32_t>& labels,
                                     std::span<const std::uint32_t> only) {
    if (only.empty()) throw invalid_argument("there are no clusters to find units in");
    std::set<std::uint32_t> unseen(only.begin(), only.end());
    const std::set<std::uint32_t> wanted = unseen;
    std::vector<std::uint32_t> spikes;
    for (std::uint32_t n = 0; n < labels.size(); ++n) {
        if (!wanted.contains(labels[n])) continue;
        spikes.push_back(n);
        unseen.erase(labels[n]);
    }
    if (!unseen.empty())
        throw invalid_argument(fmt::format(
            "no spike belongs to cluster {}, in which units should be found", *unseen.begin()));
    return spikes;
}

// Returns the number of the first new unit. Numbers must suffice even if every spike becomes a
// unit.
std::uint32_t number_after(const std::vector<std::uint32_t>& labels, std::size_t spikes) {
    const std::uint32_t largest = *std::max_element(labels.begin(), labels.end());
    if (largest >= std::numeric_limits<std::uint32_t>::max() - spikes)
        throw invalid_argument(fmt::format("cluster {} leaves no numbers for new units", largest));
    return largest + 1;
}

}  // namespace

recluster_result recluster(const spike_features& features, std::vector<std::uint32_t> labels,
                           std::span<const std::uint32_t> only, const masked_gmm_options& options,
                           const execution& run) {
    masked_gmm::check(features, options);
    const sort_strategy strategy = masked_gmm::resolve(options, run);
    core::throw_if_stopped(run.stop);
    if (!options.start.empty())
        throw invalid_argument("spikes that are clustered anew start by their masks");
    if (labels.size() != features.size())
        throw invalid_argument(fmt::format("there are clusters of {} spikes, and {} spikes",
                                           labels.size(), features.size()));
    recluster_result out{.spikes = spikes_of(labels, only)};
    out.first_new = number_after(labels, out.spikes.size());

    const spike_features chosen = select_spikes(features, out.spikes);
    const masked_gmm::feature_space space = masked_gmm::measure_space(features, run);
    const auto steps = strategy == sort_strategy::reference
                           ? masked_gmm::make_reference(features, options, out.spikes)
                           : masked_gmm::make(strategy, chosen, space, options, run);
    const masked_gmm::split_starts halves(chosen, space);
    out.search = masked_gmm::search(
        *steps, masked_gmm::start_by_masks(chosen, options.starting_clusters, run), options, run,
        &halves);
    out.search.ran_on = strategy;
    for (std::size_t a = 0; a < out.spikes.size(); ++a) {
        const std::uint32_t unit = out.search.labels[a];
        labels[out.spikes[a]] = unit == 0 ? 0 : out.first_new + unit - 1;
    }
    out.labels = std::move(labels);
    return out;
}

}  // namespace spikeweave
