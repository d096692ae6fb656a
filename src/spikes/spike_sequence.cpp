#include "spikeweave/spikes/spike_sequence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "core/text.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/nearest_name.hpp"

namespace spikeweave {

using core::is_digit;

namespace {

constexpr std::size_t most_spikes = UINT32_MAX;
constexpr std::size_t page_bytes = std::size_t{12} << 16;

void check_size(std::size_t spikes) {
    if (spikes > most_spikes)
        throw invalid_argument(fmt::format(
            "{} spikes are more than the {} that one spike sequence holds", spikes, most_spikes));
}

// Returns the digits at the front without leading zeros, and the number of characters with them.
std::pair<std::string_view, std::size_t> leading_number(std::string_view text) {
    const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) -
                                              text.begin());
    const std::size_t zeros = std::min(text.find_first_not_of('0'), end);
    return {text.substr(zeros, end - zeros), end};
}

using listed_spike = std::pair<std::int64_t, unit_id>;

// Callers and most files list the spikes unit by unit, each in order. Merging these runs takes half
// the time of a general sort. The order of equal spikes is kept.
template <class Less>
void merge_runs(std::vector<listed_spike>& spikes, Less less) {
    std::vector<listed_spike> merged(spikes.size());
    for (bool is_sorted = false; !is_sorted;) {
        auto to = merged.begin();
        for (auto run = spikes.begin(); run != spikes.end();) {
            const auto middle = std::is_sorted_until(run, spikes.end(), less);
            const auto end = std::is_sorted_until(middle, spikes.end(), less);
            is_sorted = run == spikes.begin() && end == spikes.end();
            to = std::merge(run, middle, middle, end, to, less);
            run = end;
        }
        spikes.swap(merged);
        is_sorted = is_sorted || spikes.empty();
    }
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a;
    const std::string_view whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const auto [number_a, taken_a] = leading_number(a);
            const auto [number_b, taken_b] = leading_number(b);
            if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
            if (number_a != number_b) return number_a < number_b;
            a.remove_prefix(taken_a);
            b.remove_prefix(taken_b);
        } else if (a.front() != b.front()) {
            return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
        } else {
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    if (a.empty() != b.empty()) return a.empty();
    return whole_a < whole_b;  // "01" and "1" are equal numbers but different labels
}

std::vector<std::uint32_t> natural_order(std::span<const std::string> names) {
    std::vector<std::uint32_t> order(names.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return natural_less(names[a], names[b]); });
    return order;
}

spike_sequence::spike_sequence(std::vector<std::int64_t> times_us, std::vector<unit_id> units,
                               std::vector<std::string> unit_names, time_span span)
    : times_us_(std::move(times_us)),
      units_(std::move(units)),
      unit_names_(std::move(unit_names)),
      span_(span) {
    check_size(times_us_.size());
    if (times_us_.size() != units_.size())
        throw invalid_argument(
            fmt::format("{} times for {} units of spikes", times_us_.size(), units_.size()));
    if (std::set<std::string_view>(unit_names_.begin(), unit_names_.end()).size() !=
        unit_names_.size())
        throw invalid_argument("two units have the same name");
    std::vector<std::int64_t> last(unit_names_.size(), INT64_MIN);
    for (std::size_t i = 0; i < times_us_.size(); ++i) {
        if (to_index(units_[i]) >= unit_names_.size())
            throw invalid_argument(
                fmt::format("spike {} belongs to unit {}, but there are {} units", i,
                            to_index(units_[i]), unit_names_.size()));
        if (i > 0 && times_us_[i] < times_us_[i - 1])
            throw invalid_argument(fmt::format("spike {} is earlier than the one before it", i));
        if (std::exchange(last[to_index(units_[i])], times_us_[i]) == times_us_[i])
            throw invalid_argument(fmt::format("spike {} is listed twice", i));
    }
    if (span_.end < span_.begin || (!empty() && (duration{times_us_.front()} < span_.begin ||
                                                 duration{times_us_.back()} > span_.end)))
        throw invalid_argument("the span does not hold every spike");
}

std::vector<time_span> spike_sequence::observed() const {
    if (epochs_.empty()) return {span_};
    std::vector<time_span> out = epochs_;
    for (time_span& one : out) one.end -= duration{1};
    return out;
}

duration spike_sequence::observed_time() const {
    if (epochs_.empty()) return span_.length();
    duration sum{0};
    for (const time_span& one : epochs_) sum += one.length();
    return sum;
}

