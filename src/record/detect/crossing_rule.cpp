#include "record/detect/trace_steps.hpp"

#include "record/detect/waveforms.hpp"

namespace spikeweave::record {

crossing_rule crossings_by(const filtered_recording& traces, const detection_options& options) {
    crossing_rule rule{.above = static_cast<float>(options.weak_threshold),
                       .both = options.sign == spike_sign::both};
    const float towards = options.sign == spike_sign::negative ? -1.0F : 1.0F;
    rule.by_noise.reserve(traces.noise().size());
    for (const double sd : traces.noise())
        rule.by_noise.push_back(sd > 0 ? towards / static_cast<float>(sd) : 0.0F);
    return rule;
}

feature_basis feature_space_of(const filtered_recording& traces, const detection_options& options) {
    const waveform_window window = window_of(options, traces.source().rate_hz());
    const recording& from = traces.source();
    feature_basis space{.rate_hz = from.rate_hz(),
                        .low_hz = options.preprocessing.low_corner,
                        .high_hz = options.preprocessing.high_corner,
                        .order = options.preprocessing.filter_order,
                        .reference = traces.reference(),
                        .whiten = options.preprocessing.whiten,
                        .frames_before = static_cast<std::uint32_t>(window.before),
                        .frames_after = static_cast<std::uint32_t>(window.after),
                        .features_per_channel = options.features_per_channel};
    for (const recording_channel& channel : from.channels())
        space.contacts.push_back({channel.x_um, channel.y_um, channel.shank});
    return space;
}

}  // namespace spikeweave::record
