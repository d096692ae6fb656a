#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "parallel/ordered_for.hpp"
#include "parallel/ranks.hpp"
#include "record/detect/detect.hpp"
#include "record/detect/trace_steps.hpp"
#include "record/detect/waveforms.hpp"
#include "record/filter/block_reader.hpp"
#include "record/filter/filtered_blocks.hpp"
#include "record/filter/trace_rules.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/record/detection.hpp"

namespace spikeweave {
namespace {

double distance(const recording_channel& a, const recording_channel& b) {
    return std::hypot(a.x_um - b.x_um, a.y_um - b.y_um);
}

double usual_distance(const std::vector<recording_channel>& channels) {
    std::vector<double> nearest;
    nearest.reserve(channels.size());
    for (std::size_t c = 0; c < channels.size(); ++c) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t other = 0; other < channels.size(); ++other)
            if (other != c && channels[other].shank == channels[c].shank)
                least = std::min(least, distance(channels[c], channels[other]));
        if (std::isfinite(least)) nearest.push_back(least);
    }
    if (nearest.empty()) return 0;
    const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>((nearest.size() - 1) / 2);
    std::nth_element(nearest.begin(), middle, nearest.end());
    return *middle;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> neighbours_of(
    const std::vector<recording_channel>& channels, double neighbour_um) {
    if (!(neighbour_um >= 0) || !std::isfinite(neighbour_um))
        throw invalid_argument(
            fmt::format("neighbours up to {} um (expected at least 0)", neighbour_um));
    constexpr double diagonal_too = 1.5;
    const double reach = neighbour_um > 0 ? neighbour_um : diagonal_too * usual_distance(channels);
    std::vector<std::vector<std::uint32_t>> out(channels.size());
    for (std::size_t c = 0; c < channels.size(); ++c)
        for (std::size_t other = 0; other < channels.size(); ++other)
            if (other != c && channels[other].shank == channels[c].shank &&
                distance(channels[c], channels[other]) <= reach)
                out[c].push_back(static_cast<std::uint32_t>(other));
    return out;
}

namespace record {

std::vector<std::vector<std::uint32_t>> described_channels_of(
    const std::vector<recording_channel>& channels, std::uint32_t most) {
    std::vector<std::vector<std::uint32_t>> out;
    if (most == 0 || most >= channels.size()) return out;
    for (const recording_channel& at : channels) {
        std::vector<std::uint32_t> nearest(channels.size());
        std::iota(nearest.begin(), nearest.end(), 0U);
        std::ranges::stable_sort(nearest, {}, [&](std::uint32_t c) {
            return std::pair{channels[c].shank != at.shank, distance(channels[c], at)};
        });
        nearest.resize(most);
        std::ranges::sort(nearest);
        out.push_back(std::move(nearest));
    }
    return out;
}

}  // namespace record

using record::block_reader;
using record::crossing_rule;
using record::crossings_by;
using record::described_channels_of;
using record::feature_space_of;
using record::filtered_blocks;
using record::filtered_blocks_of;
using record::height_of;
using record::principal_components;
using record::take_waveform;
using record::waveform_window;
using record::window_of;

namespace {

constexpr double mask_reach_s = 0.00025;

void check(const recording& from, const known_spikes& spikes, const detection_options& options) {
    if (!options.basis)
        throw invalid_argument("spikes are described by a basis, and there is none");
    const std::size_t count = spikes.frames.size();
    if (spikes.fractions.size() != count || spikes.peak_channels.size() != count)
        throw invalid_argument(fmt::format("{} frames, {} fractions and {} peak channels of spikes",
                                           count, spikes.fractions.size(),
                                           spikes.peak_channels.size()));
    for (std::size_t n = 0; n < count; ++n) {
        if (spikes.frames[n] < (n == 0 ? 0 : spikes.frames[n - 1]) ||
            static_cast<std::uint64_t>(spikes.frames[n]) >= from.frame_count())
            throw invalid_argument(
                fmt::format("spike {} is at frame {} (expected ascending frames below {})", n,
                            spikes.frames[n], from.frame_count()));
        if (spikes.peak_channels[n] >= from.channel_count())
            throw invalid_argument(fmt::format("spike {} is on channel {} of {}", n,
                                               spikes.peak_channels[n], from.channel_count()));
    }
}

// The spikes of one block.
struct described {
    std::vector<std::size_t> mask_counts{};
    std::vector<std::uint32_t> mask_channels{};
    std::vector<float> masks{};
    std::vector<float> features{};
};

class spike_describer {
public:
    spike_describer(const filtered_recording& traces, const known_spikes& spikes,
                    const detection_options& options,
                    const std::vector<std::vector<std::uint32_t>>& described_channels,
                    const execution& run)
        : spikes_(spikes),
          described_channels_(described_channels),
          options_(options),
          window_(window_of(options, traces.source().rate_hz())),
          crossings_(crossings_by(traces, options)),
          components_(options.features_per_channel, window_.size(), options.basis->components),
          reach_(std::llround(mask_reach_s * traces.source().rate_hz())),
          blocks_(traces, std::max(window_.apron(), static_cast<std::size_t>(reach_))),
          filtered_(filtered_blocks_of(blocks_, run)) {
        if (!described_channels.empty()) return;
        all_channels_.resize(traces.source().channel_count());
        std::iota(all_channels_.begin(), all_channels_.end(), 0U);
    }

