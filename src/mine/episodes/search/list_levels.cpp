// Mining level by level for strategies that count a list of candidates and keep nothing from level
// to level. Candidates are made in blocks, so that time limits their number, not memory.

#include <array>
#include <future>
#include <utility>

#include "mine/episodes/search/counters.hpp"

namespace spikeweave::episodes {
namespace {

constexpr std::size_t block_candidates = std::size_t{1} << 18;

class list_levels final : public level_counter {
public:
    list_levels(const counting_problem& problem, const level_rules& rules, counting count,
                bool beside)
        : problem_(problem), rules_(rules), count_(std::move(count)), beside_(beside) {}

    mined_level pairs(std::span<const unit_id> units, bool) override {
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

    // Collects the counts of the previous block, so that at most one block is being counted.
    void count_block() {
        take_counted();
        counted_ = std::move(block_);
        block_ = candidate_set{counted_.size};
        result_ = std::async(beside_ ? std::launch::async : std::launch::deferred,
                             [this] { return count_(counted_, rules_.threshold); });
        if (!beside_) take_counted();
    }

    void take_counted() {
        if (!result_.valid()) return;
        const count_result result = result_.get();
        for (std::size_t c = 0; c < counted_.count(); ++c) {
            if (result.counts[c] < rules_.threshold) continue;
            level_.frequent.append(counted_.units_of(c), counted_.delays_of(c));
            level_.counts.push_back(result.counts[c]);
        }
        level_.candidates += counted_.count();
        level_.kernel_seconds += result.kernel_seconds;
        merge_misses_ += result.merge_misses;
    }

    mined_level end_level() {
        if (block_.count() > 0) count_block();
        take_counted();
        return std::move(level_);
    }

    const counting_problem& problem_;
    level_rules rules_;
    counting count_;
    bool beside_;
    mined_level level_;
    candidate_set block_;
    std::uint64_t merge_misses_ = 0;
    candidate_set counted_;
    std::future<count_result> result_;  // last member: it must end before those it uses
};

}  // namespace

std::unique_ptr<level_counter> levels_of_lists(const counting_problem& problem,
                                               const level_rules& rules, counting count,
                                               bool beside) {
    return std::make_unique<list_levels>(problem, rules, std::move(count), beside);
}

}  // namespace spikeweave::episodes
