#include "mine/episodes/latest_start/step_set.hpp"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "core/stop.hpp"
#include "mine/episodes/latest_start/pairs.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {
namespace {

// Makes the tables of all steps from one unit in one look ahead from each of its spikes.
class look_ahead {
public:
    look_ahead(const counting_problem& problem, const train_index& trains)
        : problem_(problem),
          trains_(trains),
          by_low_(intervals_by_low(problem)),
          index_in_train_(problem.spikes.size()) {
        for (std::uint32_t u = 0; u < problem.spikes.unit_count(); ++u) {
            const indexed_train& train = trains[unit_id{u}];
            for (std::uint32_t i = 0; i < train.size; ++i) index_in_train_[train.positions[i]] = i;
        }
    }

    // tables: the tables of `steps`, which all begin at the same unit
    void fill(std::span<const episode_step> steps, std::span<std::optional<step_table>> tables) {
        const std::size_t units = problem_.spikes.unit_count();
        const indexed_train& from = trains_[steps[0].from];
        auto& [builders, wanted] = scratch_.local();
        if (builders.size() < steps.size()) builders.resize(steps.size());
        wanted.assign(units * problem_.intervals.size(), nullptr);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            builders[i].begin(from.size);
            wanted[steps[i].delay * units + to_index(steps[i].to)] = &builders[i];
        }
        for (std::uint32_t spike = 0; spike < from.size; ++spike) {
            if (spike % spikes_between_stop_checks == 0) core::throw_if_stopped(problem_.run.stop);
            look(spike, from, wanted);
        }
        for (std::size_t i = 0; i < steps.size(); ++i) tables[i].emplace(builders[i]);
    }

private:
    using table_list = std::vector<step_table::builder*>;
    struct scratch {
        std::vector<step_table::builder> builders;
        table_list wanted;  // by interval and target unit; null where no step goes
    };

    void look(std::uint32_t spike, const indexed_train& from, const table_list& wanted) const {
        const std::int64_t* const times = problem_.spikes.times_us().data();
        const unit_id* const units = problem_.spikes.units().data();
        const std::size_t end = problem_.spikes.size();
        const std::int64_t time = from.times_us[spike];
        std::size_t begin = from.positions[spike] + std::size_t{1};
        for (const std::uint32_t d : by_low_) {
            const interval_us& interval = problem_.intervals[d];
            step_table::builder* const* const tables =
                wanted.data() + d * problem_.spikes.unit_count();
            while (begin < end && times[begin] <= time + interval.low) ++begin;
            for (std::size_t at = begin; at < end && times[at] <= time + interval.high; ++at) {
                step_table::builder* const table = tables[to_index(units[at])];
                if (table != nullptr) table->add(spike, index_in_train_[at]);
            }
        }
    }

    const counting_problem& problem_;
    const train_index& trains_;
    std::vector<std::uint32_t> by_low_;
    std::vector<std::uint32_t> index_in_train_;  // of each spike of the sequence
    tbb::enumerable_thread_specific<scratch> scratch_;
};

}  // namespace

step_set::step_set(const counting_problem& problem, const train_index& trains,
                   std::vector<episode_step> steps, std::uint64_t most_table_bytes)
    : problem_(problem), trains_(trains), steps_(std::move(steps)), tables_(steps_.size()) {
    if (most_table_bytes == 0 || steps_.empty()) return;
    std::vector<std::size_t> begins;  // of the steps from each unit
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (i == 0 || steps_[i].from != steps_[i - 1].from) begins.push_back(i);
    }
    begins.push_back(steps_.size());
    // A spike examines all spikes that follow it, or each train that a step goes to once, which
    // costs about twice as much.
    const double followers =
        spikes_within_widest(problem) / static_cast<double>(problem.spikes.size());
    const double steps_each =
        static_cast<double>(steps_.size()) / static_cast<double>(begins.size() - 1);
    std::optional<look_ahead> ahead;
    if (followers < 2 * steps_each) ahead.emplace(problem, trains);

    // Which tables are left out may depend on the threads; the counts do not.
    std::atomic<std::uint64_t> held{0};
    tbb::enumerable_thread_specific<step_table::builder> builders;
    parallel::parallel_for(begins.size() - 1, problem.run, "preparing steps", [&](std::size_t b) {
        const std::size_t begin = begins[b];
        const std::size_t count = begins[b + 1] - begin;
        if (held > most_table_bytes) return;
        if (ahead) {
            ahead->fill(std::span{steps_}.subspan(begin, count),
                        std::span{tables_}.subspan(begin, count));
        } else {
            for (std::size_t i = begin; i < begin + count; ++i) {
                const auto& [from, delay, to] = steps_[i];
                collect_step(trains[from], trains[to], problem.intervals[delay], builders.local());
                tables_[i].emplace(builders.local());
            }
        }
        for (std::size_t i = begin; i < begin + count; ++i) {
            if ((held += tables_[i]->bytes()) > most_table_bytes) tables_[i].reset();
        }
    });
}

std::uint64_t step_set::table_bytes() const {
    std::uint64_t total = 0;
    for (const auto& table : tables_) total += table ? table->bytes() : 0;
    return total;
}

void step_set::begin(std::size_t step, survivor_buffer& out) const {
    const auto& [from, delay, to] = steps_[step];
    if (tables_[step]) {
        begin_survivors(*tables_[step], trains_[to].size, out);
    } else {
        begin_survivors(trains_[from], trains_[to], problem_.intervals[delay], out);
    }
}

void step_set::extend(const survivor_view& prefix, std::size_t step, survivor_buffer& out) const {
    const auto& [from, delay, to] = steps_[step];
    if (tables_[step]) {
        extend_survivors(prefix, *tables_[step], trains_[to].size, out);
    } else {
        extend_survivors(trains_[from], prefix, trains_[to], problem_.intervals[delay], out);
    }
}

const step_table& step_set::table_of(std::size_t step, table_room& room) const {
    if (tables_[step]) return *tables_[step];
    const auto& [from, delay, to] = steps_[step];
    collect_step(trains_[from], trains_[to], problem_.intervals[delay], room.collected);
    return room.made.emplace(room.collected);
}

}  // namespace spikeweave::episodes
