#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "live/arming/arming.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::live {

/// Which episodes have been significant in enough of the last windows.
class arming_rule {
public:
    explicit arming_rule(const arming_options& options)
        : needed_(options.arm_after), windows_(options.arm_windows) {}

    /// Takes those that are significant in the next window, each once. Returns those that have been
    /// in enough windows, in order.
    std::vector<episode> add(std::vector<episode> significant);

private:
    std::uint64_t needed_;
    std::uint64_t windows_;
    std::deque<std::vector<episode>> last_{};
};

/// @throws invalid_argument if these windows overlap whatever is chosen among them.
void check_deciding_windows(const episode_window_options& windows);
/// Whether a window is one of those that decide. They do not overlap, and begin at the
/// multiples of the length, or are all of them if there are gaps between them.
bool decides_arming(const window_bounds& window, const episode_window_options& windows);
/// When a decision on a window takes effect: a hop after its end.
std::int64_t due_after(const window_bounds& window, const episode_window_options& windows);

/// A window that was mined and tested, of those that decide.
struct deciding_window {
    std::uint64_t number = 0;  ///< among those that decide, from 0
    std::uint64_t epoch = 0;
    window_bounds bounds{};
    const spike_sequence* spikes = nullptr;  ///< null if it was skipped
    /// Its significant episodes; none if it was skipped or could not be tested in time.
    std::vector<episode> significant{};
};

/// The episodes of two units or more that are significant by the test that `find_episodes` uses by
/// default. Sizes that were not searched have none. @throws cancelled
std::vector<episode> significant_episodes(const spike_sequence& spikes, const episode_table& table,
                                          const execution& run);

/// Decides from windows which episodes are armed. It is where windows are mined, and its decisions
/// are taken where spikes are.
class arming_decider {
public:
    arming_decider(const arming_settings& settings, episode_window_options windows);

    bool depends_on(const window_bounds& window) const { return decides_arming(window, windows_); }
    /// Takes the windows that decide, one after another.
    void add(deciding_window window);
    /// Decisions on windows before this one were taken before the session was interrupted.
    void decide_from(std::uint64_t number) { first_ = number; }
    /// The first window on which a decision depends that has not been taken.
    std::uint64_t first_needed() const;

    /// The next decision, from another thread.
    std::optional<arming_decision> take();

private:
    arming_decision decide(deciding_window& window);

    episode_window_options windows_;
    std::uint64_t windows_of_rule_;
    arming_rule rule_;
    std::uint64_t first_ = 0;
    std::mutex mutex_{};
    std::deque<arming_decision> decisions_{};
    std::atomic<bool> has_decisions_{false};
};

}  // namespace spikeweave::live
