#include "synfire/record/detection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "parallel/ordered_for.hpp"
#include "record/detect.hpp"
#include "record/flood_fill.hpp"
#include "record/waveforms.hpp"
#include "synfire/core/error.hpp"

namespace synfire {
namespace {

void check(const detection_options& options) {
    if (!(options.weak > 0 && options.weak < options.strong && std::isfinite(options.strong)))
        throw invalid_argument(fmt::format("thresholds of {} and {} (expected 0 < weak < strong)",
                                           options.weak, options.strong));
    if (options.longest <= duration{0})
        throw invalid_argument("the longest connected set has to last some time");
}

// A connected set that reaches the strong threshold.
struct event {
    std::int64_t frame = 0;
    std::uint32_t channel = 0;
    std::vector<channel_peak> peaks{};
};

struct block_crossings {
    std::vector<std::uint32_t> frames{};  // of each, from the block's first
    std::vector<crossing> crossings{};
};

class spike_finder {
public:
    spike_finder(const filtered_recording& traces, const detection_options& options,
                 std::size_t block_frames)
        : traces_(traces),
          options_(options),
          block_frames_(block_frames),
          window_(window_of(options, traces.source().rate_hz())),
          blocks_(traces, window_.apron(), block_frames) {
        const float towards = options.sign == spike_sign::negative ? -1.0F : 1.0F;
        for (const double sd : traces.noise())
            by_noise_.push_back(sd > 0 ? towards / static_cast<float>(sd) : 0.0F);
    }

    detected_spikes find(const execution& run) {
        find_events(run);
        describe();
        if (out_.size() == 0) return std::move(out_);
        const principal_components components = find_components(run);
        describe_waveforms(components, run);
        return std::move(out_);
    }

private:
    void find_events(const execution& run);
    block_crossings crossings_of(std::size_t block) const;
    void take(std::vector<channel_peak>&& peaks);
    void describe();
    void warn();
    std::pair<std::size_t, std::size_t> spikes_in(std::size_t block) const;
    std::vector<char> choose_spikes() const;
    principal_components find_components(const execution& run) const;
    std::vector<float> chosen_waveforms(std::size_t block, const std::vector<char>& chosen) const;
    void describe_waveforms(const principal_components& components, const execution& run);
    void describe_waveform(std::size_t spike, const trace_block& block,
                           const principal_components& components);

