#include "spikeweave/record/detection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel/ordered_for.hpp"
#include "parallel/ranks.hpp"
#include "record/detect/detect.hpp"
#include "record/detect/find_events.hpp"
#include "record/detect/trace_steps.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using record::crossing;
using record::crossing_rule;
using record::crossings_by;
using record::described_channels_of;
using record::detect_in_blocks;
using record::event;
using record::events_of;
using record::feature_space_of;
using record::found_events;
using record::principal_components;
using record::sample_faults;
using record::standard_block_frames;
using record::steps_for;
using record::trace_steps;
using record::uses_devices;
using record::waveform_place;
using record::waveform_statistics;
using record::waveform_window;
using record::window_of;

namespace {

void check(const detection_options& options) {
    check_options(options);
    if (!(options.weak_threshold < options.strong_threshold))
        throw invalid_argument(
            "strong_threshold",
            fmt::format("expected more than the {} of `weak_threshold`, found {}",
                        options.weak_threshold, options.strong_threshold));
    if (options.longest <= duration{0})
        throw invalid_argument("the longest connected set has to last some time");
}

// Says it if most channels have their largest values on the side where no spikes are looked for.
void warn_of_polarity(const filtered_recording& traces, spike_sign sign,
                      std::vector<std::string>& warnings) {
    constexpr double clear = 0.5;
    if (sign == spike_sign::both) return;
    const double wanted = sign == spike_sign::negative ? -1 : 1;
    const auto active = std::ranges::count_if(traces.direction(), [](double x) { return x != 0; });
    const auto other =
        std::ranges::count_if(traces.direction(), [&](double x) { return x * wanted < -clear; });
    if (2 * other <= active) return;
    warnings.push_back(fmt::format(
        "On {} of {} channels the largest spikes point {}, and only those that point {} are "
        "searched for: the recording may be inverted, and sign {} finds the others.",
        other, active, wanted < 0 ? "up" : "down", wanted < 0 ? "down" : "up",
        wanted < 0 ? "positive" : "negative"));
}

void add_faults_of_channels(const filtered_recording& traces, spike_sign sign,
                            std::vector<std::string>& warnings) {
    const auto& channels = traces.source().channels();
    std::vector<std::string> silent;
    std::vector<std::string> noisy;
    for (std::uint32_t c = 0; c < channels.size(); ++c)
        if (std::ranges::binary_search(traces.noisy(), c))
            noisy.push_back(channels[c].name);
        else if (traces.noise()[c] == 0)
            silent.push_back(channels[c].name);
    if (!silent.empty())
        warnings.push_back(
            fmt::format("{} of {} channels show no noise, or next to none, as if they were not "
                        "connected, and are left out: {}.",
                        silent.size(), channels.size(), fmt::join(silent, ", ")));
    if (!noisy.empty())
        warnings.push_back(
            fmt::format("{} of {} channels have more than five times the noise of most, and are "
                        "left out: {}.",
                        noisy.size(), channels.size(), fmt::join(noisy, ", ")));
    warn_of_polarity(traces, sign, warnings);
}

class spike_finder {
public:
    spike_finder(const filtered_recording& traces, const detection_options& options,
                 std::size_t block_frames, const execution& run)
        : traces_(traces),
          options_(options),
          window_(window_of(options, traces.source().rate_hz())),
          crossings_(crossings_by(traces, options)),
          steps_(steps_for(traces, options, block_frames, run)) {
        out_.basis = feature_space_of(traces, options);
        if (options.basis) check_same_space(*options.basis, out_.basis);
    }

    detection_result find(const execution& run) {
        out_.warnings = sample_faults(traces_.source(), run);
        add_faults_of_channels(traces_, options_.sign, out_.warnings);
        take(events_of(traces_, *steps_, options_, run));
        if (uses_devices(options_, run)) out_.ran_on_devices = run.devices;
        if (out_.size() == 0) return std::move(out_);
        const principal_components components =
            options_.basis ? principal_components(options_.features_per_channel, window_.size(),
                                                  options_.basis->components)
                           : find_components(run);
        describe_waveforms(components, run);
        out_.basis.components = components.values();
        return std::move(out_);
    }

private:
    void take(const found_events& found);
    bool is_described(std::uint32_t peak_channel, std::uint32_t channel) const;
    std::size_t first_spike_from(std::size_t piece) const;
    std::vector<char> choose_spikes() const;
    principal_components find_components(const execution& run) const;
    std::vector<waveform_place> chosen_places(std::size_t piece,
                                              const std::vector<char>& chosen) const;
    void describe_waveforms(const principal_components& components, const execution& run);

