#include "spikeweave/core/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "simulate/coupled_units.hpp"
#include "simulate/option_parts.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/features.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave {

using simulate::add_length;
using simulate::add_number_of;
using simulate::add_numbers;
using simulate::add_seed;
using simulate::largest_rate_hz;
using simulate::option_group;

namespace {

constexpr double highest_peak_uv = 1e5;
constexpr double farthest_um = 1e5;

void add_sizes(option_list& list, std::string name, std::vector<std::uint32_t>& sizes,
               std::string help) {
    add_numbers(list, std::move(name), sizes, std::move(help))
        .written("N,N,...|none")
        .obeys([&sizes] {
            for (const std::uint32_t size : sizes)
                if (size < 2)
                    throw invalid_argument(
                        fmt::format("expected numbers of at least 2, found {}", size));
        });
}

option& add_rate(option_list& list, std::string name, double& field, std::string help) {
    return list.add(std::move(name), field, std::move(help))
        .above(0)
        .at_most(std::floor(largest_rate_hz()))
        .written("HZ");
}

template <class Options>
void add_chains(option_list& list, Options& options) {
    constexpr double shortest_delay_s = 0.001;
    constexpr double longest_delay_s = 60;
    add_sizes(list, "chains", options.chains,
              "number of units in each planted chain; the chains consist of the first units");
    list.add("probability", options.probability,
             "probability that a spike is passed on along a chain")
        .above(0)
        .at_most(1)
        .written("P");
    list.add("delay", options.delay,
             "delay from one unit of a chain to the next, in whole milliseconds")
        .at_least(shortest_delay_s)
        .at_most(longest_delay_s);
}

void add_probe(option_list& list, recording_options& options) {
    constexpr double most_channels = 1U << 16;
    list.add("channels", options.channels, "number of channels")
        .basic()
        .at_least(1)
        .at_most(most_channels);
    add_number_of(list, "columns", options.columns, "number of contacts side by side");
    list.add("pitch", options.pitch_um, "distance of neighbouring contacts")
        .in_micrometres()
        .at_least(1)
        .at_most(1e4);
    list.add("sample_rate", options.rate_hz, "samples per second of each channel")
        .basic()
        .at_least(1000)
        .at_most(1e6)
        .written("HZ");
    list.add("gain", options.gain_uv, "microvolts per ADC count")
        .at_least(1e-6)
        .at_most(1e5)
        .written("UV");
}

void add_units(option_list& list, recording_options& options) {
    constexpr double highest_hz = 1000;
    add_number_of(list, "units", options.units, "number of units, named 0, 1 and so on");
    list.add("spikes", options.spikes,
             "file of spikes whose units, names, times and length are used, instead of those set "
             "by `units`, `length`, rates and `dead_time`")
        .written("FILE");
    const auto add = [&](const char* name, double& field, const char* help) -> option& {
        return list.add(name, field, help).at_least(0);
    };
    add("low_rate", options.low_hz,
        "lower end of the range from which the units' mean rates are drawn")
        .at_least(1e-6)
        .at_most(highest_hz)
        .written("HZ");
    add("high_rate", options.high_hz,
        "upper end of the range from which the units' mean rates are drawn")
        .at_most(highest_hz)
        .written("HZ");
    list.add("dead_time", options.refractory, "dead time between two spikes of a unit").at_least(0);
    add("low_peak", options.low_uv,
        "lower end of the range from which the depths of the units' troughs on the nearest contact "
        "are drawn, in uV")
        .at_most(highest_peak_uv)
        .written("UV");
    add("high_peak", options.high_uv,
        "upper end of the range from which the depths of troughs are drawn, in uV")
        .at_most(highest_peak_uv)
        .written("UV");
    add("jitter", options.amplitude_jitter,
        "standard deviation of a unit's spike amplitudes, as a fraction of the mean")
        .at_most(1)
        .written("P");
}

void add_noise(option_list& list, recording_options& options) {
    list.add("noise", options.noise_uv, "standard deviation of the noise on each channel, in uV")
        .at_least(0)
        .at_most(highest_peak_uv)
        .written("UV");
    list.add("noise_reach", options.noise_reach_um,
             "channels up to twice this distance apart share noise")
        .in_micrometres()
        .at_least(0)
        .at_most(farthest_um);
}

void add_difficulty(option_list& list, recording_options& options) {
    constexpr double most_per_channel = 1000;
    list.add("difficulty", options.difficulty,
             "sets the defaults of the options that follow, up to `noise_spectrum`");
    list.add("distribution", options.distribution,
             "how rates and troughs are drawn from their ranges (lognormal: a range is one "
             "standard deviation on each side of the median, and values reach up to two)")
        .by_default("uniform for easy, lognormal for realistic");
    list.add("waveforms", options.waveforms,
             "shapes of the units' waveforms (alike: all broad; varied: also narrow, triphasic and "
             "positive, and different on each channel)")
        .by_default("alike for easy, varied for realistic");
    const auto add = [&](const char* name, std::optional<double>& field, double most,
                         const char* help, const char* by_default) {
        list.add(name, field, help)
            .at_least(0)
            .at_most(most)
            .written(most > 1 ? "X" : "P")
            .by_default(by_default);
    };
    add("similar", options.similar, 1,
        "fraction of units that are beside another unit and have a similar waveform",
        "0 for easy, 0.3 for realistic");
    add("bursting", options.bursting, 1,
        "fraction of units that fire bursts, in which their spikes become smaller",
        "0 for easy, 0.3 for realistic");
    add("background", options.background, most_per_channel,
        "number of small background units per channel; they are not part of the ground truth",
        "0 for easy, 2 for realistic");
    list.add("noise_spectrum", options.spectrum,
             "spectrum of the noise (coloured: falls with frequency)")
        .by_default("white for easy, coloured for realistic");
}

void add_drift(option_list& list, recording_options& options) {
    list.add("drift", options.drift_um, "how far the units move along the probe")
        .in_micrometres()
        .at_least(-farthest_um)
        .at_most(farthest_um);
    list.add("drift_shape", options.drift,
             "how the units move (linear: at constant speed until the end; zigzag: up and down, at "
             "constant speed; jump: all the way in one step)")
        .only_with("drift");
    list.add("drift_period", options.drift_period, "time that one zigzag takes, up and down")
        .at_least(1)
        .only_with("drift");
    list.add("drift_start", options.drift_start, "when the units begin to move")
        .at_least(0)
        .by_default("0 for linear, a tenth of the length for zigzag, half of it for jump")
        .only_with("drift");
}

void add_sessions(option_list& list, recording_options& options) {
    list.add(
            "session", options.session,
            "number of the session with these electrodes: in later ones than the first, some units "
            "are others, and the rest have moved, changed and fire other spikes; a unit keeps its "
            "name")
        .at_least(1)
        .at_most(1000)
        .not_with({"spikes"});
    list.add("turnover", options.turnover,
             "fraction of the units that are others in the next session")
        .at_least(0)
        .at_most(1)
        .only_with("session")
        .written("P");
    list.add("session_drift", options.session_drift_um,
             "how far all units move along the probe from one session to the next, at most")
        .in_micrometres()
        .at_least(0)
        .at_most(farthest_um)
        .only_with("session");
    list.add("session_change", options.session_change,
             "how much amplitudes change from one session to the next: a standard deviation, as a "
             "fraction; rates, places and waveforms change, too, unless it is 0")
        .at_least(0)
        .at_most(1)
        .only_with("session")
        .written("P");
}

}  // namespace

