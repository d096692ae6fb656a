#include "live/detection/tracked_counts.hpp"

#include <algorithm>

namespace spikeweave::live {
namespace {

std::vector<episode> episodes_of(std::span<const armed_episode> armed) {
    std::vector<episode> all;
    for (const armed_episode& one : armed) all.push_back(one.what);
    return all;
}

// So many times without a spike are given on both ends of a leap.
constexpr std::int64_t most_silent = 500;

// The first multiple above a time.
std::int64_t multiple_above(std::int64_t time, std::int64_t of) {
    const std::int64_t part = time % of;
    return time - part + (part < 0 ? 0 : of);
}

}  // namespace

tracked_counts::tracked_counts(std::span<const armed_episode> armed, std::size_t unit_count,
                               tie_rule ties, const tracking_options& options, sink& results)
    : results_(&results),
      unit_count_(unit_count),
      options_(options),
      tracker_(episodes_of(armed), unit_count, options.length, ties),
      counts_(armed.size()) {}

void tracked_counts::add(const spike_event& spike) {
    if (!first_) {
        first_ = spike.time_us;
        next_ = multiple_above(spike.time_us, options_.every.count());
    }
    give_before(spike.time_us);
    last_us_ = spike.time_us;
    if (to_index(spike.unit) < unit_count_) tracker_.add(spike.time_us, spike.unit);
}

void tracked_counts::advance(std::int64_t time_us) {
    if (first_) give_before(time_us);
}

void tracked_counts::give_before(std::int64_t time_us) {
    leave_out_silent_before(time_us);
    give_until(time_us);
}

void tracked_counts::give_until(std::int64_t time_us) {
    for (; next_ <= time_us; next_ += options_.every.count()) {
        tracker_.advance(next_);
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] = tracker_.count(i);
        const std::int64_t begin =
            options_.length == duration{0} ? *first_ : next_ - options_.length.count();
        results_->take(counts_in_window{{duration{begin}, duration{next_}}, counts_});
    }
}

// Where the time of a stream leaps, the counts of thousands of windows are the same. The last of
// them are given.
void tracked_counts::leave_out_silent_before(std::int64_t time_us) {
    const std::int64_t every = options_.every.count();
    const std::int64_t silent_from = std::max(next_, last_us_ + options_.length.count());
    if ((time_us - silent_from) / every <= 2 * most_silent) return;
    give_until(silent_from + most_silent * every);
    next_ += ((time_us - next_) / every - most_silent) * every;
}

void tracked_counts::end_epoch() {
    tracker_.flush();
    first_.reset();
}

}  // namespace spikeweave::live
