#include "live/session/session.hpp"

#include <utility>

#include "core/stop.hpp"
#include "live/arming/auto_arming.hpp"
#include "live/detection/tracked_counts.hpp"
#include "live/windows/session_windows.hpp"

namespace spikeweave::live {
namespace {

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
    counts_.patterns = options.patterns.patterns.size();
    results_->take(units_added{unit_names});
    if (options.tracking.every > duration{0} && !options.armed.empty())
        tracked_ = std::make_unique<tracked_counts>(
            options.armed, unit_count_, options.detector.ties, options.tracking, results);
    if (options.arming) arming_ = std::make_unique<auto_arming>(options, detectors_, results);
    if (options.windows)
        windows_ =
            std::make_unique<session_windows>(std::move(unit_names), *options.windows, options.pace,
                                              results, arming_ ? &arming_->decider() : nullptr);
}

session::~session() = default;

void session::leave_out_windows(std::vector<recorded_outcome> recorded) {
    if (windows_) windows_->leave_out(std::move(recorded));
}

void session::mine_as_recorded(std::vector<recorded_outcome> recorded) {
    if (windows_) windows_->mine_as_recorded(std::move(recorded));
}

void session::resume_arming(std::vector<arming_change> recorded) {
    if (arming_) arming_->resume(std::move(recorded));
}

void session::arm_as_recorded(std::vector<stream_position> recorded) {
    if (arming_) arming_->take_effect_at(std::move(recorded));
}

void session::take(const source_block& block, const execution& run) {
    if (windows_) windows_->throw_if_failed();
    if (!block.new_units.empty()) add_units(block.new_units);
    if (block.begins_epoch) {
        end_epoch(run);
        ++counts_.epochs;
        results_->take(epoch_ended{});
    }
    // Spikes that were lost are not before the watermark, which says that all earlier ones had
    // come.
    if (windows_ && (block.missing > 0 || block.unreadable > 0))
        windows_->open_gap(order_.watermark().value_or(INT64_MIN));
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
    if (const auto watermark = order_.watermark(); windows_ && watermark) {
        windows_->mine_before(*watermark, run);
        windows_->close_gap(*watermark, most_delay_);
    }
    if (const auto watermark = order_.watermark(); tracked_ && watermark)
        tracked_->advance(*watermark);
    update_counts();
    results_->take(block_ended{counts_});
}

void session::add_units(std::span<const std::string> names) {
    if (windows_)
        for (const std::string& name : names) windows_->add_unit(name);
    unit_count_ += names.size();
    results_->take(units_added{names});
}

void session::finish(const execution& run) {
    results_->take(session_ends{});
    end_epoch(run);
    if (windows_) windows_->finish();
    update_counts();
    const std::vector<armed_tally> armed = detectors_.tallies();
    counts_.monitored = armed.size();
    results_->take(armed_tallied{armed});
    results_->take(session_ended{counts_});
}

void session::update_counts() {
    counts_.order = order_.counts();
    if (arming_) counts_.arming = arming_->counts();
    if (!windows_) return;
    const window_counts windows = windows_->counts();
    counts_.windows = windows.mined;
    counts_.incomplete = windows.incomplete;
    counts_.skipped = windows.skipped;
    counts_.untested = windows.untested;
}

void session::analyse(std::span<const spike_event> spikes, const execution& run) {
    for (const auto& [time, unit] : spikes) {
        if (windows_) {
            windows_->mine_before(time, run);
            windows_->add({time, unit});
        }
        if (tracked_) tracked_->add({time, unit});
        if (arming_) arming_->before_spike(time);
        detectors_.add(time, unit);
    }
    results_->take(spikes_accepted{spikes});
    counts_.detections = detectors_.detections();
    counts_.suppressed = detectors_.suppressed();
}

void session::end_epoch(const execution& run) {
    analyse(order_.flush(), run);
    detectors_.end_epoch();
    if (tracked_) tracked_->end_epoch();
    if (arming_) arming_->end_epoch();
    if (windows_) windows_->end_epoch();
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
    core::throw_if_stopped(abort);  // so that what is recorded remains a session that goes on
    through.finish(whole);
}

}  // namespace spikeweave::live