    const filtered_recording& traces_;
    const detection_options& options_;
    waveform_window window_;
    crossing_rule crossings_;
    std::unique_ptr<trace_steps> steps_;
    detection_result out_;
};

bool spike_finder::is_described(std::uint32_t peak_channel, std::uint32_t channel) const {
    return out_.described_channels.empty() ||
           std::ranges::binary_search(out_.described_channels[peak_channel], channel);
}

void spike_finder::take(const found_events& found) {
    const recording& from = traces_.source();
    out_.rate_hz = from.rate_hz();
    out_.channel_count = from.channel_count();
    out_.features_per_channel = options_.features_per_channel;
    out_.described_channels = described_channels_of(from.channels(), options_.described_channels);
    out_.noise.assign(traces_.noise().begin(), traces_.noise().end());
    out_.reference = traces_.reference();
    const auto weak = static_cast<float>(options_.weak_threshold);
    const auto strong = static_cast<float>(options_.strong_threshold);
    for (const event& each : found.events) {
        out_.frames.push_back(each.frame);
        out_.peak_channels.push_back(each.channel);
        for (const crossing& peak : found.heights_of(each)) {
            const float mask = std::min((peak.height - weak) / (strong - weak), 1.0F);
            if (!(mask > 0) || !is_described(each.channel, peak.channel)) continue;
            out_.mask_channels.push_back(peak.channel);
            out_.masks.push_back(mask);
        }
        out_.mask_offsets.push_back(out_.mask_channels.size());
    }
    out_.cut = found.cut;
    if (out_.cut > 0)
        out_.warnings.push_back(
            fmt::format("{} events went on for more than {}, as artefacts do, and were cut.",
                        out_.cut, format_duration(options_.longest)));
}

// Returns the first spike whose peak is in the piece or later.
std::size_t spike_finder::first_spike_from(std::size_t piece) const {
    const auto frame = static_cast<std::int64_t>(piece * steps_->piece_frames());
    return static_cast<std::size_t>(std::ranges::lower_bound(out_.frames, frame) -
                                    out_.frames.begin());
}

// Returns the channels of the chosen spikes of a piece.
std::vector<waveform_place> spike_finder::chosen_places(std::size_t piece,
                                                        const std::vector<char>& chosen) const {
    std::vector<waveform_place> places;
    const std::size_t last = first_spike_from(piece + 1);
    for (std::size_t n = first_spike_from(piece); n < last; ++n) {
        if (chosen[n] == 0) continue;
        for (std::size_t i = out_.mask_offsets[n]; i < out_.mask_offsets[n + 1]; ++i)
            places.push_back({out_.frames[n], out_.peak_channels[n], out_.mask_channels[i]});
    }
    return places;
}

// Chooses runs of spikes spread over the recording, so that only some blocks must be read again.
std::vector<char> spike_finder::choose_spikes() const {
    constexpr std::size_t most_runs = 64;
    const std::size_t count =
        std::min<std::size_t>(out_.size(), std::max(1U, options_.component_spikes));
    const std::size_t runs = std::min(count, most_runs);
    std::vector<char> chosen(out_.size(), 0);
    for (std::size_t r = 0; r < runs; ++r) {
        const std::size_t length = (r + 1) * count / runs - r * count / runs;
        const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(r * out_.size() / runs);
        std::fill_n(begin, length, char{1});
    }
    return chosen;
}

principal_components spike_finder::find_components(const execution& run) const {
    struct cut_out {
        std::vector<waveform_place> places{};
        std::vector<float> waveforms{};
    };
    const std::vector<char> chosen = choose_spikes();
    const parallel::rank_block own = parallel::block_of_rank(steps_->piece_count(), run);
    cut_out all;
    parallel::for_each_in_order(
        own.size(), run, "components",
        [&](std::size_t i) {
            cut_out out{.places = chosen_places(own.begin + i, chosen)};
            if (!out.places.empty())
                out.waveforms = steps_->waveforms_of(own.begin + i, out.places);
            return out;
        },
        [&](std::size_t, const cut_out& found) {
            all.places.insert(all.places.end(), found.places.begin(), found.places.end());
            all.waveforms.insert(all.waveforms.end(), found.waveforms.begin(),
                                 found.waveforms.end());
        });
    parallel::join_ranks(all.places, run);
    parallel::join_ranks(all.waveforms, run);
    waveform_statistics statistics(out_.channel_count, window_.size());
    for (std::size_t k = 0; k < all.places.size(); ++k)
        statistics.add(all.places[k].channel,
                       std::span{all.waveforms}.subspan(k * window_.size(), window_.size()));
    return statistics.components(options_.features_per_channel, run);
}

void spike_finder::describe_waveforms(const principal_components& components,
                                      const execution& run) {
    const parallel::rank_block own = parallel::block_of_rank(steps_->piece_count(), run);
    const std::size_t begin = first_spike_from(own.begin);
    const std::size_t each = out_.features_per_spike();
    const std::size_t spikes = first_spike_from(own.end) - begin;
    out_.fractions.resize(spikes);
    out_.features.resize(spikes * each);
    parallel::parallel_for(own.size(), run, "features", [&](std::size_t i) {
        const std::size_t first = first_spike_from(own.begin + i);
        const std::size_t count = first_spike_from(own.begin + i + 1) - first;
        if (count == 0) return;
        steps_->describe(
            own.begin + i,
            {.frames = std::span{out_.frames}.subspan(first, count),
             .peak_channels = std::span{out_.peak_channels}.subspan(first, count),
             .fractions = std::span{out_.fractions}.subspan(first - begin, count),
             .features = std::span{out_.features}.subspan((first - begin) * each, count * each),
             .described_channels = out_.described_channels},
            components);
    });
    parallel::join_ranks(out_.fractions, run);
    parallel::join_ranks(out_.features, run);
}

}  // namespace

