#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/episode/counters.hpp"
#include "mine/episode/train_index.hpp"

/// Survivor lists, the heart of `latest_start`.
///
/// A survivor of an episode is a spike that ends an occurrence of it, kept with the latest start of
/// any occurrence that ends there. In time order the latest starts never decrease, so the list of a
/// longer episode follows from that of its prefix in one walk, and so does the largest number of
/// occurrences without overlap.
namespace synfire::episodes {

/// Survivors in time order: indices of their ends in the last unit's train and of their starts in
/// the first unit's.
struct survivor_view {
    std::span<const std::uint32_t> ends;
    std::span<const std::uint32_t> starts;

    std::size_t size() const { return ends.size(); }
};

/// Room for the survivors of one episode, reused from candidate to candidate.
class survivor_buffer {
public:
    /// Makes room for every spike of a train to be a survivor.
    void reserve(std::size_t spikes) {
        if (ends_.size() <= spikes) {
            ends_.resize(spikes + 1);
            starts_.resize(spikes + 1);
        }
    }
    std::uint32_t* ends() { return ends_.data(); }
    std::uint32_t* starts() { return starts_.data(); }
    void set_size(std::size_t size) { size_ = size; }
    survivor_view view() const {
        return {std::span{ends_}.first(size_), std::span{starts_}.first(size_)};
    }

private:
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> starts_;
    std::size_t size_ = 0;
};

/// Survivors of the pair from→to.
void begin_survivors(const indexed_train& from, const indexed_train& to, const interval_us& step,
                     survivor_buffer& out);

/// Survivors of the episode with survivors `prefix`, whose last unit is `from`, continued to `to`.
void extend_survivors(const indexed_train& from, const survivor_view& prefix,
                      const indexed_train& to, const interval_us& step, survivor_buffer& out);

/// The largest number of occurrences without overlap: earliest end first.
std::uint64_t count_disjoint(const indexed_train& first, const indexed_train& last,
                             const survivor_view& survivors, tie_rule ties);

}  // namespace synfire::episodes
