// Level-wise mining for strategies that count a list of candidates and remember nothing: candidates
// are made in blocks, so that their number is bounded by time and not by memory.

#include <array>

#include "mine/episode/counters.hpp"

namespace synfire::episodes {
namespace {

constexpr std::size_t block_candidates = std::size_t{1} << 18;

class list_levels final : public level_counter {
public:
    list_levels(const counting_problem& problem, const level_rules& rules, list_counter count)
        : problem_(problem), rules_(rules), count_(count) {}

    mined_level pairs(std::span<const unit_id> units) override {
        begin_level(2);
        for (const unit_id from : units) {
            for (std::uint32_t d = 0; d < problem_.intervals.size(); ++d) {
                for (const unit_id to : units) {
                    if (from != to || rules_.self_repeats)
                        block_.append(std::array{from, to}, std::array{d});
                }
            }
            if (block_.count() >= block_candidates) count_block();
        }
        return end_level();
    }

    mined_level extend(const mined_level& previous, bool) override {
        begin_level(previous.frequent.size + 1);
        for (std::size_t i = 0; i < previous.frequent.count(); ++i) {
            const auto [begin, end] = continuations(previous.frequent, i);
            for (std::size_t j = begin; j < end; ++j) append_join(block_, previous.frequent, i, j);
            if (block_.count() >= block_candidates) count_block();
        }
        return end_level();
    }

    std::uint64_t merge_misses() const override { return merge_misses_; }

private:
    void begin_level(std::size_t size) {
        level_ = {};
        level_.frequent.size = size;
        block_ = {};
        block_.size = size;
    }

    void count_block() {
        const count_result result = count_(problem_, block_, rules_.threshold);
        for (std::size_t c = 0; c < block_.count(); ++c) {
            if (result.counts[c] < rules_.threshold) continue;
            level_.frequent.append(block_.units_of(c), block_.delays_of(c));
            level_.counts.push_back(result.counts[c]);
        }
        level_.candidates += block_.count();
        merge_misses_ += result.merge_misses;
        block_.units.clear();
        block_.delays.clear();
    }

    mined_level end_level() {
        if (block_.count() > 0) count_block();
        return std::move(level_);
    }

    const counting_problem& problem_;
    level_rules rules_;
    list_counter count_;
    mined_level level_;
    candidate_set block_;
    std::uint64_t merge_misses_ = 0;
};

}  // namespace

std::unique_ptr<level_counter> levels_of_lists(const counting_problem& problem,
                                               const level_rules& rules, list_counter count) {
    return std::make_unique<list_levels>(problem, rules, count);
}

}  // namespace synfire::episodes
