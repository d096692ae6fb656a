#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "mine/episodes/latest_start/step_table.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/latest_start/train_index.hpp"
#include "mine/episodes/search/counters.hpp"

namespace spikeweave::episodes {

/// A step between two units, by the number of its interval.
struct episode_step {
    unit_id from;
    std::uint32_t delay;
    unit_id to;

    friend auto operator<=>(const episode_step&, const episode_step&) = default;
};

/// The memory that tables may take if no limit is set: enough for all 4,032 pairs of 64 units with
/// 50,000 spikes each.
constexpr std::uint64_t default_table_bytes = 512'000'000;

/// The steps that a set of episodes takes, sorted, with tables for as many as fit into
/// `most_table_bytes`.
class step_set {
public:
    step_set(const counting_problem& problem, const train_index& trains,
             std::vector<episode_step> steps, std::uint64_t most_table_bytes);

    const counting_problem& problem() const { return problem_; }
    const train_index& trains() const { return trains_; }
    std::uint64_t table_bytes() const;

    /// The survivors of the pair that is step number `step`.
    void begin(std::size_t step, survivor_buffer& out) const;
    /// The survivors of an episode after one more step. `prefix`: the survivors before that step.
    void extend(const survivor_view& prefix, std::size_t step, survivor_buffer& out) const;

    /// Room for a table that is not kept, reused from step to step.
    struct table_room {
        step_table::builder collected;
        std::optional<step_table> made;
    };
    /// The table of a step, made in `room` if it is not one of those that are kept.
    const step_table& table_of(std::size_t step, table_room& room) const;
    bool keeps_table_of(std::size_t step) const { return tables_[step].has_value(); }

private:
    const counting_problem& problem_;
    const train_index& trains_;
    std::vector<episode_step> steps_;
    std::vector<std::optional<step_table>> tables_;
};

}  // namespace spikeweave::episodes
