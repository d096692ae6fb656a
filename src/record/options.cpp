#include "spikeweave/core/options.hpp"

#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/preprocess.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave {
namespace {

constexpr auto detecting = "Detection of spikes (recordings only)";

}  // namespace

option_list describe(recording_read_options& options) {
    option_list list;
    list.begin_group("Input");
    list.add("sample_rate", options.sample_rate, "samples per second of each channel")
        .basic()
        .unset_is("as stated in the file")
        .written("HZ");
    list.begin_group("Input (recordings only)");
    list.add("channels", options.channels, "number of channels in a file of raw samples")
        .basic()
        .unset_is("as stated in the file");
    list.add("gain", options.gain, "microvolts per ADC count in a file of raw samples")
        .basic()
        .unset_is("1")
        .written("UV");
    list.add("header_bytes", options.header_bytes,
             "bytes before the first sample in a file of raw samples");
    list.add("probe", options.probe, "positions of the channels: a probeinterface file (JSON)")
        .basic()
        .by_default("as stated in the file")
        .written("FILE");
    list.add("stream", options.stream, "name of the stream to read if the recording has several")
        .written("NAME");
    return list;
}

option_list describe(preprocessing_options& options) {
    constexpr double highest_order = 8;
    option_list list;
    list.begin_group(detecting);
    list.add("low_corner", options.low_corner, "lower corner frequency of the band-pass filter")
        .above(0)
        .written("HZ");
    list.add("high_corner", options.high_corner,
             "upper corner frequency of the band-pass filter; at most 0.95 of half the sample rate "
             "is used")
        .above(0)
        .written("HZ");
    list.add("filter_order", options.filter_order,
             "order of the band-pass filter, which is applied forward and then backward")
        .at_least(1)
        .at_most(highest_order);
    list.add(
        "reference", options.reference,
        "common reference that is subtracted from all channels at each sample: none, or the median "
        "of all channels that are not dead; auto is the median if there are 64 channels or more");
    list.add("whiten", options.whiten,
             "decorrelate the noise of the channels: each trace becomes a mixture of neighbouring "
             "ones, in standard deviations of the noise");
    return list;
}

option_list describe(motion_options& options) {
    option_list list;
    list.begin_group("Drift (recordings only)");
    list.add(
        "drift", options.model,
        "how motion of the tissue along the probe is estimated, and undone before spikes are "
        "detected (rigid: the same motion at all depths; blocks: each range of depths separately; "
        "automatic: chosen by the probe, and none if nothing moves; none: no correction)");
    list.add("drift_bin", options.time_bin,
             "resolution in time: the displacement is assumed to be constant for this long")
        .above(0);
    return list;
}

option_list describe(detection_options& options) {
    option_list list = describe(options.preprocessing);
    list.begin_group(detecting);
    list.add("weak_threshold", options.weak_threshold,
             "a spike extends over all connected samples that are beyond this many standard "
             "deviations of the noise")
        .above(0);
    list.add("strong_threshold", options.strong_threshold,
             "a spike has at least one sample that is beyond this many standard deviations of the "
             "noise")
        .above(0);
    list.add("sign", options.sign, "polarity of spikes");
    list.add("before", options.before,
             "beginning of the waveform from which the features of a spike are computed, as time "
             "before the peak")
        .at_least(0);
    list.add("after", options.after, "end of this waveform, as time after the peak").at_least(0);
    list.add("neighbours", options.neighbours,
             "channels of a shank that are at most this far apart are neighbours")
        .in_micrometres()
        .unset_is("1.5 times the typical distance to the nearest channel");
    list.begin_group("Input");
    list.add("features_per_channel", options.features_per_channel,
             "number of principal components per channel")
        .at_least(1);
    return list;
}

}  // namespace spikeweave
