#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "spikeweave/core/ids.hpp"

namespace spikeweave::episodes {

/// Episodes of one size as flat arrays: candidate i is units[i*size …] joined by
/// delays[i*(size-1) …], which are indices into the interval list.
struct candidate_set {
    std::size_t size = 1;
    std::vector<unit_id> units{};
    std::vector<std::uint32_t> delays{};

    std::size_t count() const { return units.size() / size; }
    std::span<const unit_id> units_of(std::size_t i) const {
        return std::span{units}.subspan(i * size, size);
    }
    std::span<const std::uint32_t> delays_of(std::size_t i) const {
        return std::span{delays}.subspan(i * (size - 1), size - 1);
    }
    void append(std::span<const unit_id> chain, std::span<const std::uint32_t> steps) {
        units.insert(units.end(), chain.begin(), chain.end());
        delays.insert(delays.end(), steps.begin(), steps.end());
    }
    std::uint64_t bytes() const {
        return units.capacity() * sizeof(unit_id) + delays.capacity() * sizeof(std::uint32_t);
    }
};

/// Candidates [begin, end).
candidate_set part_of(const candidate_set& all, std::size_t begin, std::size_t end);

/// Orders chains along their steps: first unit, first delay, second unit, … Chains with a common
/// beginning are next to each other.
bool chain_less(const candidate_set& a, std::size_t i, const candidate_set& b, std::size_t j);

/// The episodes of `frequent` (sorted by `chain_less`, size >= 2) that continue episode i: their
/// first size-1 units and size-2 delays are the last ones of i. Returns a half-open range of
/// indices.
std::pair<std::size_t, std::size_t> continuations(const candidate_set& frequent, std::size_t i);

/// Appends to `out` (of size + 1) episode i continued by the last step of episode j.
void append_join(candidate_set& out, const candidate_set& frequent, std::size_t i, std::size_t j);

}  // namespace spikeweave::episodes
