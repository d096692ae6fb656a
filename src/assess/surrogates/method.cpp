#include <algorithm>
#include <array>

#include "assess/surrogates/generators.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

namespace assess {
namespace {

using enum surrogate_method;
using mover_maker = time_mover (*)(const spike_trains&, time_span, const surrogate_options&,
                                   duration);

template <time_mover (*make)(time_span, const surrogate_options&)>
time_mover in_span(const spike_trains& /*trains*/, time_span span, const surrogate_options& options,
                   duration /*refractory_period*/) {
    return make(span, options);
}
time_mover by_dither(const spike_trains& /*trains*/, time_span span,
                     const surrogate_options& options, duration refractory_period) {
    return dither_mover(span, options, refractory_period);
}
time_mover by_joint_isi(const spike_trains& trains, time_span /*span*/,
                        const surrogate_options& options, duration /*refractory_period*/) {
    return joint_isi_mover(trains, options);
}

struct method_entry {
    surrogate_method method;
    random_purpose purpose;
    mover_maker make;  // null if bins are moved and not times
};
// Every method, with its random numbers and what moves the spikes.
constexpr std::array method_entries{
    method_entry{interval_jitter, random_purpose::interval_jitter, in_span<dead_time_mover>},
    method_entry{spike_dithering, random_purpose::spike_dithering, in_span<dead_time_mover>},
    method_entry{dither_spikes, random_purpose::dither_spikes, by_dither},
    method_entry{dither_spikes_with_refractory_period,
                 random_purpose::dither_spikes_with_refractory_period, by_dither},
    method_entry{dither_spike_train, random_purpose::dither_spike_train, by_dither},
    method_entry{jitter_spikes, random_purpose::jitter_spikes, in_span<redraw_mover>},
    method_entry{randomise_spikes, random_purpose::randomise_spikes, in_span<redraw_mover>},
    method_entry{shuffle_isis, random_purpose::shuffle_isis, in_span<redraw_mover>},
    method_entry{joint_isi_dithering, random_purpose::joint_isi_dithering, by_joint_isi},
    method_entry{isi_dithering, random_purpose::isi_dithering, by_joint_isi},
    method_entry{trial_shifting, random_purpose::trial_shifting, in_span<trial_mover>},
    method_entry{bin_shuffling, random_purpose::bin_shuffling, nullptr}};

const method_entry& entry_of(surrogate_method method) {
    const auto found = std::ranges::find(method_entries, method, &method_entry::method);
    if (found == method_entries.end()) throw invalid_argument("there is no such surrogate method");
    return *found;
}

}  // namespace

random_purpose purpose_of(surrogate_method method) {
    return entry_of(method).purpose;
}

time_mover make_time_mover(const spike_trains& trains, time_span span,
                           const surrogate_options& options, duration refractory_period) {
    return entry_of(options.method).make(trains, span, options, refractory_period);
}

}  // namespace assess

template <>
enum_table<surrogate_method> enum_names<surrogate_method>() {
    using enum surrogate_method;
    static constexpr named_value<surrogate_method> values[]{
        {interval_jitter, "interval-jitter"},
        {spike_dithering, "spike-dithering"},
        {dither_spikes, "dither-spikes"},
        {dither_spikes_with_refractory_period, "dither-spikes-with-refractory-period"},
        {dither_spike_train, "dither-spike-train"},
        {jitter_spikes, "jitter-spikes"},
        {randomise_spikes, "randomise-spikes"},
        {shuffle_isis, "shuffle-isis"},
        {joint_isi_dithering, "joint-isi-dithering"},
        {isi_dithering, "isi-dithering"},
        {trial_shifting, "trial-shifting"},
        {bin_shuffling, "bin-shuffling"}};
    return {"surrogate method", values};
}

}  // namespace spikeweave
