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
        .unset_is("what the file says")
        .written("HZ");
    list.begin_group("Input (recordings only)");
    list.add("channels", options.channels, "number of channels, of raw samples")
        .unset_is("what the file says");
    list.add("gain", options.gain, "microvolts per ADC count, of raw samples")
        .unset_is("1")
        .written("UV");
    list.add("header_bytes", options.header_bytes, "bytes before the first sample, of raw samples");
    list.add("probe", options.probe, "positions of the channels: a probeinterface file (JSON)")
        .by_default("what the file says")
        .written("FILE");
    list.add("stream", options.stream, "which of the streams to read if there are several")
        .written("NAME");
    return list;
}

option_list describe(preprocessing_options& options) {
    constexpr double highest_order = 8;
    option_list list;
    list.begin_group(detecting);
    list.add("low_corner", options.low_corner, "lower corner of the pass band")
        .above(0)
        .written("HZ");
    list.add("high_corner", options.high_corner,
             "upper corner of the pass band, limited to 0.95 of half the sample rate")
        .above(0)
        .written("HZ");
    list.add("filter_order", options.filter_order,
             "order of the band pass, which is applied forward and then backward")
        .at_least(1)
        .at_most(highest_order);
    list.add(
        "reference", options.reference,
        "common reference subtracted from all channels at each sample; the median excludes dead "
        "channels, and auto is the median for 64 channels or more");
    list.add("whiten", options.whiten,
             "decorrelate the noise of the channels: traces are mixtures of neighbouring ones, in "
             "standard deviations of the noise");
    return list;
}

option_list describe(motion_options& options) {
    option_list list;
    list.begin_group("Drift (recordings only)");
    list.add(
        "drift", options.model,
        "how the tissue moves along the probe, which is estimated and undone before spikes are "
        "detected (rigid: all depths alike; blocks: windows of depth on their own; automatic: "
        "by the probe, and none if nothing moves)");
    list.add("drift_bin", options.time_bin, "time for which the displacement is taken as constant")
        .above(0);
    return list;
}

option_list describe(detection_options& options) {
    option_list list = describe(options.preprocessing);
    list.begin_group(detecting);
    list.add("weak_threshold", options.weak_threshold,
             "a spike reaches as far as its samples are beyond this many SDs of the noise")
        .above(0);
    list.add("strong_threshold", options.strong_threshold,
             "at least one sample of a spike is beyond this many SDs of the noise")
        .above(0);
    list.add("sign", options.sign, "polarity of spikes");
    list.add("before", options.before,
             "features are computed from the waveform from this long before the peak")
        .at_least(0);
    list.add("after", options.after, "features are computed to this long after the peak")
        .at_least(0);
    list.add("neighbours", options.neighbours,
             "largest distance of neighbouring channels of a shank")
        .in_micrometres()
        .unset_is("1.5 times the typical distance to the nearest channel");
    list.begin_group("Input");
    list.add("features_per_channel", options.features_per_channel,
             "number of principal components per channel")
        .at_least(1);
    return list;
}

}  // namespace spikeweave
