#include <array>

#include "spikeweave/assess/surrogates.hpp"

namespace spikeweave {

template <>
enum_table<surrogate_method> enum_names<surrogate_method>() {
    static constexpr std::array<named_value<surrogate_method>, 12> values{{
        {surrogate_method::interval_jitter, "interval-jitter"},
        {surrogate_method::spike_dithering, "spike-dithering"},
        {surrogate_method::dither_spikes, "dither_spikes"},
        {surrogate_method::dither_spikes_with_refractory_period,
         "dither_spikes_with_refractory_period"},
        {surrogate_method::dither_spike_train, "dither_spike_train"},
        {surrogate_method::jitter_spikes, "jitter_spikes"},
        {surrogate_method::randomise_spikes, "randomise_spikes"},
        {surrogate_method::shuffle_isis, "shuffle_isis"},
        {surrogate_method::joint_isi_dithering, "joint_isi_dithering"},
        {surrogate_method::isi_dithering, "isi_dithering"},
        {surrogate_method::trial_shifting, "trial_shifting"},
        {surrogate_method::bin_shuffling, "bin_shuffling"},
    }};
    return {"surrogate method", values};
}

}  // namespace spikeweave
