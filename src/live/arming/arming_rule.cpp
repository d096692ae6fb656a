#include "live/arming/arming_rule.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "live/triggers/chance_monitor.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

duration hop_of(const episode_window_options& windows) {
    return windows.hop == duration{0} ? windows.length : windows.hop;
}

}  // namespace

std::vector<episode> arming_rule::add(std::vector<episode> significant) {
    last_.push_back(std::move(significant));
    if (last_.size() > windows_) last_.pop_front();
    std::map<episode, std::uint64_t> windows_with;
    for (const auto& window : last_)
        for (const episode& one : window) ++windows_with[one];
    std::vector<episode> enough;
    for (const auto& [one, windows] : windows_with)
        if (windows >= needed_) enough.push_back(one);
    return enough;
}

void check_deciding_windows(const episode_window_options& windows) {
    if (windows.length == duration{0})
        throw invalid_argument("arm", "growing windows overlap, so they cannot decide what to arm");
    const duration hop = hop_of(windows);
    if (hop < windows.length && windows.length % hop != duration{0})
        throw invalid_argument(
            "arm", "`window` has to be a multiple of `hop`, so that windows follow on each other");
}

bool decides_arming(const window_bounds& window, const episode_window_options& windows) {
    return hop_of(windows) >= windows.length || window.begin % windows.length == duration{0};
}

std::int64_t due_after(const window_bounds& window, const episode_window_options& windows) {
    const std::int64_t hop = hop_of(windows).count();
    const std::int64_t end = window.end.count();
    return end > INT64_MAX - hop ? INT64_MAX : end + hop;
}

namespace {

// Units of a stream are numbered as they appear, so their names are compared, as in a file.
auto longest_first(const spike_sequence& spikes) {
    return [&spikes](const episode& one, const episode& other) {
        if (one.size() != other.size()) return one.size() > other.size();
        const auto [left, right] =
            std::mismatch(one.units.begin(), one.units.end(), other.units.begin());
        if (left != one.units.end()) return natural_less(spikes.name(*left), spikes.name(*right));
        return one.delays < other.delays;
    };
}

}  // namespace

std::vector<episode> significant_episodes(const spike_sequence& spikes, const episode_table& table,
                                          const execution& run) {
    const significance_options usual;
    const std::vector<episode_test> tests = test_against_null(spikes, table, usual, run);
    std::vector<episode> significant;
    for (std::size_t i = 0; i < tests.size(); ++i) {
        const episode& what = table.episodes[i].what;
        if (what.size() >= 2 && tests[i].q < usual.alpha) significant.push_back(what);
    }
    return significant;
}

arming_decider::arming_decider(const arming_settings& settings, episode_window_options windows)
    : windows_(std::move(windows)),
      windows_of_rule_(settings.rule.arm_windows),
      rule_(settings.rule) {
    check_deciding_windows(windows_);
}

std::uint64_t arming_decider::first_needed() const {
    return first_ - std::min(first_, windows_of_rule_ - 1);
}

void arming_decider::add(deciding_window window) {
    arming_decision decision = decide(window);
    if (window.number < first_) return;
    const std::lock_guard lock(mutex_);
    decisions_.push_back(std::move(decision));
    has_decisions_.store(true, std::memory_order_release);
}

arming_decision arming_decider::decide(deciding_window& window) {
    arming_decision decision{.number = window.number,
                             .window = window.bounds.number,
                             .due = {window.epoch, due_after(window.bounds, windows_)}};
    std::vector<episode>& significant = window.significant;
    std::ranges::sort(significant);
    decision.wanted = rule_.add(significant);
    std::vector<armed_episode> to_arm;
    for (const episode& one : decision.wanted)
        if (std::ranges::binary_search(significant, one)) to_arm.push_back({one});
    if (to_arm.empty()) return decision;
    std::ranges::sort(to_arm, longest_first(*window.spikes), &armed_episode::what);
    const double minutes = to_seconds(window.bounds.end - window.bounds.begin) / 60;
    const std::vector<double> expected = expected_by_chance(*window.spikes, to_arm, {});
    for (std::size_t i = 0; i < to_arm.size(); ++i)
        decision.to_arm.push_back({std::move(to_arm[i].what), expected[i] / minutes});
    return decision;
}

std::optional<arming_decision> arming_decider::take() {
    if (!has_decisions_.load(std::memory_order_acquire)) return {};
    const std::lock_guard lock(mutex_);
    arming_decision next = std::move(decisions_.front());
    decisions_.pop_front();
    has_decisions_.store(!decisions_.empty(), std::memory_order_relaxed);
    return next;
}

}  // namespace spikeweave::live
