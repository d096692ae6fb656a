#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sort/masked_gmm/member_lists.hpp"

namespace spikeweave::masked_gmm {

/// Members [begin, end) of a cluster.
struct piece {
    std::uint32_t cluster;
    std::uint32_t begin;
    std::uint32_t end;
};

/// Divides the members of a cluster into pieces of this size. Sums are defined by pieces, because
/// the order in which numbers are added changes them.
inline std::vector<piece> pieces_of(const member_lists& members, std::size_t cluster,
                                    std::size_t size) {
    std::vector<piece> all;
    const std::size_t end = members.begin[cluster + 1];
    for (std::size_t at = members.begin[cluster]; at < end; at += size)
        all.push_back({static_cast<std::uint32_t>(cluster), static_cast<std::uint32_t>(at),
                       static_cast<std::uint32_t>(std::min(at + size, end))});
    return all;
}

}  // namespace spikeweave::masked_gmm
