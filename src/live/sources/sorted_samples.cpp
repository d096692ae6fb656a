#include "live/sources/sorted_samples.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

// The watermark is half a frame before the first one that is not decided, or at it.
std::int64_t first_frame_after(std::int64_t watermark_us, const recording_description& of) {
    const double after_s = to_seconds(duration{watermark_us} - of.begin);
    return static_cast<std::int64_t>(std::ceil(after_s * of.rate_hz - 0.25));
}

sorted_samples::sorted_samples(std::unique_ptr<sample_stream> from, template_set set,
                               std::span<const std::size_t> used, motion_model drift, execution run,
                               std::optional<interrupted_session> resumed)
    : from_(std::move(from)),
      run_(std::move(run)),
      set_(std::move(set)),
      unmoved_(unmoved(from_->description(), drift)),
      sorter_(set_, from_->description(), unmoved_, run_),
      sorted_channels_(from_->description().channels),
      resumed_(std::move(resumed)),
      ids_(set_.unit_count()),
      facts_(from_->description().channels.size(), from_->description().rate_hz) {
    for (const std::size_t u : used) {
        ids_[u] = unit_id{static_cast<std::uint32_t>(unit_names_.size())};
        unit_names_.push_back(std::to_string(u + 1));
    }
    if (!run_.devices.empty()) load_device_code();
}

// What a device loads when it is first used would delay the first samples.
void sorted_samples::load_device_code() const {
    const recording_description& of = from_->description();
    const std::size_t frames = 4 * online_sorter::block_frames(of.rate_hz);
    const std::vector<std::int16_t> silence(frames * of.channels.size());
    online_sorter(set_, of, unmoved_, run_).add(silence, {.threads = 1});
}

// The bins whose motion an interrupted session has known; the first one begins at the first frame.
probe_motion sorted_samples::resumed_motion(std::int64_t first) const {
    probe_motion out = unmoved_;
    if (out.empty() || !resumed_) return out;
    const std::size_t width = out.depths_um.size();
    const recording_description& of = from_->description();
    const auto bin_frames = static_cast<std::int64_t>(std::llround(out.time_bin_s * of.rate_hz));
    const auto extend = [&](std::int64_t bin) {
        for (auto last = std::ssize(out.times_s); last <= bin; ++last) {
            out.times_s.push_back((static_cast<double>(last) + 0.5) * out.time_bin_s);
            const std::vector<double> row(out.displacement_um.end() - std::ssize(out.depths_um),
                                          out.displacement_um.end());
            out.displacement_um.insert(out.displacement_um.end(), row.begin(), row.end());
        }
    };
    for (const motion_step& step : resumed_->motion) {
        if (step.displacement_um.size() != width)
            throw invalid_argument("drift", "the session has followed another motion");
        const std::int64_t at =
            std::llround(to_seconds(duration{step.time_us} - of.begin) * of.rate_hz);
        if (resumed_->repeats) extend((at - first) / bin_frames);
        std::ranges::copy(step.displacement_um,
                          out.displacement_um.end() - std::ssize(step.displacement_um));
    }
    if (resumed_->repeats)
        extend((first_frame_after(resumed_->watermark_us, of) - first) / bin_frames);
    return out;
}

// The motion of bins that are known has been told. A sorter that has sorted nothing is kept,
// because to make one takes longer than samples may wait, unless the stream has made its gains
// known since.
void sorted_samples::begin_to_sort(std::int64_t first, const probe_motion& known) {
    const recording_description& of = from_->description();
    if (end_ != first_ || known != unmoved_ || of.channels != sorted_channels_)
        sorter_ = {set_, of, known, run_};
    sorted_channels_ = of.channels;
    first_ = first;
    told_bins_ = known.times_s.size();
    told_um_.assign(known.displacement_um.end() - std::ssize(unmoved_.displacement_um),
                    known.displacement_um.end());
}

void sorted_samples::tell_motion(source_block& out) {
    const probe_motion& now = sorter_.motion();
    const std::size_t width = now.depths_um.size();
    const double rate_hz = from_->description().rate_hz;
    for (; told_bins_ < now.times_s.size(); ++told_bins_) {
        const auto row = std::span{now.displacement_um}.subspan(told_bins_ * width, width);
        if (std::ranges::equal(row, told_um_)) continue;
        told_um_.assign(row.begin(), row.end());
        const double frame = std::round(static_cast<double>(told_bins_) * now.time_bin_s * rate_hz);
        out.motion.push_back({time_us_of(frame), told_um_});
    }
}

// Of a frame of the sorter.
std::int64_t sorted_samples::time_us_of(double frame) const {
    const recording_description& of = from_->description();
    const duration after =
        duration_from_seconds((static_cast<double>(first_) + std::max(0.0, frame)) / of.rate_hz);
    return (of.begin + after).count();
}

source_block sorted_samples::block_of(const std::vector<template_spike>& spikes,
                                      double watermark_frame) const {
    source_block out{.watermark_us = time_us_of(watermark_frame)};
    for (const template_spike& spike : spikes)
        if (const auto unit = ids_[spike.unit])
            out.spikes.push_back(
                {time_us_of(static_cast<double>(spike.frame) + spike.fraction), *unit});
    std::ranges::sort(out.spikes);
    return out;
}

