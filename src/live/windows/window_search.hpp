#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "live/arming/arming_rule.hpp"
#include "live/session/session_options.hpp"
#include "live/sinks/sink.hpp"
#include "spikeweave/core/memory.hpp"

/// The search of one window within what it may take.
namespace spikeweave::live {

/// Tells a search that it is enough, at a time or when the process has more memory than it may.
class search_limit {
public:
    using clock = std::chrono::steady_clock;

    /// @param end         null: any time
    /// @param most_bytes  resident memory of the process; 0: any
    search_limit(std::optional<clock::time_point> end, std::uint64_t most_bytes);

    /// A token that cannot be triggered if nothing is limited.
    std::stop_token enough() const;
    bool memory_was_exceeded() const;

private:
    std::stop_source time_is_over_{};
    std::optional<memory_guard> memory_{};
    std::jthread timer_{};  // the last member: it ends before what it uses
};

/// A window that is complete and waits to be mined.
struct window_task {
    /// Windows that are only told of. Null: it is one window.
    std::optional<silent_range> silent{};
    mined_window result{};                  ///< without its table
    std::optional<window_spikes> spikes{};  ///< null: it is skipped
    std::optional<std::size_t> to_size{};   ///< the largest size to search for, if it is known
    bool is_untested = false;               ///< its episodes are not tested, as it was recorded
    /// Its number among the windows that decide what is armed; null: it does not.
    std::optional<std::uint64_t> decision{};
    search_limit::clock::time_point complete_at{};
    execution how{};
};

struct window_counts {
    std::uint64_t mined = 0;
    std::uint64_t incomplete = 0;  ///< those of them whose search ended early
    std::uint64_t skipped = 0;
    std::uint64_t untested = 0;

    void add(const recorded_outcome& outcome);
};

/// Mines windows, tests those that decide what is armed, and gives them to a sink.
class window_search {
public:
    /// @param decider  gets the windows that decide what is armed; may be null
    window_search(episode_window_options options, const window_pace& pace, sink& results,
                  arming_decider* decider = nullptr);

    /// A window whose time is over before its search begins is skipped.
    /// @throws what mining throws, and what the sink throws.
    void run(window_task task);
    /// The same for a window that was mined before, only for the decider.
    void decide_again(window_task task);
    window_counts counts() const;  ///< from any thread

private:
    using time_limit = std::optional<search_limit::clock::time_point>;

    time_limit end_of(const window_task& task) const;
    time_limit end_of_search(const window_task& task) const;
    episode_table mine(const window_task& task, const search_limit& limit);
    std::optional<std::vector<episode>> test(const window_task& task, const spike_sequence& spikes,
                                             time_limit end) const;
    void decide(const window_task& task, const spike_sequence* spikes,
                std::vector<episode> significant) const;

    episode_window_options options_;
    episode_window_miner miner_;
    window_pace pace_;
    sink* results_;
    arming_decider* decider_;
    mutable std::mutex mutex_{};
    window_counts counts_{};
};

}  // namespace spikeweave::live
