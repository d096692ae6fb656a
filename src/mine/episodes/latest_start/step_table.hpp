#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mine/episodes/latest_start/train_index.hpp"
#include "mine/episodes/search/counters.hpp"

namespace spikeweave::episodes {

/// A table of one step from→to: which spikes of `from` reach any spike of `to`, and which ones they
/// reach. It is worth its memory if many episodes take the same step: about a fifth of a byte for
/// each spike of `from`, and 8 bytes for each that reaches one.
class step_table {
public:
    /// Spikes [begin, end) of `to`; never empty.
    struct window {
        std::uint32_t begin;
        std::uint32_t end;
    };

    /// Collects a table spike by spike; its memory is reused from table to table.
    class builder {
    public:
        void begin(std::uint32_t spikes) {
            spikes_in_all_ = spikes;
            last_ = 0;
            if (entries_.empty()) grow();
            entries_[0].spike = UINT32_MAX;
        }
        /// One more spike that `spike` reaches. In order; what one spike reaches has no gaps.
        void add(std::uint32_t spike, std::uint32_t reached) {
            // No branch on whether the spike is new: that is as good as random. Entry 0 only begins
            // the list.
            entry* const list = entries_.data();
            const bool fresh = list[last_].spike != spike;
            last_ += fresh ? 1 : 0;
            list[last_] = {spike, {fresh ? reached : list[last_].reached.begin, reached + 1}};
            if (last_ == most_) [[unlikely]]
                grow();
        }

    private:
        friend class step_table;
        struct entry {
            std::uint32_t spike;
            window reached;
        };
        void grow() {
            most_ = 2 * most_ + 64;
            entries_.resize(most_ + 1);
        }

        std::vector<entry> entries_;
        std::size_t last_ = 0;
        std::size_t most_ = 0;  // the last entry that fits
        std::uint32_t spikes_in_all_ = 0;
    };

    explicit step_table(const builder& collected);

    bool reaches(std::uint32_t spike) const { return (bits_[spike / 64] >> spike % 64 & 1) != 0; }
    /// The number of spikes in a set that reach any. `spikes`: a bit for each spike of `from`.
    std::uint64_t reaching(std::span<const std::uint64_t> spikes) const {
        std::uint64_t count = 0;
        for (std::size_t w = 0; w < bits_.size(); ++w) count += bit_count(bits_[w] & spikes[w]);
        return count;
    }
    /// The words of such a set.
    static std::size_t words_of(std::uint32_t spikes) { return spikes / 64 + 1; }
    /// Which window belongs to a spike that reaches any.
    std::uint32_t window_of(std::uint32_t spike) const {
        const std::size_t w = spike / 64;
        return windows_before_[w] + bit_count(bits_[w] & ((std::uint64_t{1} << spike % 64) - 1));
    }
    const window* windows() const { return windows_.data(); }
    std::size_t window_count() const { return windows_.size(); }
    /// The spikes that reach any, in order, written to `out`.
    void spikes_that_reach(std::uint32_t* out) const;
    std::uint64_t bytes() const {
        return bits_.size() * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) +
               windows_.size() * sizeof(window);
    }

private:
    // std::popcount would be a call on the oldest x86-64 that the library runs on.
    static std::uint32_t bit_count(std::uint64_t bits) {
        bits -= bits >> 1 & 0x5555555555555555;
        bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
        bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
        return static_cast<std::uint32_t>(bits * 0x0101010101010101 >> 56);
    }

    std::vector<std::uint64_t> bits_;            // of the spikes of `from` that reach any
    std::vector<std::uint32_t> windows_before_;  // each word of bits
    std::vector<window> windows_;
};

/// Collects the table of one step by walking both trains.
void collect_step(const indexed_train& from, const indexed_train& to, const interval_us& step,
                  step_table::builder& out);

}  // namespace spikeweave::episodes
