#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Where the open stamps of state machines stand in device memory. A list of stamps is a ring as
/// large as it can ever get to be, so that none overflows; neighbouring machines' rings are
/// interleaved, so that threads which push together write together.
namespace spikeweave::episodes {

struct ring {
    std::uint64_t begin;     ///< of lane 0; slot s of lane l is at begin + s * lanes + l
    std::uint32_t capacity;  ///< slots, at least 1
};

/// Candidates whose rings fit into the work space together.
struct ring_chunk {
    std::size_t first_candidate;
    std::size_t candidates;
    std::uint32_t lanes;  ///< machines that share a ring's place; a power of two, at most 32
    /// Of the candidates first_candidate + g * lanes …, node k: rings[g * nodes + k].
    std::vector<ring> rings{};
    std::uint64_t slots = 0;
};

/// @param capacities  of candidate c, node k: [c * nodes + k]; rings are as large as the largest of
///                    those that share their place
/// @param most_slots  of a chunk; one candidate alone may take more
std::vector<ring_chunk> plan_rings(std::span<const std::uint32_t> capacities, std::size_t nodes,
                                   std::uint64_t most_slots);

}  // namespace spikeweave::episodes
