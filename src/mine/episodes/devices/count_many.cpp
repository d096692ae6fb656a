#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "mine/episodes/devices/backend.hpp"
#include "mine/episodes/devices/many_counter.hpp"
#include "mine/episodes/devices/train_search.hpp"
#include "mine/episodes/search/threshold.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes/many_counts.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace episodes {
namespace {

constexpr std::string_view many_task = "counting in surrogates";

spike_sequence without_epochs(spike_sequence spikes, duration reach) {
    if (spikes.epochs().empty()) return spikes;
    return separated_epochs(spikes, reach).spikes();
}

// Sequences that are counted together.
struct sequence_batch {
    std::uint32_t begin;
    std::vector<spike_sequence> sequences;
};

class many_count {
public:
    many_count(const many_sequences& what, std::size_t episodes, const episode_lists& lists,
               std::size_t unit_count, const counts_taker& take, const execution& run)
        : what_(what),
          episodes_(episodes),
          lists_(lists),
          unit_count_(unit_count),
          take_(take),
          run_(run),
          next_(what.begin) {}

    /// Counts on one device until no sequence is left.
    void run_on(many_counter& device, std::size_t spikes) {
        const auto most = static_cast<std::uint32_t>(device.most_sequences(spikes));
        try {
            std::optional<sequence_batch> now = make_next(most);
            while (now) {
                std::future<std::vector<std::uint64_t>> counts =
                    std::async(std::launch::async, [&] { return device.count(now->sequences); });
                std::optional<sequence_batch> later = make_next(most);
                pass_on(*now, counts.get());
                now = std::move(later);
            }
        } catch (...) {
            const std::lock_guard lock(access_);
            next_ = what_.end;
            throw;
        }
    }

private:
    std::optional<sequence_batch> make_next(std::uint32_t most) {
        sequence_batch out{};
        {
            const std::lock_guard lock(access_);
            if (next_ == what_.end) return std::nullopt;
            out.begin = next_;
            next_ += std::min(most, what_.end - next_);
            out.sequences.resize(next_ - out.begin);
        }
        const execution quietly{.threads = run_.threads, .stop = run_.stop};
        parallel::parallel_for(out.sequences.size(), quietly, many_task, [&](std::size_t i) {
            spike_sequence made = what_.make(out.begin + static_cast<std::uint32_t>(i));
            if (made.unit_count() != unit_count_)
                throw invalid_argument(fmt::format("sequence {} has {} units, but the first one {}",
                                                   out.begin + i, made.unit_count(), unit_count_));
            out.sequences[i] = without_epochs(std::move(made), lists_.reach);
        });
        return out;
    }

    void pass_on(const sequence_batch& counted, const std::vector<std::uint64_t>& counts) {
        std::vector<std::uint64_t> of_one(episodes_);
        auto next = counts.begin();
        for (std::size_t i = 0; i < counted.sequences.size(); ++i) {
            for (const episode_lists::list& one : lists_.lists) {
                if (one.candidates.size == 1) {
                    const auto spikes = spikes_per_unit(counted.sequences[i], {.threads = 1});
                    for (std::size_t k = 0; k < one.which.size(); ++k)
                        of_one[one.which[k]] = spikes[to_index(one.candidates.units[k])];
                } else {
                    for (const std::size_t which : one.which) of_one[which] = *next++;
                }
            }
            const std::lock_guard lock(access_);
            take_(counted.begin + static_cast<std::uint32_t>(i), of_one);
            ++done_;
            if (run_.on_progress) run_.on_progress({many_task, done_, what_.end - what_.begin});
        }
    }

    const many_sequences& what_;
    std::size_t episodes_;
    const episode_lists& lists_;
    std::size_t unit_count_;
    const counts_taker& take_;
    const execution& run_;
    std::mutex access_{};
    std::uint32_t next_;
    std::uint64_t done_ = 0;
};

}  // namespace
}  // namespace episodes

bool can_count_in_many(const spike_sequence& like, std::span<const episode> given) {
    const episodes::episode_lists lists(given, like.unit_count());
    const separated_epochs apart(like, lists.reach);
    return apart.spikes().span().length() < duration{episodes::latest_tick};
}

void count_in_many(const many_sequences& what, std::span<const episode> given, tie_rule ties,
                   const counts_taker& take, const execution& run) {
    if (run.devices.empty()) throw invalid_argument("there is no device to count on");
    if (what.begin >= what.end) return;
    const spike_sequence first = what.make(what.begin);
    if (!can_count_in_many(first, given))
        throw invalid_argument(
            "devices count in many sequences only if these are below 71 minutes");
    const episodes::episode_lists lists(given, first.unit_count());
    const episodes::many_counts_problem problem{lists, first.unit_count(), ties, run};
    episodes::many_count all(what, given.size(), lists, first.unit_count(), take, run);
    std::vector<std::unique_ptr<episodes::many_counter>> counters;
    // While one batch waits for the host, the device counts in another.
    constexpr std::size_t at_once = 3;
    counters.reserve(run.devices.size() * at_once);
    for (std::size_t i = 0; i < at_once; ++i)
        for (const int ordinal : run.devices)
            counters.push_back(episodes::cuda().open_many_counter(problem, ordinal));
    parallel::on_own_threads(counters.size(),
                             [&](std::size_t i) { all.run_on(*counters[i], first.size()); });
}

}  // namespace spikeweave
