#include "spikeweave/record/preprocess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "record/detect/trace_steps.hpp"
#include "record/filter/across_channels.hpp"
#include "record/filter/block_reader.hpp"
#include "record/filter/trace_rules.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/record/stream.hpp"

namespace spikeweave {

using record::block_reader;
using record::block_span;
using record::excerpt_step;
using record::excerpts_on_devices;
using record::filter_both_ways;
using record::reach_of;
using record::span_of;
using record::standard_block_frames;
using record::subtract_medians;
using record::trace_recipe;
using record::whitener;
using record::whitening_of;

namespace {

constexpr double faded = 1e-10;

common_reference chosen(common_reference wanted, std::size_t channels) {
    constexpr std::size_t enough_channels = 64;
    if (wanted != common_reference::automatic) return wanted;
    return channels >= enough_channels ? common_reference::median : common_reference::none;
}

std::vector<band_section> sections_for(const recording& from,
                                       const preprocessing_options& options) {
    constexpr double most_of_nyquist = 0.95 / 2;
    return butterworth_band(options.filter_order, options.low_corner,
                            std::min(options.high_corner, most_of_nyquist * from.rate_hz()),
                            from.rate_hz());
}

trace_recipe recipe_for(const recording& from, const preprocessing_options& options) {
    trace_recipe recipe{.sections = sections_for(from, options)};
    recipe.reach = reach_of(recipe.sections, faded);
    recipe.reference = chosen(options.reference, from.channel_count());
    recipe.causal = options.causal;
    return recipe;
}

double median_of(std::span<float> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (static_cast<double>(*middle) + *std::max_element(values.begin(), middle)) / 2;
}

// The median of the noisier times: a quarter of the excerpts has a larger one.
double median_of_noisier(std::span<float> values, std::size_t excerpt_size) {
    std::vector<double> medians;
    for (std::size_t at = 0; at < values.size(); at += excerpt_size)
        medians.push_back(
            median_of(values.subspan(at, std::min(excerpt_size, values.size() - at))));
    const auto chosen = medians.begin() + static_cast<std::ptrdiff_t>(medians.size() * 3 / 4);
    std::ranges::nth_element(medians, chosen);
    return *chosen;
}

// Returns in which direction the largest values go: cubes, because a spike is short and high, and
// what follows it long and low.
double direction_of(std::span<const float> values, double noise) {
    constexpr double beyond = 4.5;
    constexpr double most = 50;
    double up = 0;
    double down = 0;
    for (const float value : values) {
        const double height = std::min(std::abs(value) / noise, most);
        if (height > beyond) (value > 0 ? up : down) += height * height * height;
    }
    return up + down > 0 ? (up - down) / (up + down) : 0;
}

// The noise of most channels; silent ones do not count. 0 if there are few.
double usual_noise(std::span<const double> noise) {
    constexpr std::size_t enough_channels = 4;
    std::vector<double> live;
    std::ranges::copy_if(noise, std::back_inserter(live), [](double sd) { return sd > 0; });
    if (live.size() < enough_channels) return 0;
    const auto middle = live.begin() + static_cast<std::ptrdiff_t>(live.size() / 2);
    std::ranges::nth_element(live, middle);
    return *middle;
}

}  // namespace

template <>
enum_table<common_reference> enum_names<common_reference>() {
    using enum common_reference;
    static constexpr named_value<common_reference> values[]{
        {automatic, "auto"}, {none, "none"}, {median, "median"}};
    return {"common reference", values};
}

struct filtered_recording::parts {
    parts(recording from, const preprocessing_options& options)
        : source(std::move(from)), recipe(recipe_for(source, options)) {}

    recording source;
    trace_recipe recipe;
    std::vector<double> noise{};
    std::vector<double> direction{};
    std::vector<std::uint32_t> noisy{};
    std::vector<char> is_left_out{};

