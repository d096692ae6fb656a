#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mine/episodes/latest_start/list_walk.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/latest_start/train_index.hpp"
#include "mine/episodes/search/counters.hpp"

namespace spikeweave::episodes {

/// The joins of a level's frequent episodes, counted in one piece of a recording after another.
///
/// A candidate is dropped as soon as it cannot become frequent. All of its occurrences that end
/// after a piece, except the first, also start after it. So they are at most one more than those of
/// its prefix, or of its suffix, that follow, and the total of these is known.
class candidate_counts {
public:
    candidate_counts(const mined_level& previous, std::uint64_t threshold);

    /// The number of candidates that are not dropped.
    std::size_t count() const { return candidates_.count(); }
    /// The units of all candidates, ascending.
    std::vector<unit_id> units() const;

    void count_on(const counting_problem& problem, const train_index& trains,
                  const new_spikes& fresh, std::uint64_t most_table_bytes);
    /// Adds the frequent candidates to a level, after the last piece.
    void take_frequent(mined_level& level) const;

private:
    struct parents_of {
        std::uint32_t prefix;
        std::uint32_t suffix;
    };

    void count_part(const counting_problem& problem, const train_index& trains,
                    const new_spikes& fresh, std::size_t part, prefix_walk& walk);
    std::uint64_t to_come(std::uint32_t parent) const;
    void drop_hopeless();

    const mined_level& previous_;
    std::uint64_t threshold_;
    candidate_set candidates_;
    std::vector<parents_of> parents_;  // of each candidate
    std::vector<running_count> counts_;
    std::optional<numbered_steps> steps_{};  // of the candidates
    std::vector<std::size_t> parts_;
    std::vector<running_count> of_previous_;  // the level before, as far as it is a prefix
    std::vector<bool> is_prefix_;
};

}  // namespace spikeweave::episodes
