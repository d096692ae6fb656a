#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "parallel/parallel_for.hpp"
#include "sort/templates/motion_follower.hpp"
#include "sort/templates/template_set.hpp"
#include "sort/templates/unexplained_traces.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/record/stream.hpp"

namespace spikeweave {

using namespace templates;

namespace {

// Spikes are decided in blocks of this length, when those that may begin so long after it are known
// as well, because they may explain a part of the traces better.
constexpr double block_s = 0.001;
constexpr double after_block_s = 0.001;
// Scores before the first frame of a block that the search reads, and after the last one.
constexpr std::int64_t margin = 2;
// Whose samples are beside each other.
constexpr std::size_t channels_together = 16;

// A spike that has been returned, and still changes the scores of frames that are not decided.
struct decided_spike {
    std::int64_t frame = 0;
    block_match match{};
};

}  // namespace

struct online_sorter::state {
    state(template_set of, const recording_description& from, const probe_motion& known_motion)
        : set(std::move(of)),
          traces(parts().traces, from.channels),
          scale(scale_of(parts().traces.noise)),
          block(static_cast<std::int64_t>(block_frames(from.rate_hz))),
          after_block(std::llround(after_block_s * from.rate_hz)),
          carried(parts().window.size() - 1),
          last_traces(carried * from.channels.size()),
          scores_first(-parts().window.after),
          rate_hz(from.rate_hz) {
        if (!known_motion.empty()) {
            std::vector<bool> live;
            for (const double sd : parts().traces.noise) live.push_back(sd > 0);
            follower.emplace(parts().plan.filters, parts().window, from.channels, live,
                             known_motion);
            traces.follow(known_motion, 0);
        }
        unexplained.emplace(parts().plan.filters, parts().window, from.channels.size(), rate_hz,
                            follower ? &*follower : nullptr);
    }

    template_set set;
    trace_stream traces;
    trace_scale scale;
    std::int64_t block;
    std::int64_t after_block;
    std::size_t carried;                    // frames of the traces that later scores need
    std::vector<std::int16_t> last_traces;  // channels x carried
    score_table scores{};                   // of frames that are not decided
    std::int64_t scores_first;
    std::int64_t decided = 0;
    std::int64_t received = 0;
    std::vector<decided_spike> known{};
    double rate_hz;
    std::optional<motion_follower> follower{};
    std::optional<unexplained_traces> unexplained{};

