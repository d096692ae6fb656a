#include "live/windows/session_windows.hpp"

#include <algorithm>
#include <utility>

namespace spikeweave::live {
namespace {

// A window is mined as far as it was when it was recorded, and tested if it was.
void repeat(window_task& task, const recorded_outcome& recorded) {
    task.to_size = recorded.mined;
    task.is_untested = recorded.was_tested == false;
    if (task.to_size == std::size_t{0}) task.spikes.reset();
}

// So many windows without a spike are given one by one if they become complete at once.
constexpr std::size_t most_silent_windows = 1'000;

std::int64_t later_by(std::int64_t time_us, duration by) {
    return time_us > INT64_MAX - by.count() ? INT64_MAX : time_us + by.count();
}

}  // namespace

session_windows::session_windows(std::vector<std::string> unit_names,
                                 const episode_window_options& options, const window_pace& pace,
                                 sink& results, arming_decider* decider)
    : results_(&results),
      windows_grow_(options.length == duration{0}),
      windows_(std::move(unit_names), options),
      decider_(decider),
      search_(options, pace, results, decider) {
    if (pace.beside) beside_ = std::make_unique<window_miner>(search_, pace.budget.has_value());
}

void session_windows::mine_as_recorded(std::vector<recorded_outcome> recorded) {
    recorded_.assign(recorded.begin(), recorded.end());
    recorded_are_ = recorded_use::mined_again;
}

void session_windows::leave_out(std::vector<recorded_outcome> recorded) {
    recorded_.assign(recorded.begin(), recorded.end());
    recorded_are_ = recorded_use::left_out;
}

void session_windows::open_gap(std::int64_t begin) {
    if (!gaps_.empty() && (windows_grow_ || !gaps_.back().end)) return;
    gaps_.push_back({begin, {}});
}

void session_windows::close_gap(std::int64_t watermark_us, duration most_delay) {
    if (gaps_.empty() || gaps_.back().end || watermark_us <= gaps_.back().begin) return;
    gaps_.back().end = later_by(later_by(watermark_us, most_delay), duration{1});
}

bool session_windows::has_gap(duration begin, duration end) const {
    return std::any_of(gaps_.begin(), gaps_.end(), [&](const gap& one) {
        return one.begin < end.count() && (!one.end || *one.end > begin.count());
    });
}

// Later windows begin at this time or later.
void session_windows::forget_gaps_before(duration time) {
    if (windows_grow_) return;
    std::erase_if(gaps_, [&](const gap& one) { return one.end && *one.end <= time.count(); });
}

void session_windows::mine_before(std::int64_t time_us, const execution& run) {
    windows_.advance(time_us);
    std::size_t silent = 0;
    for (;;) {
        silent = windows_.next_is_silent() ? silent + 1 : 0;
        if (silent > most_silent_windows) skip_silent();
        const auto spikes = windows_.take();
        if (!spikes) return;
        mine(*spikes, run);
        forget_gaps_before(spikes->bounds().begin);
    }
}

// Where the time of a stream leaps, windows without a spike become complete by the thousands.
void session_windows::skip_silent() {
    const auto skipped = windows_.skip_silent();
    if (!skipped) return;
    const auto& [first, last] = *skipped;
    give({.silent = silent_range{*skipped, epoch_, has_gap(first.begin, last.end)}});
    forget_gaps_before(last.begin);
}

void session_windows::give(window_task task) {
    if (beside_)
        beside_->give(std::move(task));
    else
        search_.run(std::move(task));
}

void session_windows::mine(const window_spikes& spikes, const execution& run) {
    window_task task{.spikes = spikes, .complete_at = search_limit::clock::now(), .how = run};
    task.result.mined.bounds = spikes.bounds();
    task.result.mined.spikes = spikes.size();
    task.result.has_gap = has_gap(spikes.bounds().begin, spikes.bounds().end);
    task.result.input = results_->place().input;
    task.result.epoch = epoch_;
    if (decider_ != nullptr && decider_->depends_on(spikes.bounds())) task.decision = decisions_++;
    if (recorded_.empty()) {
        if (recorded_are_ == recorded_use::mined_again) repeat(task, {.mined = 0});
    } else {
        const recorded_outcome outcome = recorded_.front();
        recorded_.pop_front();
        repeat(task, outcome);
        if (recorded_are_ == recorded_use::left_out) {
            left_out_.add(outcome);
            if (task.decision && *task.decision >= decider_->first_needed())
                search_.decide_again(std::move(task));
            return;
        }
    }
    give(std::move(task));
}

void session_windows::end_epoch() {
    windows_.flush();
    gaps_.clear();
    ++epoch_;
}

void session_windows::finish() {
    if (beside_) beside_->finish();
}

void session_windows::throw_if_failed() const {
    if (beside_) beside_->throw_if_failed();
}

window_counts session_windows::counts() const {
    window_counts all = search_.counts();
    all.mined += left_out_.mined;
    all.incomplete += left_out_.incomplete;
    all.skipped += left_out_.skipped;
    all.untested += left_out_.untested;
    return all;
}

}  // namespace spikeweave::live
