#include "live/sinks/all_results.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace spikeweave::live {

all_results::all_results(execution run, std::uint64_t spikes)
    : run_(std::move(run)), spikes_(spikes) {}

void all_results::add(std::unique_ptr<sink> one) {
    sinks_.push_back(std::move(one));
}

void all_results::add_reaction(std::unique_ptr<reaction> one) {
    reactions_.push_back(std::move(one));
}

void all_results::units_added(std::span<const std::string> names) {
    units_ += names.size();
    for (const auto& one : sinks_) one->units_added(names);
}

void all_results::accepted(std::span<const spike_event> spikes) {
    for (const auto& one : sinks_) one->accepted(spikes);
}

void all_results::detected(const detection& what) {
    if (!are_reactions_held_ && !reactions_.empty()) {
        detection arrived = what;
        arrived.arrived_after = arriving_.of(what.end_us);
        for (const auto& one : reactions_) one->detected(arrived);
    }
    for (const auto& one : sinks_) one->detected(what);
}

void all_results::mined(const mined_window& window) {
    for (const auto& one : sinks_) one->mined(window);
}

void all_results::silent(const silent_range& windows) {
    for (const auto& one : sinks_) one->silent(windows);
}

void all_results::counted(const time_span& window, std::span<const std::uint64_t> counts) {
    for (const auto& one : sinks_) one->counted(window, counts);
}

void all_results::arming_changed(const arming_change& change) {
    for (const auto& one : sinks_) one->arming_changed(change);
}

void all_results::epoch_ended() {
    for (const auto& one : sinks_) one->epoch_ended();
}

void all_results::chance_measured(const chance_rates& rates) {
    for (const auto& one : sinks_) one->chance_measured(rates);
}

void all_results::block_ended(const session_counts& counts) {
    for (const auto& one : sinks_) one->block_ended(counts);
    if (!run_.on_progress) return;
    // The time that is left is estimated for a task as a whole, so its name must stay.
    if (counts.arming && spikes_ == 0)
        task_ = fmt::format("spikes, {} episodes armed", counts.arming->armed_now);
    run_.on_progress({task_, counts.order.accepted, spikes_});
}

void all_results::tallied(std::span<const armed_tally> armed) {
    for (const auto& one : sinks_) one->tallied(armed);
}

void all_results::session_ended(const session_counts& counts) {
    for (const auto& one : reactions_) one->session_ended(counts);
    for (const auto& one : sinks_) one->session_ended(counts);
}

}  // namespace spikeweave::live
