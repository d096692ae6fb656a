#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "parallel/parallel_for.hpp"
#include "sort/masked_gmm/sparse_data.hpp"
#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::masked_gmm {
namespace {

int differing(const bit_row& a, const bit_row& b) {
    int count = 0;
    for (std::size_t w = 0; w < a.size(); ++w) count += std::popcount(a[w] ^ b[w]);
    return count;
}

// Returns the nearest one, the first if several are as near.
std::uint32_t nearest(const std::vector<bit_row>& founded, const bit_row& bits) {
    const auto at = std::min_element(founded.begin(), founded.end(),
                                     [&](const bit_row& one, const bit_row& other) {
                                         return differing(one, bits) < differing(other, bits);
                                     });
    return static_cast<std::uint32_t>(at - founded.begin());
}

std::size_t following(std::size_t spikes) {
    constexpr std::size_t spikes_each = 200;
    constexpr std::size_t least = 50;
    constexpr std::size_t most = 500;
    return std::clamp(spikes / spikes_each, least, most);
}

}  // namespace

// The most frequent patterns each start a cluster. The others join the one that differs in the
// fewest features, the first if several do. Nothing is random, so a start needs no seed.
partition start_by_masks(const spike_features& features, std::uint32_t most_clusters,
                         const execution& run) {
    const mask_patterns patterns = find_patterns(features);
    const std::vector<std::uint32_t> order = by_frequency(patterns);
    const std::size_t founders = std::min<std::size_t>(
        order.size(), most_clusters > 0 ? most_clusters : following(features.size()));
    std::vector<std::uint32_t> cluster(patterns.size());
    std::vector<bit_row> founded;
    founded.reserve(founders);
    for (std::size_t a = 0; a < founders; ++a) {
        cluster[order[a]] = static_cast<std::uint32_t>(a) + 1;
        founded.push_back(bits_of(features, patterns.first_spike[order[a]]));
    }
    constexpr std::size_t at_once = 256;
    const std::size_t pieces = (order.size() - founders + at_once - 1) / at_once;
    parallel::parallel_for(pieces, run, "starting clusters", [&](std::size_t piece) {
        const std::size_t begin = founders + piece * at_once;
        for (std::size_t a = begin; a < std::min(begin + at_once, order.size()); ++a)
            cluster[order[a]] =
                nearest(founded, bits_of(features, patterns.first_spike[order[a]])) + 1;
    });
    partition start{.clusters = static_cast<std::uint32_t>(founders) + 1};
    start.labels.reserve(features.size());
    for (const std::uint32_t pattern : patterns.of_spike) start.labels.push_back(cluster[pattern]);
    return start;
}

partition start_from(std::vector<std::uint32_t> labels, std::size_t spikes) {
    if (labels.size() != spikes)
        throw invalid_argument(
            fmt::format("there are clusters of {} spikes to begin with, and {} "
                        "spikes",
                        labels.size(), spikes));
    std::map<std::uint32_t, std::uint32_t> renumbered{{0, 0}};
    for (const std::uint32_t label : labels) renumbered.try_emplace(label, 0);
    std::uint32_t next = 0;
    for (auto& [label, number] : renumbered) number = next++;
    for (std::uint32_t& label : labels) label = renumbered.at(label);
    return {std::move(labels), next};
}

}  // namespace spikeweave::masked_gmm
