#pragma once

#include "keyword_arguments.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::python {

/// A recording that Python holds.
struct held_recording {
    recording what;
};

/// Channels as a list of dictionaries, and back.
nb::list channel_dicts(const std::vector<recording_channel>& channels);
std::vector<recording_channel> channels_of(const nb::list& channels);

/// The options of the detector, under the names that they have on the command line.
template <class Each>
void each_field(detection_options& options, Each each) {
    each("low_corner", options.preprocessing.low_hz);
    each("high_corner", options.preprocessing.high_hz);
    each("filter_order", options.preprocessing.order);
    each("reference", options.preprocessing.reference, value_named<common_reference>);
    each("whiten", options.preprocessing.whiten);
    each("weak", options.weak);
    each("strong", options.strong);
    each("sign", options.sign, value_named<spike_sign>);
    each("before", options.before);
    each("after", options.after);
    each.above_zero("neighbours", options.neighbour_um);
    each("features_per_channel", options.features_per_channel);
}

}  // namespace spikeweave::python