    const template_set::parts& parts() const { return set.internals(); }
    integer_block with_carried(std::span<const float> values, const execution& run);
    std::vector<template_spike> take(const integer_block& traces_with_carried,
                                     const execution& run);
    void add_scores(const integer_block& traces_with_carried, const execution& run);
    void decide(std::vector<template_spike>& out);
    std::int64_t end_of_bin() const;
    void begin_bin();
};

// Returns the carried frames and the new ones as integers, and carries the last of them.
integer_block online_sorter::state::with_carried(std::span<const float> values,
                                                 const execution& run) {
    const std::size_t channels = scale.factors.size();
    const std::size_t frames = values.size() / channels;
    integer_block out{.channels = channels, .frames = carried + frames};
    out.values.resize(channels * out.frames);
    const auto take_group = [&](std::size_t group) {
        const std::size_t begin = group * channels_together;
        const std::size_t end = std::min(begin + channels_together, channels);
        for (std::size_t c = begin; c < end; ++c)
            std::copy_n(last_traces.data() + c * carried, carried,
                        out.values.data() + c * out.frames);
        for (std::size_t f = 0; f < frames; ++f)
            for (std::size_t c = begin; c < end; ++c)
                out.values[c * out.frames + carried + f] =
                    static_cast<std::int16_t>(std::nearbyint(std::clamp(
                        values[f * channels + c] * scale.factors[c], -scale.limit, scale.limit)));
        for (std::size_t c = begin; c < end; ++c)
            std::copy_n(out.values.data() + c * out.frames + frames, carried,
                        last_traces.data() + c * carried);
    };
    const std::size_t groups = (channels + channels_together - 1) / channels_together;
    parallel::parallel_for(groups, {.threads = run.threads, .stop = run.stop}, "", take_group);
    return out;
}

void online_sorter::state::add_scores(const integer_block& block_of, const execution& run) {
    const std::vector<matched_filter>& filters = parts().plan.filters;
    const auto before = static_cast<std::size_t>(parts().window.before);
    const std::size_t fresh = block_of.frames - carried;
    // Those before the margin of the next block have been read for the last time.
    const auto read = static_cast<std::size_t>(std::clamp<std::int64_t>(
        decided - margin - scores_first, 0, static_cast<std::int64_t>(scores.frames)));
    const std::size_t kept = scores.frames - read;
    score_table more{.frames = kept + fresh};
    more.values.resize(filters.size() * more.frames);
    parallel::parallel_for(
        filters.size(), {.threads = run.threads, .stop = run.stop}, "", [&](std::size_t u) {
            std::vector<std::int32_t> own(block_of.frames);
            correlate(block_of, filters[u], before, own);
            if (scores.frames > 0)
                std::ranges::copy(scores.of(u).subspan(read), more.of(u).begin());
            std::ranges::copy(std::span{own}.subspan(before, fresh),
                              more.of(u).subspan(kept).begin());
        });
    scores = std::move(more);
    scores_first += static_cast<std::int64_t>(read);
}

// Decides the next block.
void online_sorter::state::decide(std::vector<template_spike>& out) {
    const match_plan& plan = parts().plan;
    const std::int64_t first = decided - margin;
    score_table window{.frames = static_cast<std::size_t>(block + after_block + 2 * margin)};
    for (std::size_t u = 0; u < plan.filters.size(); ++u) {
        const auto part =
            scores.of(u).subspan(static_cast<std::size_t>(first - scores_first), window.frames);
        window.values.insert(window.values.end(), part.begin(), part.end());
    }
    std::erase_if(known, [&](const decided_spike& spike) {
        return spike.frame + plan.overlaps.reach() + margin < first;
    });
    std::vector<block_match> before;
    for (const decided_spike& spike : known) {
        before.push_back(spike.match);
        before.back().frame = static_cast<std::int32_t>(spike.frame - first);
    }
    const std::int64_t end = decided + block;
    for (const block_match& match :
         match_block(plan, std::move(window), {.known = before, .first = margin}).spikes) {
        const std::int64_t frame = first + match.frame;
        if (frame >= end) break;
        known.push_back({frame, match});
        out.push_back({.frame = frame,
                       .fraction = static_cast<float>(match.part) / parts_of_frame,
                       .unit = match.unit,
                       .amplitude = static_cast<float>(match.size) /
                                    static_cast<float>(plan.filters[match.unit].norm)});
    }
    decided = end;
}

std::vector<template_spike> online_sorter::state::take(const integer_block& traces_with_carried,
                                                       const execution& run) {
    add_scores(traces_with_carried, run);
    unexplained->add(traces_with_carried, carried);
    std::vector<template_spike> out;
    const std::int64_t end = scores_first + static_cast<std::int64_t>(scores.frames);
    while (decided + block + after_block + margin <= end) decide(out);
    unexplained->add(out, decided);
    return out;
}

// The first frame of the next bin of the motion.
std::int64_t online_sorter::state::end_of_bin() const {
    if (!follower) return std::numeric_limits<std::int64_t>::max();
    return std::llround(static_cast<double>(follower->bin() + 1) * follower->motion().time_bin_s *
                        rate_hz);
}

void online_sorter::state::begin_bin() {
    unexplained->search_until_known(decided);
    follower->begin_bin();
    traces.follow(follower->motion(), follower->bin());
}

std::string warning_of_unexplained(std::uint64_t detections, double seconds) {
    constexpr std::uint64_t enough = 20;
    constexpr double enough_per_minute = 30;
    const double per_minute = seconds > 0 ? 60 * static_cast<double>(detections) / seconds : 0;
    if (detections < enough || per_minute < enough_per_minute) return {};
    return fmt::format(
        "{} detections are explained by no template, {:.0f} per minute: units may be "
        "new, or may have changed. Sorting the recording with `templates` reports "
        "new units apart.",
        core::grouped(detections), per_minute);
}

online_sorter::online_sorter(const template_set& set, const recording_description& of,
                             const probe_motion& known) {
    if (set.unit_count() == 0) throw invalid_argument("there are no templates");
    feature_basis own = set.basis();
    own.rate_hz = of.rate_hz;
    own.contacts.clear();
    for (const recording_channel& channel : of.channels)
        own.contacts.push_back({channel.x_um, channel.y_um, channel.shank});
    check_same_space(set.basis(), own);
    state_ = std::make_unique<state>(set, of, known);
}

online_sorter::~online_sorter() = default;
online_sorter::online_sorter(online_sorter&&) noexcept = default;
online_sorter& online_sorter::operator=(online_sorter&&) noexcept = default;

std::vector<template_spike> online_sorter::add(std::span<const std::int16_t> frames,
                                               const execution& run) {
    const std::size_t channels = state_->scale.factors.size();
    if (frames.size() % channels != 0)
        throw invalid_argument(
            fmt::format("{} samples are not whole frames of {} channels", frames.size(), channels));
    std::vector<template_spike> out;
    while (!frames.empty()) {
        const std::int64_t left = state_->end_of_bin() - state_->received;
        const auto some = frames.first(
            channels * static_cast<std::size_t>(std::min<std::int64_t>(
                           left, static_cast<std::int64_t>(frames.size() / channels))));
        frames = frames.subspan(some.size());
        state_->received += static_cast<std::int64_t>(some.size() / channels);
        const auto more =
            state_->take(state_->with_carried(state_->traces.next(some, run), run), run);
        out.insert(out.end(), more.begin(), more.end());
        if (state_->received == state_->end_of_bin()) state_->begin_bin();
    }
    return out;
}

std::vector<template_spike> online_sorter::finish(const execution& run) {
    const auto more = static_cast<std::size_t>(state_->block) + latency_frames();
    const std::vector<float> silence(more * state_->scale.factors.size());
    std::vector<template_spike> out = state_->take(state_->with_carried(silence, run), run);
    std::erase_if(out,
                  [this](const template_spike& spike) { return spike.frame >= state_->received; });
    state_->unexplained->finish(state_->received);
    return out;
}

std::vector<unexplained_detection> online_sorter::take_unexplained() {
    return state_->unexplained->take();
}

const probe_motion& online_sorter::motion() const {
    static const probe_motion none;
    return state_->follower ? state_->follower->motion() : none;
}

std::size_t online_sorter::block_frames(double rate_hz) {
    return static_cast<std::size_t>(std::max(1LL, std::llround(block_s * rate_hz)));
}

std::int64_t online_sorter::decided_frames() const {
    return state_->decided;
}

std::size_t online_sorter::latency_frames() const {
    return static_cast<std::size_t>(state_->after_block + margin + state_->parts().window.after);
}

}  // namespace spikeweave