unit_id spike_sequence::unit(std::string_view name) const {
    const auto found = std::find(unit_names_.begin(), unit_names_.end(), name);
    if (found != unit_names_.end())
        return unit_id{static_cast<std::uint32_t>(found - unit_names_.begin())};
    constexpr std::size_t shown = 12;
    const bool are_all_shown = unit_names_.size() <= shown;
    const auto last = unit_names_.begin() +
                      static_cast<std::ptrdiff_t>(are_all_shown ? unit_names_.size() : shown);
    throw invalid_argument(
        fmt::format("no unit is named '{}'; there are {}: {}{}", name, unit_names_.size(),
                    fmt::join(unit_names_.begin(), last, ", "),
                    are_all_shown ? "" : ", …" + did_you_mean(nearest_name(name, unit_names_))));
}

spike_sequence sequence_of(std::vector<listed_spike> spikes, std::vector<std::string> unit_names,
                           time_span span) {
    merge_runs(spikes, std::less<>{});
    std::vector<std::int64_t> times_us;
    std::vector<unit_id> units;
    times_us.reserve(spikes.size());
    units.reserve(spikes.size());
    for (const auto& [time_us, unit] : spikes) {
        times_us.push_back(time_us);
        units.push_back(unit);
    }
    return {std::move(times_us), std::move(units), std::move(unit_names), span};
}

void listing_order::add(std::int64_t time_us, unit_id unit) {
    if (to_index(unit) >= units_.size()) units_.resize(to_index(unit) + 1);
    listed_unit& one = units_[to_index(unit)];
    if (time_us < one.last_us) {
        ++one.falls;
        const bool is_deep = time_us - one.first_us <= (one.last_us - one.first_us) / 2;
        one.deep_falls += is_deep ? 1 : 0;
    }
    one.first_us = std::min(one.first_us, time_us);
    one.last_us = time_us;
    ++spikes_;
    again_ += one.falls > 0 ? 1 : 0;
    falls_ += std::exchange(last_us_, time_us) > time_us ? 1 : 0;
}

std::size_t listing_order::out_of_order_in_units() const {
    std::size_t falls = 0;
    for (const listed_unit& unit : units_) falls += unit.falls;
    return falls;
}

repeated_begins listing_order::begins() const {
    repeated_begins out;
    std::size_t deep = 0;
    for (const listed_unit& unit : units_) {
        out.units += unit.falls > 0 ? 1 : 0;
        out.most = std::max<std::size_t>(out.most, unit.falls);
        deep += unit.deep_falls;
    }
    // Spikes in no order rise twice in a row on average.
    constexpr std::size_t long_run = 3;
    constexpr std::size_t enough = 12;
    constexpr std::size_t least_share = 10;
    out.look_like_trials = out.units > 0 && 2 * deep >= out_of_order_in_units() &&
                           spikes_ >= enough && spikes_ >= long_run * (falls_ + 1) &&
                           least_share * again_ >= spikes_;
    return out;
}

unit_id spike_sequence_builder::unit(std::string_view label) {
    const auto [found, fresh] =
        ids_.try_emplace(std::string(label), static_cast<std::uint32_t>(labels_.size()));
    if (fresh) labels_.emplace_back(label);
    return unit_id{found->second};
}

void spike_sequence_builder::unmap::operator()(std::int64_t* memory) const noexcept {
    ::munmap(memory, page_bytes);
}

unit_id* spike_sequence_builder::page::units() const {
    return reinterpret_cast<unit_id*>(memory.get() + page_length);
}

spike_sequence_builder::page spike_sequence_builder::new_page() {
    static_assert(page_length * (sizeof(std::int64_t) + sizeof(unit_id)) == page_bytes);
    void* const memory =
        ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    page fresh;
    fresh.memory.reset(static_cast<std::int64_t*>(memory));
    return fresh;
}