    trace_block read(std::uint64_t first, std::size_t count, std::size_t apron) const;
    void to_contacts(std::uint64_t first, std::span<float> frames) const;
    std::vector<std::vector<float>> excerpts(const execution& run) const;
    std::vector<float> excerpt(std::size_t block) const;
    void estimate_whitening(const execution& run);
    void estimate_noise(const execution& run);
    void leave_out_unusual();
    void choose_referenced();
    void undo_motion(const std::shared_ptr<const probe_motion>& moved);
};

// Computes frames [first - apron, first + count + apron) from all frames within reach.
trace_block filtered_recording::parts::read(std::uint64_t first, std::size_t count,
                                            std::size_t apron) const {
    const std::size_t channels = source.channel_count();
    trace_block out{.first = first, .frames = count, .apron = apron, .channels = channels};
    out.values.assign((count + 2 * apron) * channels, 0.0F);
    const block_span span = span_of(source.frame_count(), first, count, apron, recipe.reach);
    std::vector<std::int16_t> counts(static_cast<std::size_t>(span.data_end - span.begin) *
                                     channels);
    source.read(span.begin, counts);
    const std::size_t skipped = static_cast<std::size_t>(span.kept_begin - span.begin) * channels;
    const std::span<float> kept = std::span{out.values}.subspan(
        static_cast<std::size_t>(span.kept_begin + apron - first) * channels,
        static_cast<std::size_t>(span.kept_end - span.kept_begin) * channels);
    if (recipe.causal) {
        counts.resize(static_cast<std::size_t>(span.kept_end - span.begin) * channels);
        const std::vector<float> values =
            trace_stream({recipe.sections, recipe.referenced}, source.channels()).next(counts);
        std::ranges::copy(std::span{values}.subspan(skipped), kept.begin());
        to_contacts(span.kept_begin, kept);
        return out;
    }
    std::vector<double> frames(static_cast<std::size_t>(span.end - span.begin) * channels);
    std::vector<double> gains(channels);
    for (std::size_t c = 0; c < channels; ++c) gains[c] = source.channels()[c].gain_uv;
    for (std::size_t at = 0; at < counts.size(); at += channels)
        for (std::size_t c = 0; c < channels; ++c) frames[at + c] = gains[c] * counts[at + c];
    for (std::size_t at = counts.size(); at < frames.size(); ++at)
        frames[at] = frames[at - channels];
    filter_both_ways(recipe.sections, channels, frames);

    const std::span<double> filtered = std::span{frames}.subspan(skipped, kept.size());
    if (!recipe.referenced.empty()) subtract_medians(channels, recipe.referenced, filtered);
    std::ranges::transform(filtered, kept.begin(), [](double x) { return static_cast<float>(x); });
    to_contacts(span.kept_begin, kept);
    return out;
}

// Undoes the motion, and whitens, as far as the recipe has it.
void filtered_recording::parts::to_contacts(std::uint64_t first, std::span<float> frames) const {
    if (recipe.shift) recipe.shift->apply(first, frames);
    if (!recipe.whitening.empty()) whitener(recipe.whitening, source.channel_count()).apply(frames);
}

// Returns every fourth frame of a block, because neighbouring frames are nearly equal.
std::vector<float> filtered_recording::parts::excerpt(std::size_t number) const {
    const std::size_t channels = source.channel_count();
    const std::uint64_t first = std::uint64_t{number} * standard_block_frames;
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>(standard_block_frames, source.frame_count() - first));
    const trace_block block = read(first, count, 0);
    std::vector<float> out;
    out.reserve((count / excerpt_step + 1) * channels);
    for (std::size_t f = 0; f < count; f += excerpt_step) {
        const float* const frame = block.frame(static_cast<std::int64_t>(f));
        out.insert(out.end(), frame, frame + channels);
    }
    return out;
}