    const block_reader& blocks() const { return blocks_; }

    described describe(std::size_t number) const {
        described out;
        const std::size_t length = blocks_.block_frames();
        const auto begin =
            std::ranges::lower_bound(spikes_.frames, static_cast<std::int64_t>(number * length));
        const auto end = std::ranges::lower_bound(spikes_.frames,
                                                  static_cast<std::int64_t>((number + 1) * length));
        if (begin == end) return out;
        const trace_block block = filtered_->read(number);
        for (auto at = begin; at != end; ++at)
            describe(static_cast<std::size_t>(at - spikes_.frames.begin()), block, out);
        return out;
    }

private:
    void describe(std::size_t spike, const trace_block& block, described& out) const {
        const std::int64_t offset = spikes_.frames[spike] - static_cast<std::int64_t>(block.first);
        const std::size_t before = out.masks.size();
        const auto weak = static_cast<float>(options_.weak_threshold);
        const auto strong = static_cast<float>(options_.strong_threshold);
        std::vector<float> waveform(window_.size());
        for (const std::uint32_t c : channels_of(spike)) {
            float height = 0;
            for (std::int64_t f = offset - reach_; f <= offset + reach_; ++f)
                height = std::max(
                    height, height_of(block.frame(f)[c], crossings_.by_noise[c], crossings_.both));
            const float mask = c == spikes_.peak_channels[spike]
                                   ? 1.0F
                                   : std::min((height - weak) / (strong - weak), 1.0F);
            if (mask > 0) {
                out.mask_channels.push_back(c);
                out.masks.push_back(mask);
            }
            take_waveform(block, offset, spikes_.fractions[spike], c, window_, waveform);
            const std::span<const float> axes = components_.of(c);
            for (std::size_t k = 0; k < components_.components(); ++k)
                out.features.push_back(std::inner_product(
                    waveform.begin(), waveform.end(),
                    axes.begin() + static_cast<std::ptrdiff_t>(k * waveform.size()), 0.0F));
        }
        out.mask_counts.push_back(out.masks.size() - before);
    }

    const std::vector<std::uint32_t>& channels_of(std::size_t spike) const {
        return described_channels_.empty() ? all_channels_
                                           : described_channels_[spikes_.peak_channels[spike]];
    }

    const known_spikes& spikes_;
    const std::vector<std::vector<std::uint32_t>>& described_channels_;
    std::vector<std::uint32_t> all_channels_{};
    const detection_options& options_;
    waveform_window window_;
    crossing_rule crossings_;
    principal_components components_;
    std::int64_t reach_;
    block_reader blocks_;
    std::unique_ptr<const filtered_blocks> filtered_;
};

}  // namespace

detection_result describe_spikes(const recording& from, const known_spikes& spikes,
                                 const detection_options& options, const execution& run) {
    check(from, spikes, options);
    const filtered_recording traces(from, options.preprocessing, run);
    detection_result out{
        .rate_hz = from.rate_hz(),
        .channel_count = from.channel_count(),
        .features_per_channel = options.features_per_channel,
        .frames = {spikes.frames.begin(), spikes.frames.end()},
        .fractions = {spikes.fractions.begin(), spikes.fractions.end()},
        .peak_channels = {spikes.peak_channels.begin(), spikes.peak_channels.end()},
        .described_channels = described_channels_of(from.channels(), options.described_channels),
        .basis = *options.basis,
        .noise = {traces.noise().begin(), traces.noise().end()},
        .reference = traces.reference()};
    feature_basis own = feature_space_of(traces, options);
    own.components = options.basis->components;
    // A basis of whitened traces fits only the recording that it is from.
    if (own != *options.basis) check_same_space(*options.basis, own);
    const spike_describer describer(traces, spikes, options, out.described_channels, run);
    const parallel::rank_block share =
        parallel::block_of_rank(describer.blocks().block_count(), run);
    std::vector<std::size_t> mask_counts;
    out.features.reserve(out.size() * out.features_per_spike());
    parallel::for_each_in_order(
        share.size(), run, "features",
        [&](std::size_t i) { return describer.describe(share.begin + i); },
        [&](std::size_t, const described& found) {
            const auto append = [](const auto& more, auto& to) {
                to.insert(to.end(), more.begin(), more.end());
            };
            append(found.mask_counts, mask_counts);
            append(found.mask_channels, out.mask_channels);
            append(found.masks, out.masks);
            append(found.features, out.features);
        });
    parallel::join_ranks(mask_counts, run);
    parallel::join_ranks(out.mask_channels, run);
    parallel::join_ranks(out.masks, run);
    parallel::join_ranks(out.features, run);
    for (const std::size_t count : mask_counts)
        out.mask_offsets.push_back(out.mask_offsets.back() + count);
    return out;
}

}  // namespace spikeweave
