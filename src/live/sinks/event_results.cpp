#include "live/sinks/event_results.hpp"

#include <optional>
#include <string_view>
#include <utility>

namespace spikeweave::live {

event_results::event_results(std::vector<armed_episode> armed, armed_patterns patterns,
                             event_taker take, delivery_reports reports)
    : armed_(std::move(armed)),
      patterns_(std::move(patterns)),
      take_(std::move(take)),
      failures_(std::move(reports)) {}

void event_results::give(live_event event) {
    const std::lock_guard lock(taking_);
    take_(std::move(event));
}

void event_results::on(const units_added& more) {
    units_.add(more.names);
}

void event_results::on(const detection& what) {
    const std::size_t given = armed_.size() + patterns_.patterns.size();
    const bool is_pattern = what.armed >= armed_.size() && what.armed < given;
    live_detection event{.is_pattern = is_pattern,
                         .number = is_pattern ? what.armed - armed_.size() : what.armed,
                         .times_us = {what.times_us.begin(), what.times_us.end()},
                         .begin_us = what.begin_us,
                         .suppressed = std::string(to_string(what.suppressed))};
    const auto units = units_.now();
    if (is_pattern) {
        for (const auto& item : patterns_.patterns[event.number])
            event.units.push_back((*units)[item.unit]);
    } else {
        const episode& occurred =
            what.armed < given ? armed_[what.armed].what : armed_later_[what.armed - given];
        for (const unit_id unit : occurred.units) event.units.push_back((*units)[unit]);
    }
    give(std::move(event));
}

void event_results::on(const arming_change& change) {
    const std::size_t given = armed_.size() + patterns_.patterns.size();
    for (const newly_armed& one : change.armed)
        if (one.armed == given + armed_later_.size()) armed_later_.push_back(one.what);
    if (change.was_told) return;
    const auto tell = [&, units = units_.now()](std::string_view what, const episode& of,
                                                std::optional<std::size_t> number,
                                                std::optional<double> per_minute) {
        live_arming event{.change = std::string(what),
                          .number = number,
                          .delays = of.delays,
                          .from_us = change.from.time_us,
                          .window = change.window,
                          .window_epoch = change.due.epoch,
                          .is_late = change.is_late,
                          .per_minute = per_minute};
        for (const unit_id unit : of.units) event.units.push_back((*units)[unit]);
        give(std::move(event));
    };
    for (const newly_armed& one : change.armed) tell("armed", one.what, one.armed, one.per_minute);
    for (const std::size_t number : change.disarmed)
        tell("disarmed", armed_later_[number - given], number, {});
    for (const refused_episode& one : change.refused)
        tell(reason_of(one), one.what, {}, one.per_minute);
}

// Another thread may call it. The event is made before others have to wait.
void event_results::on(const mined_window& window) {
    const auto units = units_.now();
    live_window event{.mined = window.mined,
                      .unit_names = {units, &units->all()},
                      .has_gap = window.has_gap,
                      .epoch = window.epoch};
    std::vector<counted_episode>& episodes = event.mined.table.episodes;
    episodes.clear();
    for (const counted_episode* const one : units->ordered(window.mined.table))
        episodes.push_back(*one);
    give(std::move(event));
}

void event_results::on(const counts_in_window& now) {
    give(live_counts{now.window, {now.counts.begin(), now.counts.end()}});
}

void event_results::on(const epoch_ended& /*end*/) {
    give(live_epoch{++epochs_});
}

void event_results::on(const chance_rates& rates) {
    give(live_chance{{duration{rates.begin_us}, duration{rates.end_us}}, rates.per_minute});
}

void event_results::on(const block_ended& block) {
    tell_losses(block.counts);
}

void event_results::on(const session_ended& end) {
    tell_losses(end.counts);
}

void event_results::on(const samples_waiting& now) {
    give(live_alarm{.behind_s = now.behind_s});
}

void event_results::tell_losses(const session_counts& counts) {
    if (auto losses = alarm_.raise(counts)) give(*losses);
    failures_.raise([&](const delivery_report& one, std::uint64_t lost) {
        live_alarm alarm = loss_alarm::losses_of(counts);
        alarm.to = one.to();
        alarm.undelivered = lost;
        alarm.reason = one.reason();
        give(std::move(alarm));
    });
}

}  // namespace spikeweave::live