template <>
enum_table<spike_sign> enum_names<spike_sign>() {
    using enum spike_sign;
    static constexpr named_value<spike_sign> values[]{
        {negative, "negative"}, {positive, "positive"}, {both, "both"}};
    return {"sign of spikes", values};
}

std::int64_t detection_result::time_us(std::size_t spike) const {
    const double frame = static_cast<double>(frames[spike]) + fractions[spike];
    return std::llround(frame / rate_hz * 1e6);
}

namespace record {

bool uses_devices(const detection_options& options, const execution& run) {
    const probe_motion* const moved = options.preprocessing.moved.get();
    return !run.devices.empty() && !options.preprocessing.causal &&
           (moved == nullptr || moved->empty());
}

std::unique_ptr<trace_steps> steps_for(const filtered_recording& traces,
                                       const detection_options& options, std::size_t block_frames,
                                       const execution& run) {
    const crossing_rule crossings = crossings_by(traces, options);
    const waveform_window window = window_of(options, traces.source().rate_hz());
    if (!uses_devices(options, run)) return steps_on_cpu(traces, crossings, window, block_frames);
    return steps_on_devices(traces, crossings, window, block_frames, run);
}

found_events events_of(const filtered_recording& traces, const trace_steps& steps,
                       const detection_options& options, const execution& run) {
    const recording& from = traces.source();
    const auto longest =
        std::max<std::int64_t>(1, std::llround(to_seconds(options.longest) * from.rate_hz()));
    return find_events(steps,
                       {.neighbours = neighbours_of(from.channels(), options.neighbours),
                        .join_frames = options.join_frames,
                        .longest_frames = longest,
                        .strong = static_cast<float>(options.strong_threshold)},
                       run);
}

detection_result detect_in_blocks(const filtered_recording& traces,
                                  const detection_options& options, std::size_t block_frames,
                                  const execution& run) {
    check(options);
    return spike_finder(traces, options, block_frames, run).find(run);
}

}  // namespace record

std::vector<std::string> check_recording(const recording& from, const detection_options& options,
                                         const execution& run) {
    std::vector<std::string> warnings;
    try {
        warnings = sample_faults(from, run);
        check(options);
        add_faults_of_channels(filtered_recording(from, options.preprocessing, run), options.sign,
                               warnings);
    } catch (const invalid_argument& error) {
        warnings.push_back(fmt::format("Spikes cannot be detected: {}.", error.what()));
    }
    return warnings;
}

detection_result detect_spikes(const recording& from, const detection_options& options,
                               const execution& run) {
    check(options);
    return detect_in_blocks(filtered_recording(from, options.preprocessing, run), options,
                            standard_block_frames, run);
}

}  // namespace spikeweave
