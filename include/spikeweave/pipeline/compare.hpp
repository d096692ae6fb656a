#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/assess/label_permutation.hpp"
#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/pipeline/change_kind.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The common parts of comparisons of two conditions, of episodes and of patterns.
/// docs/algorithms/compare.md has the formulas and the calibration.
namespace spikeweave {

/// The samples to which the labels of the conditions belong, and between which they are permuted.
enum class sample_kind : std::uint8_t { blocks, epochs, recordings };

template <>
SPIKEWEAVE_API enum_table<sample_kind> enum_names<sample_kind>();

/// The recordings of two conditions, a and b.
struct compared_recordings {
    std::array<std::vector<spike_sequence>, 2> of{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
};

/// Two sets of epochs of one recording as conditions, in which each epoch is a sample.
/// @throws invalid_argument as `choose_time`, if a condition has no epochs, or if an epoch of `a`
/// and one of `b` overlap.
SPIKEWEAVE_API compared_recordings conditions_of(const spike_sequence& spikes,
                                                 std::span<const time_span> a,
                                                 std::span<const time_span> b);

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
template <>
struct members_of<condition_change> {
    static void list(const auto& to) {
        const auto in = [](auto member, std::size_t condition) {
            return [=](const condition_change& one) { return (one.*member)[condition]; };
        };
        const auto rate = [](auto member) {
            return [=](const condition_change& one) { return one.rate.*member; };
        };
        const auto excess = [](auto member) {
            return [=](const condition_change& one) { return one.excess.*member; };
        };
        to("count_a", in(&condition_change::counts, 0), "occurrences");
        to("count_b", in(&condition_change::counts, 1));
        to("expected_a", in(&condition_change::expected, 0), "occurrences that the rates predict");
        to("expected_b", in(&condition_change::expected, 1));
        to("first_spikes_a", in(&condition_change::first_spikes, 0),
           "spikes of the first unit; with `--patterns` the bins in which it fires");
        to("first_spikes_b", in(&condition_change::first_spikes, 1));
        to("rate_a_hz", rate(&ratio_change::a), "occurrences per second");
        to("rate_b_hz", rate(&ratio_change::b));
        to("rate_ratio", rate(&ratio_change::ratio), "b / a, with its interval");
        to("rate_p", rate(&ratio_change::p), "p and q of the change of the rate");
        to("rate_q", &condition_change::rate_q);
        to("excess_a", excess(&ratio_change::a),
           "the occurrences that the rates do not predict, divided by `removed_a` or `removed_b`, "
           "with `--patterns` by `first_spikes_a` or `first_spikes_b`");
        to("excess_b", excess(&ratio_change::b));
        to("excess_difference", excess(&ratio_change::difference), "b − a, with its interval");
        to("excess_p", excess(&ratio_change::p), "p and q of the change of the excess");
        to("excess_q", &condition_change::excess_q);
    }
};

}  // namespace spikeweave
