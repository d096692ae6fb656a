#include "live/session.hpp"

#include <algorithm>
#include <utility>

namespace spikeweave::live {
namespace {

std::int64_t later_by(std::int64_t time_us, duration by) {
    return time_us > INT64_MAX - by.count() ? INT64_MAX : time_us + by.count();
}

duration most_delay_of(const order_options& options) {
    switch (options.policy) {
        case order_policy::block:
            return options.most_margin;
        case order_policy::lateness:
            return options.lateness;
        case order_policy::source:
            break;
    }
    return duration{0};
}

}  // namespace

session::session(std::vector<std::string> unit_names, const session_options& options, sink& results)
    : results_(&results),
      unit_count_(unit_names.size()),
      order_(options.order),
      most_delay_(most_delay_of(options.order)),
      detectors_(options, unit_count_, results) {
    results_->units_added(unit_names);
    if (!options.windows) return;
    windows_.emplace(std::move(unit_names), *options.windows);
    windows_grow_ = options.windows->length == duration{0};
}

void session::take(const source_block& block, const execution& run) {
    if (!block.new_units.empty()) add_units(block.new_units);
    if (block.begins_epoch) {
        end_epoch(run);
        ++counts_.epochs;
        results_->epoch_ended();
    }
    if (block.missing > 0 || block.unreadable > 0) open_gap();
    counts_.missing += block.missing;
    counts_.belated += block.belated;
    counts_.repeated += block.repeated;
    counts_.unreadable += block.unreadable;
    for (const spike_event& spike : block.spikes) {
        if (to_index(spike.unit) < unit_count_)
            order_.add(spike);
        else
            ++counts_.unreadable;
    }
    if (block.watermark_us) order_.advance(*block.watermark_us);
    analyse(order_.take(), run);
    if (order_.watermark()) {
        mine_before(*order_.watermark(), run);
        close_gap(*order_.watermark());
    }
    counts_.order = order_.counts();
    results_->block_ended(counts_);
}

void session::add_units(std::span<const std::string> names) {
    if (windows_)
        for (const std::string& name : names) windows_->add_unit(name);
    unit_count_ += names.size();
    results_->units_added(names);
}

void session::finish(const execution& run) {
    end_epoch(run);
    counts_.order = order_.counts();
    results_->tallied(detectors_.tallies());
    results_->session_ended(counts_);
}

// Spikes that were lost are not before the watermark, which says that all earlier ones had come.
void session::open_gap() {
    if (!windows_ || (!gaps_.empty() && (windows_grow_ || !gaps_.back().end))) return;
    gaps_.push_back({order_.watermark().value_or(INT64_MIN), {}});
}

// The watermark passed the beginning of the gap by what came after it. Lost spikes may be as much
// later as spikes may be late.
void session::close_gap(std::int64_t watermark_us) {
    if (gaps_.empty() || gaps_.back().end || watermark_us <= gaps_.back().begin) return;
    gaps_.back().end = later_by(later_by(watermark_us, most_delay_), duration{1});
}

bool session::has_gap(const window_bounds& bounds) const {
    return std::any_of(gaps_.begin(), gaps_.end(), [&](const gap& one) {
        return one.begin < bounds.end.count() && (!one.end || *one.end > bounds.begin.count());
    });
}

void session::analyse(std::span<const spike_event> spikes, const execution& run) {
    for (const auto& [time, unit] : spikes) {
        mine_before(time, run);
        if (windows_) windows_->add(time, unit);
        detectors_.add(time, unit);
    }
    counts_.detections = detectors_.detections();
    counts_.suppressed = detectors_.suppressed();
}

void session::mine_before(std::int64_t time_us, const execution& run) {
    if (!windows_) return;
    windows_->advance(time_us);
    while (const auto bounds = next_window(run)) {
        ++counts_.windows;
        if (windows_grow_) continue;
        std::erase_if(gaps_,
                      [&](const gap& one) { return one.end && *one.end <= bounds->begin.count(); });
    }
}

std::optional<window_bounds> session::next_window(const execution& run) {
    if (known_windows_ > 0) {
        const auto left_out = windows_->skip();
        if (left_out) --known_windows_;
        return left_out;
    }
    auto window = windows_->next(run);
    if (!window) return {};
    const window_bounds bounds = window->bounds;
    results_->mined({std::move(*window), has_gap(bounds)});
    return bounds;
}

void session::end_epoch(const execution& run) {
    analyse(order_.flush(), run);
    detectors_.end_epoch();
    if (windows_) windows_->flush();
    gaps_.clear();
}

void run_session(source& from, session& through, const execution& run,
                 const std::stop_token& abort) {
    execution whole = run;
    whole.stop = abort;
    while (!run.stop.stop_requested()) {
        const auto block = from.next();
        if (!block) break;
        through.take(*block, whole);
    }
    through.finish(whole);
}

}  // namespace spikeweave::live
