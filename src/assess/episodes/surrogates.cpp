#include "spikeweave/assess/episodes/surrogates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "assess/episodes/renewal.hpp"
#include "io/little_endian.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes/many_counts.hpp"

namespace spikeweave {

using assess::adjust_by_size;
using assess::independent_units;
using assess::start_probability_for;
using assess::step_of;
using parallel::block_of_rank;
using parallel::gather_on_all;
using parallel::rank_block;

namespace {

// The time step of the renewal model, as in significance_options.
constexpr duration tick = std::chrono::milliseconds{1};

// An episode of three units or more gets no smaller p than the steps of it that the table lists, as
// in the default test. Otherwise a burst of A around a chance spike of B would make A, B, A
// significant: surrogates take the burst apart as well.
void raise_to_steps(const episode_table& table, std::vector<double>& p) {
    std::map<episode, double> of_pair;
    for (std::size_t i = 0; i < p.size(); ++i)
        if (table.episodes[i].what.size() == 2) of_pair.emplace(table.episodes[i].what, p[i]);
    for (std::size_t i = 0; i < p.size(); ++i) {
        const episode& what = table.episodes[i].what;
        for (std::size_t k = 0; what.size() > 2 && k < what.delays.size(); ++k)
            if (const auto step = of_pair.find(step_of(what, k)); step != of_pair.end())
                p[i] = std::max(p[i], step->second);
    }
}

struct surrogate_range {
    std::size_t first;
    std::size_t number;
};

void count_on_threads(const surrogate_maker& maker, std::span<const episode> episodes,
                      const episode_table& table, const surrogate_range& which,
                      surrogate_tally& tally, const execution& run) {
    std::mutex adding;
    parallel::parallel_for(which.number, run, "counting in surrogates", [&](std::size_t i) {
        const spike_sequence surrogate =
            maker.make_sequence(static_cast<std::uint32_t>(which.first + i)).spikes;
        const std::vector<std::uint64_t> counts =
            count_episodes(surrogate, episodes, {.ties = table.ties},
                           {.threads = 1, .stop = run.stop})
                .counts;
        const std::lock_guard lock(adding);
        tally.add(counts, table);
    });
}

}  // namespace

void surrogate_tally::add(std::span<const std::uint64_t> counts, const episode_table& table) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        entries_[i].sum += counts[i];
        entries_[i].reached += counts[i] >= table.episodes[i].count ? 1 : 0;
    }
    ++surrogates_;
}

void surrogate_tally::merge(const surrogate_tally& other) {
    if (other.entries_.size() != entries_.size())
        throw invalid_argument(fmt::format("a tally of {} episodes does not fit one of {}",
                                           other.entries_.size(), entries_.size()));
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        entries_[i].sum += other.entries_[i].sum;
        entries_[i].reached += other.entries_[i].reached;
    }
    surrogates_ += other.surrogates_;
}

std::string surrogate_tally::to_bytes() const {
    std::string bytes;
    io::append(bytes, surrogates_);
    for (const entry& one : entries_) {
        io::append(bytes, one.sum);
        io::append(bytes, one.reached);
    }
    return bytes;
}

surrogate_tally surrogate_tally::from_bytes(std::string_view bytes) {
    constexpr std::size_t width = sizeof(std::uint64_t);
    if (bytes.size() % (2 * width) != width)
        throw invalid_argument("these bytes are not a tally of surrogates");
    surrogate_tally out((bytes.size() - width) / (2 * width));
    out.surrogates_ = io::load<std::uint64_t>(bytes.data());
    const char* at = bytes.data() + width;
    for (entry& one : out.entries_) {
        one = {io::load<std::uint64_t>(at), io::load<std::uint64_t>(at + width)};
        at += 2 * width;
    }
    return out;
}

