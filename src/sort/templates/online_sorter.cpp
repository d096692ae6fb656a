#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "parallel/parallel_for.hpp"
#include "sort/templates/filter_bank.hpp"
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
// Frames whose scores are known together. While those of a piece are computed, spikes of the one
// before it are decided, so pieces are a small part of the samples that have waited.
constexpr std::int64_t most_frames_together = 1024;

// Some frames on their way to spikes.
struct piece {
    integer_block frames{};
    score_table scores{};
    std::vector<template_spike> spikes{};
    std::int64_t decided = 0;  // frames, after it
};

// A spike that has been returned, and still changes the scores of frames that are not decided.
struct decided_spike {
    std::int64_t frame = 0;
    block_match match{};
};

}  // namespace

struct online_sorter::state {
    state(template_set of, const recording_description& from, const probe_motion& known_motion,
          const execution& run)
        : set(std::move(of)),
          channels(from.channels.size()),
          traces(parts().traces, from.channels, scale_of(parts().traces.noise), run),
          filters(score_stream_of(parts().plan.filters, parts().window.size(), run)),
          block(static_cast<std::int64_t>(block_frames(from.rate_hz))),
          after_block(std::llround(after_block_s * from.rate_hz)),
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
    std::size_t channels;
    scaled_trace_stream traces;
    std::unique_ptr<score_stream> filters;
    std::int64_t block;
    std::int64_t after_block;
    score_table scores{};  // of frames that are not decided
    std::int64_t scores_first;
    std::int64_t decided = 0;
    std::int64_t received = 0;
    std::vector<decided_spike> known{};
    double rate_hz;
    std::optional<motion_follower> follower{};
    std::optional<unexplained_traces> unexplained{};

    const template_set::parts& parts() const { return set.internals(); }
    piece scored(integer_block frames, const execution& run);
    piece scored(std::span<const std::int16_t> counts, const execution& run);
    void add_scores(const score_table& fresh);
    void decide(piece& of);
    void decide_block(std::vector<template_spike>& out);
    void search(const piece& of);
    void sort(std::span<const std::int16_t> counts, std::vector<template_spike>& out,
              const execution& run);
    std::int64_t end_of_bin() const;
    void begin_bin();
};

piece online_sorter::state::scored(integer_block frames, const execution& run) {
    piece out{.frames = std::move(frames)};
    out.scores = filters->next(out.frames, run);
    return out;
}

piece online_sorter::state::scored(std::span<const std::int16_t> counts, const execution& run) {
    return scored({.channels = channels,
                   .frames = counts.size() / channels,
                   .values = traces.next(counts, run)},
                  run);
}

void online_sorter::state::add_scores(const score_table& fresh) {
    // Those before the margin of the next block have been read for the last time.
    const auto read = static_cast<std::size_t>(std::clamp<std::int64_t>(
        decided - margin - scores_first, 0, static_cast<std::int64_t>(scores.frames)));
    const std::size_t kept = scores.frames - read;
    score_table more{.frames = kept + fresh.frames};
    more.values.resize(parts().plan.filters.size() * more.frames);
    for (std::size_t u = 0; u < parts().plan.filters.size(); ++u) {
        if (kept > 0) std::ranges::copy(scores.of(u).subspan(read), more.of(u).begin());
        std::ranges::copy(fresh.of(u), more.of(u).subspan(kept).begin());
    }
    scores = std::move(more);
    scores_first += static_cast<std::int64_t>(read);
}

void online_sorter::state::decide_block(std::vector<template_spike>& out) {
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

void online_sorter::state::decide(piece& of) {
    add_scores(of.scores);
    const std::int64_t end = scores_first + static_cast<std::int64_t>(scores.frames);
    while (decided + block + after_block + margin <= end) decide_block(of.spikes);
    of.decided = decided;
}

void online_sorter::state::search(const piece& of) {
    unexplained->add(of.frames);
    unexplained->add(of.spikes, of.decided);
}

// The three steps of different pieces take place at once.
void online_sorter::state::sort(std::span<const std::int16_t> counts,
                                std::vector<template_spike>& out, const execution& run) {
    constexpr std::size_t steps = 3;
    const std::size_t most = channels * static_cast<std::size_t>(most_frames_together);
    std::vector<piece> pieces((counts.size() + most - 1) / most);
    const auto take_step = [&](std::size_t step, std::size_t n) {
        if (step == 0)
            pieces[n] =
                scored(counts.subspan(n * most, std::min(most, counts.size() - n * most)), run);
        else if (step == 1)
            decide(pieces[n]);
        else
            search(pieces[n]);
    };
    if (pieces.size() == 1 || thread_count(run) == 1) {
        for (std::size_t n = 0; n < pieces.size(); ++n)
            for (std::size_t step = 0; step < steps; ++step) take_step(step, n);
    } else {
        for (std::size_t at = 0; at < pieces.size() + steps - 1; ++at)
            parallel::on_own_threads(steps, [&](std::size_t step) {
                if (at >= step && at - step < pieces.size()) take_step(step, at - step);
            });
    }
    for (const piece& each : pieces) out.insert(out.end(), each.spikes.begin(), each.spikes.end());
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
                             const probe_motion& known, const execution& run) {
    if (set.unit_count() == 0) throw invalid_argument("there are no templates");
    feature_basis own = set.basis();
    own.rate_hz = of.rate_hz;
    own.contacts.clear();
    for (const recording_channel& channel : of.channels)
        own.contacts.push_back({channel.x_um, channel.y_um, channel.shank});
    check_same_space(set.basis(), own);
    state_ = std::make_unique<state>(set, of, known, run);
}

online_sorter::~online_sorter() = default;
online_sorter::online_sorter(online_sorter&&) noexcept = default;
online_sorter& online_sorter::operator=(online_sorter&&) noexcept = default;

std::vector<template_spike> online_sorter::add(std::span<const std::int16_t> frames,
                                               const execution& run) {
    const std::size_t channels = state_->channels;
    if (frames.size() % channels != 0)
        throw invalid_argument(
            fmt::format("{} samples are not whole frames of {} channels", frames.size(), channels));
    std::vector<template_spike> out;
    while (!frames.empty()) {
        const auto count =
            static_cast<std::size_t>(std::min(state_->end_of_bin() - state_->received,
                                              static_cast<std::int64_t>(frames.size() / channels)));
        state_->received += static_cast<std::int64_t>(count);
        state_->sort(frames.first(channels * count), out, run);
        frames = frames.subspan(channels * count);
        if (state_->received == state_->end_of_bin()) state_->begin_bin();
    }
    return out;
}

std::vector<template_spike> online_sorter::finish(const execution& run) {
    const auto more = static_cast<std::size_t>(state_->block) + latency_frames();
    integer_block silence{.channels = state_->channels, .frames = more};
    silence.values.resize(silence.channels * more);
    piece last = state_->scored(std::move(silence), run);
    state_->decide(last);
    state_->search(last);
    std::vector<template_spike> out = std::move(last.spikes);
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
