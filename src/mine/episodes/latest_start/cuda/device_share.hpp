#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/latest_start/cuda/pairs.hpp"
#include "mine/episodes/latest_start/cuda/worker.hpp"
#include "mine/episodes/latest_start/memory_limit.hpp"

namespace spikeweave::episodes {

/// Frequent continuations of a run of episodes, in order.
struct found_episodes {
    candidate_set frequent{};
    std::vector<std::uint64_t> counts{};
    std::uint64_t candidates = 0;

    void take(found_episodes&& other) {
        frequent.units.insert(frequent.units.end(), other.frequent.units.begin(),
                              other.frequent.units.end());
        frequent.delays.insert(frequent.delays.end(), other.frequent.delays.begin(),
                               other.frequent.delays.end());
        counts.insert(counts.end(), other.counts.begin(), other.counts.end());
        candidates += other.candidates;
    }
};

/// Survivor lists of episodes [first, first + lists.count) of a level.
struct kept_lists {
    std::size_t first;
    known_lists lists;
};

/// One device with its share of a level.
class device_share {
public:
    device_share(const device_problem& problem, const level_rules& rules) : rules_(rules) {
        const device::scoped_device scope(problem.ordinal);
        worker_ = std::make_unique<latest_start_worker>(problem);
    }
    ~device_share() {
        // Memory goes back to the device that it is of, unless that is gone.
        try {
            const device::scoped_device scope(worker_->problem().ordinal);
            kept_.clear();
            worker_.reset();
        } catch (...) {
            return;
        }
    }
    device_share(const device_share&) = delete;
    device_share& operator=(const device_share&) = delete;

    std::vector<counted_pair> pairs(pair_method method, std::span<const unit_id> units,
                                    std::size_t first, std::size_t last);
    void keep_pairs(const candidate_set& frequent, std::size_t first, std::size_t last,
                    memory_limit& limit);
    found_episodes extend(const candidate_set& parents, bool last, memory_limit& limit);

    /// After every share is extended: where its episodes stand in the new level.
    void number_episodes(std::size_t first) {
        first_ = first;
        for (kept_lists& lists : kept_) lists.first += first;
        last_ = first + found_;
    }
    std::size_t found() const { return found_; }
    std::uint64_t list_bytes() const { return kept_bytes_; }
    double kernel_seconds() const { return worker_->kernel_seconds(); }
    std::span<const std::uint64_t> train_begins() const { return worker_->train_begins(); }

private:
    std::vector<counted_pair> merge_pairs(std::span<const unit_id> units, std::size_t first,
                                          std::size_t last);
    struct joined_piece;
    joined_piece join(const candidate_set& parents, const kept_lists& lists,
                      std::size_t parent) const;
    found_episodes extend_lists_of(const candidate_set& parents, const kept_lists& lists, bool last,
                                   std::size_t found_before, std::vector<kept_lists>& next,
                                   memory_limit& limit);
    found_episodes extend_without_lists(const candidate_set& parents);
    found_episodes count_anew(const candidate_set& candidates);
    bool keep(std::vector<kept_lists>& where, kept_lists&& lists, memory_limit& limit);
    void drop(memory_limit& limit);
    std::uint64_t most_items() const { return worker_->capacity_bytes() / 4 / 8; }

    const level_rules& rules_;
    std::unique_ptr<latest_start_worker> worker_;
    std::vector<kept_lists> kept_;
    std::uint64_t kept_bytes_ = 0;
    bool without_lists_ = false;
    std::size_t first_ = 0;  // of its episodes, in the level
    std::size_t last_ = 0;
    std::size_t found_ = 0;
};

}  // namespace spikeweave::episodes