// Returns excerpts of up to 32 blocks, which ranks share, one list per channel.
std::vector<std::vector<float>> filtered_recording::parts::excerpts(const execution& run) const {
    constexpr std::size_t most_blocks = 32;
    const std::uint64_t total = source.frame_count();
    const std::uint64_t blocks = (total + standard_block_frames - 1) / standard_block_frames;
    std::vector<std::size_t> taken(
        static_cast<std::size_t>(std::min<std::uint64_t>(blocks, most_blocks)));
    for (std::size_t i = 0; i < taken.size(); ++i)
        taken[i] = static_cast<std::size_t>(i * blocks / taken.size());
    const parallel::rank_block own = parallel::block_of_rank(taken.size(), run);
    const std::span<const std::size_t> own_blocks = std::span{taken}.subspan(own.begin, own.size());
    std::vector<std::vector<float>> by_block(own.size());
    if (run.devices.empty() || recipe.needs_cpu()) {
        parallel::parallel_for(own.size(), run, "noise",
                               [&](std::size_t i) { by_block[i] = excerpt(own_blocks[i]); });
    } else if (!own_blocks.empty()) {
        by_block = excerpts_on_devices(source, recipe, own_blocks, run);
    }
    std::vector<float> frames;
    for (std::vector<float>& block : by_block) {
        frames.insert(frames.end(), block.begin(), block.end());
        block = {};
    }
    parallel::join_ranks(frames, run);
    const std::size_t channels = source.channel_count();
    std::vector<std::vector<float>> by_channel(channels);
    parallel::parallel_for(channels, run, "noise", [&](std::size_t c) {
        by_channel[c].reserve(frames.size() / channels);
        for (std::size_t at = c; at < frames.size(); at += channels)
            by_channel[c].push_back(frames[at]);
    });
    return by_channel;
}

void filtered_recording::parts::estimate_noise(const execution& run) {
    constexpr double median_of_normal = 0.6744897501960817;
    noise.assign(source.channel_count(), 0.0);
    direction.assign(source.channel_count(), 0.0);
    if (source.frame_count() == 0) return;
    std::vector<std::vector<float>> traces = excerpts(run);
    parallel::parallel_for(traces.size(), run, "noise", [&](std::size_t c) {
        if (!is_left_out.empty() && is_left_out[c] != 0) return;
        std::vector<float> sizes(traces[c].size());
        std::ranges::transform(traces[c], sizes.begin(), [](float x) { return std::abs(x); });
        const double median = recipe.shift
                                  ? median_of_noisier(sizes, standard_block_frames / excerpt_step)
                                  : median_of(sizes);
        noise[c] = median / median_of_normal;
        if (noise[c] > 0) direction[c] = direction_of(traces[c], noise[c]);
    });
}

void filtered_recording::parts::leave_out_unusual() {
    constexpr double too_much = 5;
    constexpr double too_little = 0.1;  // the noise of an amplifier without an electrode
    const double usual = usual_noise(noise);
    if (usual == 0) return;
    is_left_out.resize(noise.size());
    for (std::uint32_t c = 0; c < noise.size(); ++c) {
        if (noise[c] > too_much * usual) noisy.push_back(c);
        if (noise[c] <= too_much * usual && noise[c] >= too_little * usual) continue;
        is_left_out[c] = 1;
        noise[c] = direction[c] = 0;
    }
}

// Uses the noise measured without a reference. With a reference, a dead channel would contain the
// negative median of all others, which is not its own noise.
void filtered_recording::parts::choose_referenced() {
    for (std::uint32_t c = 0; c < noise.size(); ++c)
        if (noise[c] > 0) recipe.referenced.push_back(c);
}

// Channels without noise would only take their neighbours' signals, and are left as they are.
void filtered_recording::parts::undo_motion(const std::shared_ptr<const probe_motion>& moved) {
    std::vector<bool> live;
    for (const double sd : noise) live.push_back(sd > 0);
    recipe.shift = std::make_shared<record::motion_shift>(moved, source, live);
}

void filtered_recording::parts::estimate_whitening(const execution& run) {
    recipe.whitening = whitening_of(excerpts(run), noise, source.channels(), run);
}

