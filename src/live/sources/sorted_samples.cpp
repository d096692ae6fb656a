#include "live/sources/sorted_samples.hpp"

#include <algorithm>
#include <utility>

namespace spikeweave::live {

sorted_samples::sorted_samples(std::unique_ptr<sample_stream> from, template_set set,
                               std::span<const std::size_t> used)
    : from_(std::move(from)),
      set_(std::move(set)),
      sorter_(set_, from_->description()),
      ids_(set_.unit_count()) {
    for (const std::size_t u : used) {
        ids_[u] = unit_id{static_cast<std::uint32_t>(unit_names_.size())};
        unit_names_.push_back(std::to_string(u + 1));
    }
}

source_block sorted_samples::block_of(const std::vector<template_spike>& spikes,
                                      double watermark_frame) const {
    const recording_description& of = from_->description();
    const auto time_us = [&](double frame) {
        const duration after = duration_from_seconds(
            (static_cast<double>(first_) + std::max(0.0, frame)) / of.rate_hz);
        return (of.begin + after).count();
    };
    source_block out{.watermark_us = time_us(watermark_frame)};
    for (const template_spike& spike : spikes)
        if (const auto unit = ids_[spike.unit])
            out.spikes.push_back(
                {time_us(static_cast<double>(spike.frame) + spike.fraction), *unit});
    std::ranges::sort(out.spikes);
    return out;
}

// One thread: a block of a millisecond is too little work for more.
source_block sorted_samples::sorted(const sample_block& got) {
    const std::vector<template_spike> spikes = sorter_.add(got.counts, {.threads = 1});
    end_ = got.first +
           static_cast<std::int64_t>(got.counts.size() / from_->description().channels.size());
    if (const auto arrived = from_->arrived_after()) {
        const std::chrono::duration<float, std::milli> delay = clock::now() - *arrived;
        delays_ms_.insert(delays_ms_.end(), spikes.size(), delay.count());
    }
    // A peak is at most half a frame before its sample.
    source_block out = block_of(spikes, static_cast<double>(sorter_.decided_frames()) - 0.5);
    out.begins_epoch = got.begins_epoch;
    out.missing = got.missing;
    out.unreadable = got.unreadable;
    return out;
}

// The spikes that are not decided when no frames follow the last one.
source_block sorted_samples::rest() {
    return block_of(sorter_.finish({.threads = 1}), static_cast<double>(end_ - first_));
}

std::optional<source_block> sorted_samples::next() {
    if (is_over_) return {};
    const bool goes_on_after_gap = waiting_.has_value();
    const std::optional<sample_block> got =
        goes_on_after_gap ? std::exchange(waiting_, {}) : from_->next();
    is_over_ = !got;
    if (is_over_) return rest();
    if (got->counts.empty()) return source_block{.unreadable = got->unreadable};
    const bool is_first = end_ == first_;
    if (!is_first && !goes_on_after_gap && (got->begins_epoch || got->missing > 0)) {
        waiting_ = got;
        return rest();
    }
    if (is_first || goes_on_after_gap) {
        sorter_ = {set_, from_->description()};
        first_ = got->first;
    }
    return sorted(*got);
}

sorted_samples::clock::time_point sorted_samples::arrived_after() const {
    return from_->arrived_after().value_or(clock::now());
}

std::optional<delays> sorted_samples::sorting_delays() const {
    if (delays_ms_.empty()) return {};
    std::vector<float> ascending = delays_ms_;
    std::ranges::sort(ascending);
    const auto at = [&](double share) {
        return static_cast<double>(
            ascending[static_cast<std::size_t>(share * static_cast<double>(ascending.size() - 1))]);
    };
    return delays{.median_ms = at(0.5), .p99_ms = at(0.99), .p999_ms = at(0.999)};
}

}  // namespace spikeweave::live
