#include "live/sinks/all_results.hpp"

#include <fmt/format.h>

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

void all_results::take(const event& what) {
    what.visit(handlers{[&](const units_added& more) { units_ += more.names.size(); },
                        [&](const detection& one) { act_on(one); },
                        [&](const session_ended&) {
                            for (const auto& one : reactions_) one->take(what);
                        }});
    for (const auto& one : sinks_) one->take(what);
    what.visit(handlers{[&](const block_ended& block) { tell_progress(block.counts); }});
}

void all_results::act_on(const detection& what) {
    if (are_reactions_held_ || reactions_.empty()) return;
    detection arrived = what;
    arrived.arrived_after = arriving_.of(what.end_us);
    for (const auto& one : reactions_) one->take(arrived);
}

// The time that is left is estimated for a task as a whole, so its name must stay.
void all_results::tell_progress(const session_counts& counts) {
    if (!run_.on_progress) return;
    if (counts.arming && spikes_ == 0)
        task_ = fmt::format("spikes, {} episodes armed", counts.arming->armed_now);
    run_.on_progress({task_, counts.order.accepted, spikes_});
}

}  // namespace spikeweave::live