template <>
enum_table<drift_shape> enum_names<drift_shape>() {
    using enum drift_shape;
    static constexpr named_value<drift_shape> values[]{
        {linear, "linear"}, {zigzag, "zigzag"}, {jump, "jump"}};
    return {"shape of drift", values};
}

template <>
enum_table<recording_difficulty> enum_names<recording_difficulty>() {
    using enum recording_difficulty;
    static constexpr named_value<recording_difficulty> values[]{{easy, "easy"},
                                                                {realistic, "realistic"}};
    return {"difficulty", values};
}

template <>
enum_table<unit_distribution> enum_names<unit_distribution>() {
    using enum unit_distribution;
    static constexpr named_value<unit_distribution> values[]{{uniform, "uniform"},
                                                             {lognormal, "lognormal"}};
    return {"distribution", values};
}

template <>
enum_table<waveform_variety> enum_names<waveform_variety>() {
    using enum waveform_variety;
    static constexpr named_value<waveform_variety> values[]{{alike, "alike"}, {varied, "varied"}};
    return {"variety of waveforms", values};
}

template <>
enum_table<noise_spectrum> enum_names<noise_spectrum>() {
    using enum noise_spectrum;
    static constexpr named_value<noise_spectrum> values[]{{white, "white"}, {coloured, "coloured"}};
    return {"spectrum of noise", values};
}

template <>
enum_table<waveform_kind> enum_names<waveform_kind>() {
    using enum waveform_kind;
    static constexpr named_value<waveform_kind> values[]{{broad, "broad"},
                                                         {narrow, "narrow"},
                                                         {early_peak, "early-peak"},
                                                         {triphasic, "triphasic"},
                                                         {positive, "positive"}};
    return {"kind of waveform", values};
}

option_list describe(sym26_options& options) {
    option_list list;
    list.begin_group(option_group);
    add_length(list, options.length);
    add_number_of(list, "units", options.units, "number of units, named n0, n1 and so on");
    add_chains(list, options);
    add_rate(list, "rest_rate", options.rest_rate_hz, "rate of a unit without input");
    list.add("jitter", options.jitter,
             "each delay varies uniformly by up to this much, in whole milliseconds")
        .at_least(0);
    list.add("background", options.background,
             "also connect a quarter of all pairs of units, so weakly that they follow each other "
             "about as often as by chance");
    add_seed(list, options.seed);
    return list;
}

