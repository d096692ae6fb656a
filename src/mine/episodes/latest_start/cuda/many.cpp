// Latest-start counting of the same episodes in many sequences, which are put side by side as the
// trains of one recording with many more units. The episodes of each sequence are then separate
// candidates.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "device/limits.hpp"
#include "mine/episodes/devices/many_counter.hpp"
#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/latest_start/cuda/worker.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {
namespace {

// A spike with its train, and as it is uploaded and sorted.
constexpr std::uint64_t bytes_beside = 32;

// The trie of several sequences: that of the first, then that of the second, and so on.
episode_trie side_by_side(const episode_trie& one, std::size_t sequences, std::size_t units) {
    episode_trie all;
    all.levels.resize(one.levels.size());
    for (std::size_t k = 0; k < one.levels.size(); ++k) {
        const std::size_t parents = k == 0 ? units : one.levels[k - 1].size();
        all.levels[k].reserve(sequences * one.levels[k].size());
        for (std::size_t s = 0; s < sequences; ++s)
            for (const extension& job : one.levels[k])
                all.levels[k].push_back({job.parent + static_cast<std::uint32_t>(s * parents),
                                         job.unit + static_cast<std::uint32_t>(s * units),
                                         job.delay});
    }
    return all;
}

class many_counter_on_device final : public many_counter {
public:
    many_counter_on_device(const many_counts_problem& problem, int ordinal)
        : problem_(problem), ordinal_(ordinal) {
        for (const episode_lists::list& one : problem.lists.lists)
            if (one.candidates.size > 1) {
                tries_.emplace_back(one.candidates);
                episodes_ += one.candidates.count();
            }
    }

    std::size_t most_sequences(std::size_t spikes) const override {
        // As many spikes keep a device busy; more would only make the first batch late.
        constexpr std::uint64_t enough = std::uint64_t{1} << 22;
        constexpr std::uint64_t most = 64;
        const device::device_limits limits = device::limits_of(ordinal_);
        const std::uint64_t bytes = bytes_beside * std::max<std::uint64_t>(spikes, 1);
        const std::uint64_t room = work_space_bytes(limits) / bytes;
        if (room == 0)
            throw device_error(fmt::format(
                "GPU {} has too little memory to count in surrogates: {} bytes are needed, {} of "
                "its {} are free",
                ordinal_, 3 * bytes, limits.free_bytes, limits.total_bytes));
        return std::clamp<std::uint64_t>(enough / std::max<std::uint64_t>(spikes, 1), 1,
                                         std::min(room, most));
    }

    std::vector<std::uint64_t> count(std::span<const spike_sequence> sequences) override {
        const device::scoped_device scope(ordinal_);
        const sequences_side_by_side spikes(sequences, problem_.run);
        const resident_stream data(spikes, ordinal_, problem_.run);
        const counting_problem counting{sequences.front(), problem_.lists.intervals, problem_.ties,
                                        problem_.run};
        const device_problem problem{counting, data, ordinal_};
        latest_start_worker worker(problem);
        prepare(sequences.size());
        std::vector<std::uint64_t> counts(sequences.size() * episodes_);
        std::size_t first = 0;
        for (std::size_t t = 0; t < tries_.size(); ++t) {
            const episode_trie& one = tries_[t];
            const episode_trie& all = of_all_[t];
            const std::size_t leaves = one.levels.back().size();
            std::vector<std::uint64_t> of_leaf(all.levels.back().size());
            worker.count_leaves(all, 0, [&](std::size_t from, const known_lists& here) {
                for (std::size_t i = 0; i < here.counts.size(); ++i)
                    of_leaf[from + i] = here.counts[i].count;
            });
            for (std::size_t s = 0; s < sequences.size(); ++s)
                for (std::size_t c = 0; c < one.leaf_of.size(); ++c)
                    counts[s * episodes_ + first + c] = of_leaf[s * leaves + one.leaf_of[c]];
            first += one.leaf_of.size();
        }
        return counts;
    }

private:
    // All batches but the last have the same number of sequences.
    void prepare(std::size_t sequences) {
        if (sequences == prepared_for_) return;
        of_all_.clear();
        for (const episode_trie& one : tries_)
            of_all_.push_back(side_by_side(one, sequences, problem_.unit_count));
        prepared_for_ = sequences;
    }

    many_counts_problem problem_;
    int ordinal_;
    std::vector<episode_trie> tries_{};   // one for each list of two units or more
    std::size_t episodes_ = 0;            // of all tries
    std::vector<episode_trie> of_all_{};  // of the sequences of a batch
    std::size_t prepared_for_ = 0;
};

}  // namespace

std::unique_ptr<many_counter> open_many_counter(const many_counts_problem& problem, int ordinal) {
    const device::scoped_device on(ordinal);
    return std::make_unique<many_counter_on_device>(problem, ordinal);
}

}  // namespace spikeweave::episodes
