#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "spikeweave/assess/label_permutation.hpp"
#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/pipeline/change_kind.hpp"

/// The common parts of comparisons of two conditions, of episodes and of patterns.
/// docs/algorithms/compare.md has the formulas and the calibration.
namespace spikeweave {

/// The samples to which the labels of the conditions belong, and between which they are permuted.
enum class sample_kind : std::uint8_t { blocks, epochs, recordings };

template <>
SPIKEWEAVE_API enum_table<sample_kind> enum_names<sample_kind>();

/// The data of one condition.
struct condition_summary {
    std::size_t recordings = 0;
    std::size_t samples = 0;
    duration observed{};
    std::size_t spikes = 0;
};

/// The counts of a finding in both conditions, and the tests; arrays have a, then b.
struct condition_change {
    std::array<std::uint64_t, 2> counts{};        ///< none across two samples
    std::array<std::uint64_t, 2> first_spikes{};  ///< spikes of its first unit
    std::array<double, 2> expected{};  ///< occurrences that the rates of the units predict
    ratio_change rate{};               ///< occurrences per second
    double rate_q = 1;
    /// The probability that a spike of the first unit is followed beyond what the rates predict:
    /// occurrences beyond `expected`, divided as the comparison defines. NaN if the first unit does
    /// not fire, or so fast that hardly any follower could be distinguished from chance.
    ratio_change excess{};
    double excess_q = 1;
    change_kind change = change_kind::none;
};

}  // namespace spikeweave
