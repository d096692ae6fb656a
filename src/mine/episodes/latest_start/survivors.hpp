#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/episodes/latest_start/step_table.hpp"
#include "mine/episodes/latest_start/train_index.hpp"
#include "mine/episodes/search/counters.hpp"

/// Survivor lists, the heart of `latest_start`.
///
/// A survivor of an episode is a spike that ends an occurrence of it, kept with the latest start of
/// any occurrence that ends there. In time order the latest starts never decrease, so the list of a
/// longer episode follows from that of its prefix in one walk, and so does the largest number of
/// occurrences without overlap.
namespace spikeweave::episodes {

/// Survivors in time order: the indices of their ends in the train of the last unit, and of their
/// starts in that of the first unit.
struct survivor_view {
    std::span<const std::uint32_t> ends;
    std::span<const std::uint32_t> starts;

    std::size_t size() const { return ends.size(); }
};

/// A buffer for the survivors of one episode, reused from candidate to candidate.
class survivor_buffer {
public:
    /// Makes room for every spike of a train to be a survivor.
    void reserve(std::size_t spikes) {
        if (ends_.size() >= spikes + spare) return;
        ends_.resize(spikes + spare);
        starts_.resize(spikes + spare);
    }
    /// A buffer for a list of `n` elements that is only needed while survivors are made.
    std::uint32_t* scratch(std::size_t n) {
        if (scratch_.size() <= n) scratch_.resize(n + 1);
        return scratch_.data();
    }
    std::uint32_t* ends() { return ends_.data(); }
    std::uint32_t* starts() { return starts_.data(); }
    void set_size(std::size_t size) { size_ = size; }
    survivor_view view() const {
        return {std::span{ends_}.first(size_), std::span{starts_}.first(size_)};
    }

private:
    static constexpr std::size_t spare =
        2;  // elements that may be written before it is known whether they count

    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint32_t> scratch_;
    std::size_t size_ = 0;
};

/// Finds the survivors of the pair from→to.
void begin_survivors(const indexed_train& from, const indexed_train& to, const interval_us& step,
                     survivor_buffer& out);
/// Finds the same with the step's table. `to_size`: number of spikes of `to`.
void begin_survivors(const step_table& step, std::uint32_t to_size, survivor_buffer& out);

/// Finds the survivors after one more step. `prefix`: the survivors of the episode before that
/// step, whose last unit is `from`; the step leads to `to`.
void extend_survivors(const indexed_train& from, const survivor_view& prefix,
                      const indexed_train& to, const interval_us& step, survivor_buffer& out);
/// Finds the same with the step's table.
void extend_survivors(const survivor_view& prefix, const step_table& step, std::uint32_t to_size,
                      survivor_buffer& out);

/// Counts the largest number of occurrences without overlap, by taking the earliest end first.
std::uint64_t count_disjoint(const indexed_train& first, const indexed_train& last,
                             const survivor_view& survivors, tie_rule ties);

/// Which spikes of a piece of a recording are new; those before them were in the piece before.
struct new_spikes {
    std::uint32_t first = 0;  ///< position of the first new one in the piece
    std::int64_t offset = 0;  ///< number of spikes of the recording before the piece
};

/// The place up to which the occurrences of an episode have been counted in a recording that is
/// read in pieces.
struct running_count {
    std::int64_t last_end = INT64_MIN;  ///< time, or position in the recording
    std::uint64_t count = 0;
};

/// Counts on: the occurrences that end at new spikes and do not overlap with the last one counted.
/// Since the earliest end is taken first, nothing else is needed of the pieces before.
void count_disjoint_on(const indexed_train& first, const indexed_train& last,
                       const survivor_view& survivors, tie_rule ties, const new_spikes& fresh,
                       running_count& counted);

}  // namespace spikeweave::episodes
