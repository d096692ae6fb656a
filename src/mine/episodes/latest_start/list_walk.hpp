#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mine/episodes/latest_start/step_set.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/search/candidates.hpp"

namespace spikeweave::episodes {

/// The steps of a list of candidates that are sorted by `chain_less`.
struct numbered_steps {
    explicit numbered_steps(const candidate_set& sorted);

    std::size_t steps_each;
    std::vector<episode_step> distinct{};  ///< ascending
    /// The numbers of the steps of each candidate, one candidate after another.
    std::vector<std::uint32_t> numbers{};

    std::span<const std::uint32_t> steps_of(std::size_t candidate) const {
        return std::span{numbers}.subspan(candidate * steps_each, steps_each);
    }
    /// Whether steps are used so often that a table is worth its cost.
    bool are_repeated() const { return numbers.size() > 2 * distinct.size(); }
    /// Pieces of work: where those candidates begin that have the same first step, and the end.
    std::vector<std::size_t> pieces() const;
};

/// Walks sorted candidates, so that the survivors of the common beginning of two neighbours are
/// found once.
class prefix_walk {
public:
    prefix_walk(const step_set& steps, const numbered_steps& numbered)
        : steps_(steps), numbered_(numbered), buffers_(numbered.steps_each) {}

    /// The survivors of a candidate, valid until the next call.
    survivor_view survivors(std::size_t candidate, bool begin_anew);
    /// Those of the same candidate without its last unit, which needs at least three.
    survivor_view survivors_of_prefix() const { return buffers_[buffers_.size() - 2].view(); }

private:
    const step_set& steps_;
    const numbered_steps& numbered_;
    std::vector<survivor_buffer> buffers_;  // one a step
    std::size_t previous_ = 0;
};

}  // namespace spikeweave::episodes
