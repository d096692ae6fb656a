#include "live/arming/auto_arming.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "live/detection/armed_detectors.hpp"
#include "live/session/session_options.hpp"
#include "live/sinks/sink.hpp"
#include "live/triggers/false_alarm_limit.hpp"

namespace spikeweave::live {

auto_arming::auto_arming(const session_options& options, armed_detectors& detectors, sink& results)
    : settings_(*options.arming),
      given_(detectors.given()),
      detectors_(&detectors),
      results_(&results),
      decider_(settings_, *options.windows) {
    for (const armed_episode& one : options.armed) given_episodes_.insert(one.what);
}

void auto_arming::resume(std::vector<arming_change> changes) {
    decider_.decide_from(changes.size());
    recorded_.assign(std::make_move_iterator(changes.begin()),
                     std::make_move_iterator(changes.end()));
}

void auto_arming::before_spike(std::int64_t time_us) {
    const stream_position now{epoch_, time_us};
    for (; !recorded_.empty() && recorded_.front().from <= now; recorded_.pop_front()) {
        recorded_.front().was_told = true;
        apply(recorded_.front());
    }
    while (recorded_.empty()) {
        if (!next_) next_ = decider_.take();
        if (!next_ || !may_take_effect(*next_, now)) break;
        const auto from_us = effect_of(*next_, time_us);
        if (!from_us) break;
        apply(change_by(*std::exchange(next_, {}), *from_us));
    }
    last_ = now;
}

void auto_arming::end_epoch() {
    ++epoch_;
}

bool auto_arming::may_take_effect(const arming_decision& decision, stream_position now) const {
    if (!positions_) return results_->place().takes_new_results;
    return decision.number < positions_->size() && (*positions_)[decision.number] <= now;
}

// From which time on it counts, if that is not after this spike. A decision that is due after the
// end of its epoch counts for the next one. If it is late, spikes at the time of the last one do
// not count, as if they had all been processed.
std::optional<std::int64_t> auto_arming::effect_of(const arming_decision& decision,
                                                   std::int64_t time_us) const {
    const bool is_late = last_ >= decision.due;
    if (is_late && last_.epoch == epoch_)
        return time_us > last_.time_us ? std::optional(last_.time_us + 1) : std::nullopt;
    if (decision.due.epoch < epoch_) return time_us;
    return time_us >= decision.due.time_us ? std::optional(decision.due.time_us) : std::nullopt;
}

arming_change auto_arming::change_by(const arming_decision& decision, std::int64_t from_us) {
    arming_change change{.number = decision.number,
                         .window = decision.window,
                         .due = decision.due,
                         .from = {epoch_, from_us},
                         .is_late = last_ >= decision.due};
    for (const auto& [number, what] : armed_)
        if (!std::ranges::binary_search(decision.wanted, what)) change.disarmed.push_back(number);
    for (const expected_episode& one : decision.to_arm) choose(one, change);
    return change;
}

void auto_arming::choose(const expected_episode& one, arming_change& change) {
    if (given_episodes_.contains(one.what)) return;
    const auto known = numbers_.find(one.what);
    if (known != numbers_.end() && armed_.contains(known->second)) return;
    const auto& most = settings_.max_false_alarms;
    const bool by_chance = most && is_above(one.per_minute, *most);
    const std::size_t armed = given_ + armed_.size() + change.armed.size() - change.disarmed.size();
    if (by_chance || armed >= settings_.rule.max_armed) {
        if (!refused_.contains(one.what))
            change.refused.push_back({one.what, one.per_minute, by_chance});
        return;
    }
    const auto number = numbers_.emplace(one.what, given_ + numbers_.size()).first->second;
    change.armed.push_back({number, one.what, one.per_minute});
}

void auto_arming::apply(const arming_change& change) {
    for (const std::size_t number : change.disarmed) {
        detectors_->disarm(number, change.from.time_us);
        armed_.erase(number);
    }
    for (const auto& [number, what, per_minute] : change.armed) {
        detectors_->arm(number, what, per_minute, change.from.time_us);
        numbers_.emplace(what, number);
        armed_.emplace(number, what);
    }
    for (const refused_episode& one : change.refused) refused_.insert(one.what);
    counts_.armed += change.armed.size();
    counts_.disarmed += change.disarmed.size();
    counts_.refused = refused_.size();
    counts_.late += change.is_late_change() ? 1 : 0;
    counts_.armed_now = armed_.size();
    results_->take(change);
}

}  // namespace spikeweave::live
