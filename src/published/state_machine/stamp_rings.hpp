#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The layout of the open stamps of state machines in device memory. Each list of stamps is a ring
/// of the largest size that it can need, so that none overflows. The rings of neighbouring machines
/// are interleaved, so that threads that push at the same time write adjacent memory.
namespace spikeweave::episodes {

struct ring {
    std::uint64_t begin;     ///< begin of lane 0; slot s of lane l is at begin + s * lanes + l
    std::uint32_t capacity;  ///< slots, at least 1
};

/// A chunk of candidates whose rings fit into the work space together.
struct ring_chunk {
    std::size_t first_candidate;
    std::size_t candidates;
    std::uint32_t lanes;  ///< machines whose rings are interleaved; a power of two, at most 32
    /// The ring of node k of the candidates first_candidate + g * lanes … is rings[g * nodes + k].
    std::vector<ring> rings{};
    std::uint64_t slots = 0;
};

/// @param capacities  of candidate c, node k: [c * nodes + k]; rings are as large as the largest of
///                    those that are interleaved with them
/// @param most_slots  most slots of a chunk; a single candidate may take more
std::vector<ring_chunk> plan_rings(std::span<const std::uint32_t> capacities, std::size_t nodes,
                                   std::uint64_t most_slots);

}  // namespace spikeweave::episodes