option_list describe(culture_options& options) {
    option_list list;
    list.begin_group(option_group);
    add_length(list, options.length);
    add_number_of(list, "channels", options.channels, "number of channels, named 0, 1 and so on");
    add_rate(list, "background_rate", options.background_hz, "rate of a channel between bursts");
    list.add("burst_every", options.burst_every, "mean time between bursts").above(0);
    list.add("burst_length", options.burst_length, "length of a burst, in whole milliseconds")
        .at_least(0.001);
    add_rate(list, "burst_low", options.burst_low_hz, "lowest rate of a channel in a burst");
    add_rate(list, "burst_high", options.burst_high_hz, "highest rate of a channel in a burst");
    add_chains(list, options);
    add_seed(list, options.seed);
    return list;
}

option_list describe(poisson_options& options) {
    option_list list;
    list.begin_group(option_group);
    add_length(list, options.length);
    add_number_of(list, "units", options.units, "number of units, named n0, n1 and so on");
    add_rate(list, "rate", options.rate_hz, "rate of each unit");
    add_seed(list, options.seed);
    return list;
}

option_list describe(patterns_options& options) {
    constexpr double most_regular = 1000;
    option_list list;
    list.begin_group(option_group);
    add_length(list, options.length);
    add_number_of(list, "units", options.units, "number of units, named n0, n1 and so on");
    add_sizes(list, "patterns", options.patterns,
              "number of spikes of each planted pattern; patterns use the first units");
    add_number_of(list, "occurrences", options.occurrences,
                  "number of occurrences of each pattern");
    list.add("lag", options.lag, "time from one spike of a pattern to the next").at_least(0);
    add_rate(list, "rate", options.rate_hz, "mean rate of a unit, not counting planted spikes");
    list.add(
        "rates", options.rates,
        "how the rates differ (spread: each unit has its own, from one third to five thirds of "
        "the mean; steps: in each second all units fire at four times the rate from 400 to "
        "500 ms and at two thirds of it otherwise; wave: the same step in one unit after "
        "another)");
    list.add("gamma", options.gamma_order,
             "order of the gamma distribution of the intervals: 1 is Poisson, and higher orders "
             "are more regular")
        .at_least(1)
        .at_most(most_regular);
    list.add("dead_time", options.dead_time, "dead time between two spikes of a unit").at_least(0);
    add_seed(list, options.seed);
    return list;
}

option_list describe(recording_options& options) {
    option_list list;
    list.begin_group(option_group);
    list.add("length", options.length, "length of the recording").above(0);
    add_probe(list, options);
    add_units(list, options);
    add_drift(list, options);
    add_sessions(list, options);
    add_noise(list, options);
    add_difficulty(list, options);
    add_seed(list, options.seed);
    return list;
}

option_list describe(feature_options& options) {
    constexpr double most_sds = 1e6;
    option_list list;
    list.begin_group(option_group);
    add_number_of(list, "spikes", options.spikes, "number of spikes");
    add_number_of(list, "units", options.units, "number of units");
    add_number_of(list, "channels", options.channels, "number of channels, in a line");
    add_number_of(list, "features_per_channel", options.features_per_channel,
                  "number of features of each channel");
    list.add("low_height", options.low_height,
             "smallest peak amplitude of a unit, in standard deviations of the noise; amplitudes "
             "are drawn uniformly between this and `high_height`")
        .at_least(0)
        .at_most(most_sds);
    list.add("high_height", options.high_height, "largest peak amplitude of a unit")
        .at_least(0)
        .at_most(most_sds);
    list.add("width", options.width,
             "width of the bell-shaped profile of a unit's amplitudes over the channels: its "
             "standard deviation, in channels")
        .at_least(1e-3)
        .at_most(1e3);
    list.add("jitter", options.amplitude_jitter,
             "standard deviation of a unit's spike amplitudes, as a fraction of the mean")
        .at_least(0)
        .at_most(1)
        .written("P");
    list.add("separation", options.separation,
             "how different any two units are at least: the distance of the smaller unit from the "
             "line along which the amplitudes of the larger one vary, in standard deviations of "
             "the noise")
        .at_least(0)
        .at_most(most_sds);
    list.add("of_no_unit", options.of_no_unit,
             "fraction of spikes that belong to no unit, each with its own position and shape")
        .at_least(0)
        .at_most(1)
        .written("P");
    list.add("spike_rate", options.spike_rate_hz, "rate of all spikes together, at random times")
        .at_least(1e-3)
        .at_most(1e6)
        .written("HZ");
    list.add("sample_rate", options.rate_hz, "samples per second")
        .basic()
        .at_least(1)
        .at_most(1e9)
        .written("HZ");
    add_seed(list, options.seed);
    return list;
}

}  // namespace spikeweave
