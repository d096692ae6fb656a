#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "live/sinks/sink.hpp"

namespace spikeweave::live {

/// The spikes of a unit are counted in columns of this width, so that what is sent does not grow
/// with their rate.
constexpr std::int64_t column_us = 10'000;

struct spike_cell {
    std::int64_t column;  ///< [column, column + 1) * `column_us`
    unit_id unit;
};

struct armed_units {
    bool is_pattern = false;
    std::vector<unit_id> units{};
};

struct shown_detection {
    std::uint64_t number = 0;  ///< among all detections, from 0
    std::size_t armed = 0;
    std::int64_t begin_us = 0;
    std::int64_t end_us = 0;
    suppression suppressed = suppression::none;
    std::vector<std::int64_t> times_us{};  ///< of its spikes, as far as it was detected
};

/// The totals of an armed episode or pattern.
struct shown_tally {
    std::uint64_t detections = 0;
    std::uint64_t triggers = 0;
    double per_minute = -1;  ///< expected by chance; negative: not known yet
};

struct shown_counts {
    time_span window{};
    std::vector<std::uint64_t> counts{};
};

/// An episode of two units in a window.
struct shown_pair {
    counted_episode counted{};
    /// The count expected of independent units with their numbers of spikes.
    double expected = 0;
    /// Whether it occurs more often than that, at 1 % for all pairs and delays (Bonferroni).
    bool is_significant = false;
};

struct shown_window {
    window_bounds bounds{};
    std::uint64_t epoch = 0;
    std::uint64_t spikes = 0;
    std::uint64_t threshold = 0;
    bool is_skipped = false;
    bool has_gap = false;
    std::optional<std::size_t> complete_to_size{};
    std::vector<std::uint64_t> by_size{};  ///< the numbers of episodes of 1, 2, … units
    std::vector<shown_pair> pairs{};       ///< the significant ones, then the most frequent ones
};

/// The news of a session since they were read last.
struct session_news {
    static constexpr std::size_t most_cells = 1 << 17;
    static constexpr std::size_t most_detections = 100;
    static constexpr std::size_t most_counted = 50;
    static constexpr std::size_t most_pairs = 300;

    std::vector<std::string> units{};           ///< new ones
    std::vector<armed_units> armed{};           ///< those armed later, by their numbers
    std::uint64_t epoch = 0;                    ///< of the cells
    std::vector<spike_cell> cells{};            ///< by column; after too many, only the newest
    std::vector<shown_detection> detections{};  ///< the newest ones
    std::vector<shown_counts> counted{};        ///< the newest ones
    std::vector<shown_tally> tallies{};         ///< of what is armed, by its numbers
    session_counts counts{};
    bool has_ended = false;
};

/// Gathers news for another thread. It never waits for that one: if the news are just being taken,
/// they are handed over after the next block.
class session_watcher : public sink {
public:
    /// @param armed  the number of episodes and patterns that are armed from the beginning
    explicit session_watcher(std::size_t armed) : armed_(armed) { gathered_.tallies.resize(armed); }

    /// Returns the news, for one other thread.
    session_news take_news();
    /// The last window; null if there is none yet.
    std::shared_ptr<const shown_window> window() const;

    void take(const event& what) override {
        what.visit([this](const auto& one) { on(one); });
    }

private:
    void on(const units_added& more);
    void on(const spikes_accepted& more);
    void on(const detection& what);
    void on(const mined_window& window);
    void on(const counts_in_window& now);
    void on(const arming_change& change);
    void on(const chance_rates& rates);
    void on(const epoch_ended& /*end*/);
    void on(const block_ended& block);
    void on(const session_ended& end);
    void on(const auto& /*other*/) {}
    void hand_over();

    std::size_t armed_;
    std::uint64_t detections_ = 0;
    session_news gathered_{};  // by the session's thread
    std::mutex mutex_{};
    session_news given_{};
    mutable std::mutex window_mutex_{};
    std::shared_ptr<const shown_window> window_{};
};

}  // namespace spikeweave::live
