#include <fmt/format.h>

#include <utility>

#include "spikeweave/sort/quality.hpp"

namespace spikeweave {
namespace {

// A small unit of which fewer spikes are missing is one neuron: of mixtures of far ones the
// threshold cuts off most.
constexpr double most_missing_of_small = 0.16;

// Where not even one pair is expected of many neurons, a single one is not conclusive.
bool is_contamination_measured(const unit_quality& quality) {
    return quality.contamination && (quality.expected_pairs >= 1 || quality.refractory_pairs > 1);
}

// Whether at most half of the contamination that a unit may have is left of isolated spikes.
bool is_due_to_collisions(const unit_quality& quality, double limit) {
    return quality.expected_isolated_pairs &&
           contamination_of(quality.isolated_pairs, *quality.expected_isolated_pairs) < limit / 2;
}

}  // namespace

template <>
enum_table<unit_label> enum_names<unit_label>() {
    using enum unit_label;
    static constexpr named_value<unit_label> values[]{
        {good, "good"}, {mua, "mua"}, {noise, "noise"}};
    return {"label of units", values};
}

unit_verdict judge_unit(const unit_quality& quality, const label_limits& limits) {
    const auto is = [](unit_label label, std::string reason) {
        return unit_verdict{label, std::move(reason)};
    };
    if (quality.spikes < limits.least_spikes)
        return is(unit_label::noise, fmt::format("{} spikes, at least {} needed", quality.spikes,
                                                 limits.least_spikes));
    const auto beyond = [](const char* what, double value, double limit) {
        return fmt::format("{} {:.3g}, limit {:g}", what, value, limit);
    };
    if (quality.snr && *quality.snr < limits.noise_snr)
        return is(unit_label::noise, beyond("SNR", *quality.snr, limits.noise_snr));
    if (quality.mains_hz > 0)
        return is(unit_label::noise,
                  fmt::format("in step with the mains, {:g} Hz", quality.mains_hz));
    const bool is_measured = is_contamination_measured(quality);
    const bool is_contaminated = is_measured && *quality.contamination >= limits.contamination;
    if (is_contaminated && !is_due_to_collisions(quality, limits.contamination))
        return is(unit_label::mua,
                  beyond("contamination", *quality.contamination, limits.contamination));
    if (quality.same_neuron_as > 0)
        return is(unit_label::mua,
                  fmt::format("part of a neuron, with unit {}", quality.same_neuron_as));
    const bool is_cut_off = quality.amplitude_cutoff.value_or(1) > most_missing_of_small;
    if (quality.snr && *quality.snr < limits.least_snr && is_cut_off)
        return is(unit_label::mua, beyond("SNR", *quality.snr, limits.least_snr));
    if (quality.amplitude_cutoff && *quality.amplitude_cutoff > limits.amplitude_cutoff)
        return is(unit_label::mua,
                  beyond("amplitude cutoff", *quality.amplitude_cutoff, limits.amplitude_cutoff));
    if (quality.separation && *quality.separation > limits.separation)
        return is(unit_label::mua, beyond("separation", *quality.separation, limits.separation));
    if (quality.amplitude_cv && *quality.amplitude_cv > limits.amplitude_cv)
        return is(unit_label::mua,
                  beyond("amplitude variation", *quality.amplitude_cv, limits.amplitude_cv));
    if (is_contaminated)
        return is(unit_label::good, fmt::format("contamination {:.3g}, but only at collisions",
                                                *quality.contamination));
    return is(unit_label::good, is_measured ? "no limit broken"
                                            : "no limit broken; contamination cannot be measured");
}

}  // namespace spikeweave