// A block of a millisecond is too little work for more than one thread.
source_block sorted_samples::sorted(const sample_block& got) {
    constexpr double large_s = 0.03;
    const recording_description& of = from_->description();
    const std::size_t frames = got.counts.size() / of.channels.size();
    const bool is_large = static_cast<double>(frames) >= large_s * of.rate_hz;
    std::vector<template_spike> spikes;
    const auto sort_or_look = [&](std::size_t step) {
        if (step == 0)
            spikes = sorter_.add(got.counts, {.threads = is_large ? run_.threads : 1});
        else
            facts_.take(got.counts);
    };
    if (is_large && thread_count(run_) > 1) {
        parallel::on_own_threads(2, sort_or_look);
    } else {
        sort_or_look(0);
        sort_or_look(1);
    }
    end_ = got.first + static_cast<std::int64_t>(frames);
    count_unexplained();
    frames_ += frames;
    // A peak is at most half a frame before its sample.
    source_block out = block_of(spikes, static_cast<double>(sorter_.decided_frames()) - 0.5);
    if (const auto arrived = from_->arrived_after();
        arrived && !from_->has_waited() && !is_repeated(out)) {
        taken_.behind_s = std::chrono::duration<double>(clock::now() - *arrived).count();
        taken_.most_behind_s = std::max(taken_.most_behind_s, taken_.behind_s);
        taken_.sorting.add(taken_.behind_s, spikes.size());
    }
    tell_motion(out);
    out.begins_epoch = got.begins_epoch;
    out.missing = got.missing;
    out.unreadable = got.unreadable;
    return out;
}

// The spikes that are not decided when no frames follow the last one.
source_block sorted_samples::rest() {
    const std::vector<template_spike> spikes = sorter_.finish({.threads = 1});
    count_unexplained();
    return block_of(spikes, static_cast<double>(end_ - first_));
}

// After a gap the tissue is where it was.
probe_motion sorted_samples::last_motion() const {
    probe_motion out = unmoved_;
    const std::vector<double>& all = sorter_.motion().displacement_um;
    out.displacement_um.assign(all.end() - std::ssize(out.displacement_um), all.end());
    return out;
}

void sorted_samples::count_unexplained() {
    taken_.unexplained += sorter_.take_unexplained().size();
}

void sorted_samples::resume(sample_block& got) const {
    if (!resumed_ || resumed_->repeats) return;
    const std::int64_t next = first_frame_after(resumed_->watermark_us, from_->description());
    got.begins_epoch = got.first < next;
    if (!got.begins_epoch) got.missing = static_cast<std::uint64_t>(got.first - next);
}

bool sorted_samples::is_repeated(const source_block& block) const {
    return resumed_ && resumed_->repeats && block.watermark_us &&
           *block.watermark_us <= resumed_->watermark_us;
}

std::optional<source_block> sorted_samples::next() {
    auto block = next_of_all();
    while (block && is_repeated(*block)) block = next_of_all();
    if (block && resumed_ && resumed_->repeats)
        std::erase_if(block->spikes, [this](const spike_event& spike) {
            return spike.time_us < resumed_->watermark_us;
        });
    return block;
}

std::optional<source_block> sorted_samples::next_of_all() {
    if (is_over_) return {};
    const bool goes_on_after_gap = waiting_.has_value();
    std::optional<sample_block> got =
        goes_on_after_gap ? std::exchange(waiting_, {}) : from_->next();
    is_over_ = !got;
    if (is_over_) return rest();
    if (got->counts.empty()) return source_block{.unreadable = got->unreadable};
    const bool is_first = end_ == first_;
    if (is_first) resume(*got);
    if (!is_first && !goes_on_after_gap && (got->begins_epoch || got->missing > 0)) {
        waiting_ = std::move(got);
        return rest();
    }
    if (is_first || goes_on_after_gap) {
        begin_to_sort(got->first, is_first ? resumed_motion(got->first) : last_motion());
        facts_.end_piece();
        if (got->has_left_out) taken_.left_out += got->missing;
    }
    return sorted(*got);
}

sorted_samples::clock::time_point sorted_samples::arrived_after() const {
    return from_->arrived_after().value_or(clock::now());
}

std::optional<sampling_state> sorted_samples::sampling() const {
    sampling_state out = taken_;
    sample_facts so_far = facts_;
    so_far.end_piece();
    const std::vector<recording_channel>& channels = from_->description().channels;
    for (std::size_t c = 0; c < channels.size(); ++c)
        out.channels.push_back(
            {channels[c].name, so_far.channels()[c].at_limit(), so_far.channels()[c].steady});
    const probe_motion& motion = sorter_.motion();
    const std::size_t windows = motion.depths_um.size();
    for (std::size_t w = 0; w < windows; ++w)
        out.motion_um.emplace_back(motion.depths_um[w],
                                   *(motion.displacement_um.end() - std::ssize(motion.depths_um) +
                                     static_cast<std::ptrdiff_t>(w)));
    out.warnings = from_->warnings();
    std::ranges::move(so_far.all_warnings(channels), std::back_inserter(out.warnings));
    const double seconds = static_cast<double>(frames_) / from_->description().rate_hz;
    if (std::string about = warning_of_unexplained(taken_.unexplained, seconds); !about.empty())
        out.warnings.push_back(std::move(about));
    return out;
}

}  // namespace spikeweave::live