filtered_recording::filtered_recording(recording from, const preprocessing_options& options,
                                       const execution& run) {
    const auto made = std::make_shared<parts>(std::move(from), options);
    made->estimate_noise(run);
    made->leave_out_unusual();
    if (made->recipe.reference == common_reference::median) {
        made->choose_referenced();
        made->estimate_noise(run);
    }
    if (options.moved && !options.moved->empty()) {
        if (options.causal)
            throw invalid_argument(
                "motion cannot be undone in traces that are filtered forward only");
        made->undo_motion(options.moved);
        made->estimate_noise(run);
    }
    if (options.whiten && made->source.frame_count() > 0) {
        made->estimate_whitening(run);
        made->estimate_noise(run);
    }
    parts_ = made;
}

filtered_recording::filtered_recording(recording from, const trace_settings& settings,
                                       const std::shared_ptr<const probe_motion>& moved) {
    const auto made = std::make_shared<parts>(std::move(from), preprocessing_options{});
    made->recipe.causal = true;
    made->recipe.sections = settings.sections;
    made->recipe.reach = reach_of(settings.sections, faded);
    made->recipe.referenced = settings.referenced;
    made->recipe.whitening = settings.whitening;
    made->noise = settings.noise;
    made->direction.assign(settings.noise.size(), 0.0);
    if (moved && !moved->empty()) made->undo_motion(moved);
    parts_ = made;
}

const recording& filtered_recording::source() const {
    return parts_->source;
}

common_reference filtered_recording::reference() const {
    return parts_->recipe.reference;
}

std::span<const double> filtered_recording::noise() const {
    return parts_->noise;
}

std::span<const double> filtered_recording::direction() const {
    return parts_->direction;
}

std::span<const std::uint32_t> filtered_recording::noisy() const {
    return parts_->noisy;
}

void filtered_recording::read(std::uint64_t first, std::span<float> into) const {
    const std::size_t channels = source().channel_count();
    const std::uint64_t total = source().frame_count();
    const std::uint64_t end = first + into.size() / channels;
    if (into.size() % channels != 0 || first > total || end > total)
        throw invalid_argument(
            fmt::format("{} samples from frame {} of a recording of {} frames and {} channels",
                        into.size(), first, total, channels));
    const block_reader blocks(*this);
    for (std::uint64_t at = first; at < end;) {
        const auto number = static_cast<std::size_t>(at / standard_block_frames);
        const trace_block block = blocks.read(number);
        const std::uint64_t stop = std::min<std::uint64_t>(end, block.first + block.frames);
        std::copy_n(block.frame(static_cast<std::int64_t>(at - block.first)),
                    static_cast<std::size_t>(stop - at) * channels,
                    into.begin() + static_cast<std::ptrdiff_t>((at - first) * channels));
        at = stop;
    }
}

namespace record {

block_reader::block_reader(const filtered_recording& traces, std::size_t apron,
                           std::size_t block_frames)
    : parts_(traces.parts_), apron_(apron), block_frames_(block_frames) {}

const recording& block_reader::source() const {
    return parts_->source;
}

const trace_recipe& block_reader::recipe() const {
    return parts_->recipe;
}

std::size_t block_reader::block_count() const {
    return static_cast<std::size_t>((parts_->source.frame_count() + block_frames_ - 1) /
                                    block_frames_);
}

trace_block block_reader::read(std::size_t block) const {
    const std::uint64_t first = static_cast<std::uint64_t>(block) * block_frames_;
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>(block_frames_, parts_->source.frame_count() - first));
    return parts_->read(first, count, apron_);
}

}  // namespace record

trace_blocks::trace_blocks(const filtered_recording& traces, std::size_t apron)
    : reader_(std::make_shared<const block_reader>(traces, apron)) {}

const recording& trace_blocks::source() const {
    return reader_->source();
}

std::size_t trace_blocks::apron() const {
    return reader_->apron();
}

std::size_t trace_blocks::block_frames() const {
    return reader_->block_frames();
}

std::size_t trace_blocks::block_count() const {
    return reader_->block_count();
}

trace_block trace_blocks::read(std::size_t block) const {
    return reader_->read(block);
}

}  // namespace spikeweave
