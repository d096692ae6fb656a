#include "sort/masked_gmm/patterns.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace spikeweave::masked_gmm {

mask_patterns find_patterns(const spike_features& features) {
    mask_patterns found;
    found.of_spike.reserve(features.size());
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (std::uint32_t n = 0; n < features.size(); ++n) {
        const auto columns = features.unmasked(n);
        const std::string_view key{reinterpret_cast<const char*>(columns.data()),
                                   columns.size_bytes()};
        const auto [at, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(found.size()));
        if (is_new) {
            found.first_spike.push_back(n);
            found.spikes.push_back(0);
        }
        ++found.spikes[at->second];
        found.of_spike.push_back(at->second);
    }
    return found;
}

std::vector<std::uint32_t> by_frequency(const mask_patterns& patterns) {
    std::vector<std::uint32_t> order(patterns.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return patterns.spikes[a] > patterns.spikes[b];
    });
    return order;
}

bit_row bits_of(const spike_features& features, std::uint32_t spike) {
    constexpr std::size_t word_bits = 64;
    bit_row bits((features.feature_count() + word_bits - 1) / word_bits);
    for (const std::uint32_t i : features.unmasked(spike))
        bits[i / word_bits] |= std::uint64_t{1} << (i % word_bits);
    return bits;
}

}  // namespace spikeweave::masked_gmm
