#pragma once

#include <cstdint>

#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave {

/// The null hypothesis that counts are tested against; docs/algorithms/significance.md describes
/// their uses.
enum class significance_test : std::uint8_t {
    jitter,  ///< spikes of one unit are rotated within cells of `jitter_window`, the others stay:
             ///< valid for shared rate changes that are slower, for dead times and for bursts
    exact,   ///< stationary independent units; p is the exact tail of the renewal model
    chebyshev,  ///< stationary independent units; p is the published bound
};

template <>
SPIKEWEAVE_API enum_table<significance_test> enum_names<significance_test>();

/// Options of the tests of episodes.
struct significance_options {
    significance_test test = significance_test::jitter;
    correction_method correction = correction_method::holm;  ///< must not be a two-stage correction
    double alpha = 0.01;
    /// Width of the cells of the test `jitter`, at least 1 ms. The test detects timing finer than a
    /// cell and assumes that everything slower is not due to connections. For an episode with a
    /// delay interval wider than a third of this, cells are three times as wide as that interval.
    duration jitter_window = std::chrono::milliseconds{10};
    /// The time step of the renewal model; the papers' clock.
    duration tick = std::chrono::milliseconds{1};
};

SPIKEWEAVE_API option_list describe(significance_options& options);

/// Describes those options of surrogates that the test of episodes uses.
SPIKEWEAVE_API option_list describe_episode_surrogates(surrogate_options& options);

}  // namespace spikeweave
