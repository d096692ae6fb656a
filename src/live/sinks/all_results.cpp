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
                        [&](const samples_waiting& now) { behind_s_ = now.behind_s; },
                        [&](const session_ended&) {
                            for (const auto& one : reactions_) one->take(what);
                        }});
    for (const auto& one : sinks_) one->take(what);
    what.visit(handlers{[&](const block_ended& block) { tell_progress(block.counts); }});
}

void all_results::act_on(const detection& what) {
    if (are_reactions_held_) return;
    const auto came = arriving_.of(what.end_us);
    if (came) timed_.push_back({*came, std::chrono::steady_clock::now(), what.is_trigger()});
    detection arrived = what;
    arrived.arrived_after = came.value_or(block_times{}).since;
    for (const auto& one : reactions_) one->take(arrived);
}

// The time that is left is estimated for a task as a whole, so its name must stay.
void all_results::tell_progress(const session_counts& counts) {
    if (!run_.on_progress) return;
    if (counts.arming && spikes_ == 0)
        task_ = fmt::format("spikes, {} episodes armed", counts.arming->armed_now);
    if (behind_s_ > 0) task_ = fmt::format("spikes, samples have waited {:.0f} s", behind_s_);
    run_.on_progress({task_, counts.order.accepted, spikes_});
}

}  // namespace spikeweave::live