surrogate_tally count_in_surrogates(const spike_sequence& spikes, const episode_table& table,
                                    const surrogate_options& options, const execution& run,
                                    const surrogate_part& part) {
    std::vector<episode> episodes;
    episodes.reserve(table.episodes.size());
    for (const counted_episode& counted : table.episodes) episodes.push_back(counted.what);

    const surrogate_maker maker(spikes, options);
    const std::uint32_t before = part.begin(options.surrogates);
    const rank_block block = block_of_rank(part.end(options.surrogates) - before, run);
    const std::size_t first = before + block.begin;
    surrogate_tally own(episodes.size());
    if (!run.devices.empty() && can_count_in_many(spikes, episodes)) {
        count_in_many(
            {[&](std::uint32_t which) { return maker.make_sequence(which).spikes; },
             static_cast<std::uint32_t>(first),
             static_cast<std::uint32_t>(first + block.end - block.begin)},
            episodes, table.ties,
            [&](std::uint32_t, std::span<const std::uint64_t> counts) { own.add(counts, table); },
            run);
    } else {
        count_on_threads(maker, episodes, table, {first, block.end - block.begin}, own, run);
    }
    if (!run.ranks) return own;
    surrogate_tally whole(episodes.size());
    for (const std::string& bytes : gather_on_all(own.to_bytes(), run))
        whole.merge(surrogate_tally::from_bytes(bytes));
    return whole;
}

std::vector<surrogate_test> test_against_surrogates(const spike_sequence& spikes,
                                                    const episode_table& table,
                                                    const surrogate_tally& counted,
                                                    correction_method correction) {
    if (counted.surrogates() == 0)
        throw invalid_argument("an assessment needs at least one surrogate");
    const std::vector<surrogate_tally::entry>& tallies = counted.entries();
    if (tallies.size() != table.episodes.size())
        throw invalid_argument(
            fmt::format("{} episodes were counted in surrogates, but there are {}", tallies.size(),
                        table.episodes.size()));

    independent_units null(spikes, tick);
    const auto surrogates = static_cast<double>(counted.surrogates());
    std::vector<double> p;
    std::vector<double> tail_p;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        const auto& [what, count] = table.episodes[i];
        p.push_back(static_cast<double>(1 + tallies[i].reached) / (1 + surrogates));
        // The data count as one more surrogate, for the mean and for p. Otherwise a count that, by
        // chance, no surrogate reaches would look impossible.
        const double mean = static_cast<double>(tallies[i].sum + count) / (1 + surrogates);
        occurrence_model model = null.model(what);
        model.start_probability = start_probability_for(mean, model.ticks, model.span_ticks);
        tail_p.push_back(what.size() < 2 ? 1 : model.tail_probability(count));
    }
    raise_to_steps(table, p);
    raise_to_steps(table, tail_p);
    const std::vector<double> q = adjust_by_size(table, p, correction);
    const std::vector<double> tail_q = adjust_by_size(table, tail_p, correction);
    std::vector<surrogate_test> out;
    for (std::size_t i = 0; i < tallies.size(); ++i)
        out.push_back(
            {static_cast<double>(tallies[i].sum) / surrogates, p[i], q[i], tail_p[i], tail_q[i]});
    return out;
}

std::vector<surrogate_test> test_against_surrogates(const spike_sequence& spikes,
                                                    const episode_table& table,
                                                    const surrogate_options& options,
                                                    correction_method correction,
                                                    const execution& run) {
    return test_against_surrogates(spikes, table, count_in_surrogates(spikes, table, options, run),
                                   correction);
}

std::vector<episode_test> with_surrogate_tests(std::span<const episode_test> assessed,
                                               std::span<const surrogate_test> surrogates) {
    if (assessed.size() != surrogates.size())
        throw invalid_argument(fmt::format("{} episodes were assessed, but {} by surrogates",
                                           assessed.size(), surrogates.size()));
    std::vector<episode_test> out(assessed.begin(), assessed.end());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].expected = surrogates[i].mean_count;
        out[i].p = surrogates[i].tail_p;
        out[i].q = std::max(surrogates[i].tail_q, surrogates[i].p);
    }
    return out;
}

}  // namespace spikeweave
