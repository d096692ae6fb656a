#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/masked_gmm/steps.hpp"

namespace spikeweave::masked_gmm {

using member_list = std::span<const std::uint32_t>;

/// The spikes of each cluster in ascending order, cluster by cluster.
struct member_lists {
    std::vector<std::size_t> begin{0};
    std::vector<std::uint32_t> spikes{};

    member_lists() = default;
    explicit member_lists(const partition& now);

    std::size_t size() const { return begin.size() - 1; }
    member_list of(std::size_t cluster) const {
        return std::span{spikes}.subspan(begin[cluster], begin[cluster + 1] - begin[cluster]);
    }
    void add(member_list cluster);
};

/// Spikes divided by their side.
struct halves {
    std::vector<std::uint32_t> first{};
    std::vector<std::uint32_t> second{};

    halves(member_list whole, std::span<const std::uint8_t> sides);
    bool is_whole() const { return first.empty() || second.empty(); }
};

double sum(std::span<const double> values);

}  // namespace spikeweave::masked_gmm