// Sorts the collected spikes and stores them in pages. They extend the previous run if they begin
// no earlier than it ends.
void spike_sequence_builder::close_run() {
    const std::size_t n = run_times_.size();
    if (n == 0) return;
    if (closed_ == 0) order_ = {};
    for (std::size_t i = 0; i < n; ++i) order_.add(run_times_[i], run_units_[i]);

    if (!std::is_sorted(run_times_.begin(), run_times_.end())) {
        std::vector<listed_spike> spikes(n);
        for (std::size_t i = 0; i < n; ++i) spikes[i] = {run_times_[i], run_units_[i]};
        merge_runs(spikes, [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t i = 0; i < n; ++i) std::tie(run_times_[i], run_units_[i]) = spikes[i];
    }
    if (pages_.empty() || run_times_.front() < pages_.back().times_us()[pages_.back().size - 1])
        run_starts_.push_back(pages_.size());
    for (std::size_t begin = 0; begin < n; begin += page_length) {
        page& fresh = pages_.emplace_back(new_page());
        fresh.size = std::min(page_length, n - begin);
        std::copy_n(run_times_.data() + begin, fresh.size, fresh.times_us());
        std::copy_n(run_units_.data() + begin, fresh.size, fresh.units());
    }
    closed_ += n;
    run_times_.clear();
    run_units_.clear();
}

std::vector<std::uint32_t> spike_sequence_builder::ranks_of_labels() const {
    const std::vector<std::uint32_t> by_name = natural_order(labels_);
    std::vector<std::uint32_t> rank(labels_.size());
    for (std::uint32_t r = 0; r < by_name.size(); ++r) rank[by_name[r]] = r;
    return rank;
}

// A cursor over one sorted run.
struct spike_sequence_builder::run {
    std::size_t number;
    std::size_t page_at;
    std::size_t page_end;
    std::size_t spike_at = 0;
    std::int64_t time_us;

    // The top of the queue is the earliest run, and among equal ones the one that came first, which
    // keeps the merge stable.
    friend bool operator<(const run& a, const run& b) {
        return a.time_us != b.time_us ? a.time_us > b.time_us : a.number > b.number;
    }
};

void spike_sequence_builder::merge_into(spike_sequence& out,
                                        const std::vector<std::uint32_t>& rank) {
    std::priority_queue<run> queue;
    for (std::size_t r = 0; r < run_starts_.size(); ++r) {
        const std::size_t end = r + 1 < run_starts_.size() ? run_starts_[r + 1] : pages_.size();
        queue.push({r, run_starts_[r], end, 0, pages_[run_starts_[r]].times_us()[0]});
    }
    std::vector<std::int64_t> last(labels_.size(), INT64_MIN);
    while (!queue.empty()) {
        run current = queue.top();
        queue.pop();
        // The queue is not needed as long as this run stays the earliest.
        const bool alone = queue.empty();
        bool more = true;
        do {
            page& from = pages_[current.page_at];
            const std::int64_t* const times = from.times_us();
            const unit_id* const units = from.units();
            std::size_t i = current.spike_at;
            do {
                current.time_us = times[i];
                if (!alone && current < queue.top()) break;
                const unit_id unit{rank[to_index(units[i])]};
                if (std::exchange(last[to_index(unit)], times[i]) == times[i]) {
                    ++duplicates_;
                } else {
                    out.times_us_.push_back(times[i]);
                    out.units_.push_back(unit);
                }
            } while (++i < from.size);
            current.spike_at = i;
            if (i < from.size) break;
            from = page{};
            current.spike_at = 0;
            more = ++current.page_at != current.page_end;
            if (more) current.time_us = pages_[current.page_at].times_us()[0];
        } while (more && (alone || queue.top() < current));
        if (more) queue.push(current);
    }
}

spike_sequence spike_sequence_builder::finish() {
    close_run();
    run_times_ = {};
    run_units_ = {};
    check_size(closed_);
    duplicates_ = 0;
    spike_sequence out;
    out.times_us_.reserve(closed_);
    out.units_.reserve(closed_);
    const std::vector<std::uint32_t> rank = ranks_of_labels();
    merge_into(out, rank);
    out.unit_names_.resize(labels_.size());
    for (std::size_t u = 0; u < labels_.size(); ++u)
        out.unit_names_[rank[u]] = std::move(labels_[u]);
    if (!out.empty()) out.span_ = {duration{out.times_us_.front()}, duration{out.times_us_.back()}};
    pages_.clear();
    run_starts_.clear();
    labels_.clear();
    ids_.clear();
    closed_ = 0;
    return out;
}

spike_sequence spike_sequence_builder::finish(time_span span) {
    spike_sequence out = finish();
    if (out.empty()) {
        out.span_ = span;
    } else {
        out.span_ = {std::min(span.begin, out.span_.begin), std::max(span.end, out.span_.end)};
    }
    return out;
}

}  // namespace spikeweave
