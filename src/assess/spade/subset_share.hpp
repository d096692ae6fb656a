#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "spikeweave/core/random.hpp"

namespace spikeweave::assess {

/// Subsets of a small set, as rows of bits.
class subset_family {
public:
    explicit subset_family(std::size_t elements)
        : elements_(elements), words_(elements / 64 + (elements % 64 == 0 ? 0 : 1)) {}

    std::size_t elements() const { return elements_; }
    std::size_t words() const { return words_; }
    std::size_t size() const { return size_; }
    std::span<const std::uint64_t> row(std::size_t subset) const {
        return std::span{bits_}.subspan(subset * words_, words_);
    }

    void add_empty() {
        ++size_;
        bits_.resize(size_ * words_);
    }
    /// Adds an element to the last subset.
    void put(std::size_t element) { put(size_ - 1, element); }
    void put(std::size_t subset, std::size_t element) {
        bits_[subset * words_ + element / 64] |= std::uint64_t{1} << element % 64;
    }
    /// Drops subsets that lie in another one, as far as that is cheap, and puts large ones first.
    void reduce();

private:
    std::size_t elements_;
    std::size_t words_;
    std::size_t size_ = 0;
    std::vector<std::uint64_t> bits_;
};

/// The share of subsets that lie in none of the given ones. If there are at most `samples` subsets,
/// all are examined, otherwise `samples` random ones. Random subsets of fewer than 64 elements are
/// all different, so `samples` of them are held in memory.
/// @throws cancelled
double share_outside(subset_family hit, std::uint64_t samples, random_stream random,
                     const std::stop_token& stop = {});

}  // namespace spikeweave::assess