    const filtered_recording& traces_;
    const detection_options& options_;
    std::size_t block_frames_;
    waveform_window window_;
    block_reader blocks_;
    std::vector<float> by_noise_;  // 0 for a channel that is left out
    std::vector<event> events_;
    detected_spikes out_;
};

void spike_finder::find_events(const execution& run) {
    const recording& from = traces_.source();
    const auto longest =
        std::max<std::int64_t>(1, std::llround(to_seconds(options_.longest) * from.rate_hz()));
    flood_fill sets(neighbours_of(from.channels(), options_.neighbour_um), options_.join_frames,
                    longest, [this](std::vector<channel_peak>&& peaks) { take(std::move(peaks)); });
    for_each_in_order(
        blocks_.block_count(), run, "detecting", [&](std::size_t i) { return crossings_of(i); },
        [&](std::size_t i, const block_crossings& found) {
            const std::span<const crossing> all(found.crossings);
            for (std::size_t at = 0; at < all.size();) {
                std::size_t end = at + 1;
                while (end < all.size() && found.frames[end] == found.frames[at]) ++end;
                const auto frame = static_cast<std::int64_t>(i * block_frames_ + found.frames[at]);
                sets.add(frame, all.subspan(at, end - at));
                at = end;
            }
        });
    sets.finish();
    out_.cut = sets.cut();
    std::sort(events_.begin(), events_.end(), [](const event& a, const event& b) {
        return std::pair{a.frame, a.channel} < std::pair{b.frame, b.channel};
    });
}

block_crossings spike_finder::crossings_of(std::size_t number) const {
    const trace_block block = block_reader(traces_, 0, block_frames_).read(number);
    const bool both = options_.sign == spike_sign::both;
    const auto weak = static_cast<float>(options_.weak);
    block_crossings out;
    for (std::size_t f = 0; f < block.frames; ++f) {
        const float* const frame = block.frame(static_cast<std::int64_t>(f));
        for (std::size_t c = 0; c < block.channels; ++c) {
            const float height = both ? std::abs(frame[c] * by_noise_[c]) : frame[c] * by_noise_[c];
            if (!(height > weak)) continue;
            out.frames.push_back(static_cast<std::uint32_t>(f));
            out.crossings.push_back({static_cast<std::uint32_t>(c), height});
        }
    }
    return out;
}

void spike_finder::take(std::vector<channel_peak>&& peaks) {
    const auto highest = std::max_element(
        peaks.begin(), peaks.end(), [](const channel_peak& a, const channel_peak& b) {
            // Of equals the earlier one, then the lower channel.
            return std::tuple{a.height, -a.frame, -static_cast<std::int64_t>(a.channel)} <
                   std::tuple{b.height, -b.frame, -static_cast<std::int64_t>(b.channel)};
        });
    if (!(highest->height > static_cast<float>(options_.strong))) return;
    const std::int64_t frame = highest->frame;
    const std::uint32_t channel = highest->channel;
    events_.push_back({frame, channel, std::move(peaks)});
}

void spike_finder::describe() {
    const recording& from = traces_.source();
    out_.rate_hz = from.rate_hz();
    out_.channel_count = from.channel_count();
    out_.features_per_channel = options_.features_per_channel;
    out_.noise.assign(traces_.noise().begin(), traces_.noise().end());
    out_.reference = traces_.reference();
    const auto weak = static_cast<float>(options_.weak);
    const auto strong = static_cast<float>(options_.strong);
    for (const event& each : events_) {
        out_.frames.push_back(each.frame);
        out_.peak_channels.push_back(each.channel);
        for (const channel_peak& peak : each.peaks) {
            const float mask = std::min((peak.height - weak) / (strong - weak), 1.0F);
            if (!(mask > 0)) continue;
            out_.mask_channels.push_back(peak.channel);
            out_.masks.push_back(mask);
        }
        out_.mask_offsets.push_back(out_.mask_channels.size());
    }
    events_ = {};
    out_.fractions.resize(out_.size());
    out_.features.resize(out_.size() * out_.features_per_spike());
    warn();
}

void spike_finder::warn() {
    const auto& channels = traces_.source().channels();
    std::vector<std::string> silent;
    for (std::size_t c = 0; c < channels.size(); ++c)
        if (by_noise_[c] == 0) silent.push_back(channels[c].name);
    if (!silent.empty())
        out_.warnings.push_back(
            fmt::format("{} of {} channels show no noise, as if they were not connected, and are "
                        "left out: {}.",
                        silent.size(), channels.size(), fmt::join(silent, ", ")));
    if (out_.cut > 0)
        out_.warnings.push_back(
            fmt::format("{} events went on for more than {}, as artefacts do, and were cut.",
                        out_.cut, format_duration(options_.longest)));
}

// Spikes of a block are those with their peak in it.
std::pair<std::size_t, std::size_t> spike_finder::spikes_in(std::size_t block) const {
    const auto first_from = [&](std::size_t number) {
        const auto frame = static_cast<std::int64_t>(number * block_frames_);
        return static_cast<std::size_t>(
            std::lower_bound(out_.frames.begin(), out_.frames.end(), frame) - out_.frames.begin());
    };
    return {first_from(block), first_from(block + 1)};
}

// Of the chosen spikes of a block, one after another, the waveforms of their channels.
std::vector<float> spike_finder::chosen_waveforms(std::size_t number,
                                                  const std::vector<char>& chosen) const {
    std::vector<float> out;
    const auto [first, last] = spikes_in(number);
    if (std::find(chosen.begin() + static_cast<std::ptrdiff_t>(first),
                  chosen.begin() + static_cast<std::ptrdiff_t>(last),
                  1) == chosen.begin() + static_cast<std::ptrdiff_t>(last))
        return out;
    const trace_block block = blocks_.read(number);
    const std::size_t frames = window_.size();
    for (std::size_t n = first; n < last; ++n) {
        if (chosen[n] == 0) continue;
        const std::int64_t offset = out_.frames[n] - static_cast<std::int64_t>(block.first);
        const float fraction = fraction_of(block, offset, out_.peak_channels[n]);
        for (std::size_t i = out_.mask_offsets[n]; i < out_.mask_offsets[n + 1]; ++i) {
            out.resize(out.size() + frames);
            take_waveform(block, offset, fraction, out_.mask_channels[i], window_,
                          std::span{out}.last(frames));
        }
    }
    return out;
}

// In runs spread over the recording, so that a few blocks have to be read again and not all.
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
    const std::vector<char> chosen = choose_spikes();
    waveform_statistics statistics(out_.channel_count, window_.size());
    for_each_in_order(
        blocks_.block_count(), run, "components",
        [&](std::size_t i) { return chosen_waveforms(i, chosen); },
        [&](std::size_t i, const std::vector<float>& waveforms) {
            const auto [first, last] = spikes_in(i);
            std::span<const float> rest(waveforms);
            for (std::size_t n = first; n < last; ++n) {
                if (chosen[n] == 0) continue;
                for (std::size_t k = out_.mask_offsets[n]; k < out_.mask_offsets[n + 1]; ++k) {
                    statistics.add(out_.mask_channels[k], rest.first(window_.size()));
                    rest = rest.subspan(window_.size());
                }
            }
        });
    return statistics.components(options_.features_per_channel);
}

void spike_finder::describe_waveforms(const principal_components& components,
                                      const execution& run) {
    parallel_for(blocks_.block_count(), run, "features", [&](std::size_t i) {
        const auto [first, last] = spikes_in(i);
        if (first == last) return;
        const trace_block block = blocks_.read(i);
        for (std::size_t n = first; n < last; ++n) describe_waveform(n, block, components);
    });
}

void spike_finder::describe_waveform(std::size_t spike, const trace_block& block,
                                     const principal_components& components) {
    const std::int64_t offset = out_.frames[spike] - static_cast<std::int64_t>(block.first);
    const float fraction = fraction_of(block, offset, out_.peak_channels[spike]);
    out_.fractions[spike] = fraction;
    std::vector<float> waveform(window_.size());
    float* feature = out_.features.data() + spike * out_.features_per_spike();
    for (std::size_t c = 0; c < out_.channel_count; ++c) {
        take_waveform(block, offset, fraction, static_cast<std::uint32_t>(c), window_, waveform);
        const std::span<const float> axes = components.of(c);
        for (std::size_t k = 0; k < components.components(); ++k)
            *feature++ = std::inner_product(
                waveform.begin(), waveform.end(),
                axes.begin() + static_cast<std::ptrdiff_t>(k * waveform.size()), 0.0F);
    }
}

}  // namespace

std::string_view to_string(spike_sign sign) {
    switch (sign) {
        case spike_sign::negative:
            return "negative";
        case spike_sign::positive:
            return "positive";
        case spike_sign::both:
            return "both";
    }
    return "unknown";
}

spike_sign spike_sign_from(std::string_view name) {
    for (const auto each : {spike_sign::negative, spike_sign::positive, spike_sign::both})
        if (to_string(each) == name) return each;
    throw invalid_argument(fmt::format(
        "'{}' is not a way that spikes point (expected negative, positive or both)", name));
}

std::int64_t detected_spikes::time_us(std::size_t spike) const {
    const double frame = static_cast<double>(frames[spike]) + fractions[spike];
    return std::llround(frame / rate_hz * 1e6);
}

detected_spikes detect_in_blocks(const filtered_recording& traces, const detection_options& options,
                                 std::size_t block_frames, const execution& run) {
    check(options);
    return spike_finder(traces, options, block_frames).find(run);
}

detected_spikes detect_spikes(const recording& from, const detection_options& options,
                              const execution& run) {
    check(options);
    return detect_in_blocks(filtered_recording(from, options.preprocessing, run), options,
                            standard_block_frames, run);
}

}  // namespace synfire
