// Cuts a stream into windows. The spikes of a window are copied by whoever mines it, and not while
// spikes are taken.

#include "spikeweave/mine/episodes/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <unordered_set>
#include <utility>

#include "mine/episodes/search/strategy.hpp"
#include "mine/episodes/windows/spike_store.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

std::int64_t divide_down(std::int64_t number, std::int64_t by) {
    return number / by - (number % by < 0 ? 1 : 0);
}

// A number that no other epoch of any stream in this process has.
std::uint64_t next_epoch() {
    static std::atomic<std::uint64_t> epochs{0};
    return ++epochs;
}

}  // namespace

template <>
enum_table<window_method> enum_names<window_method>() {
    using enum window_method;
    static constexpr named_value<window_method> values[]{
        {automatic, "automatic"}, {remine, "remine"}, {incremental, "incremental"}};
    return {"way to mine windows", values};
}

option_list describe(episode_window_options& options) {
    option_list list;
    list.begin_group("Windows");
    list.add("window", options.length, "length of a window; growing windows begin with the first")
        .basic()
        .at_least(0)
        .zero_is("growing");
    list.add("hop", options.hop,
             "time from the beginning of one window to the beginning of the next")
        .unset_is("as long as the window");
    list.add("window_method", options.method,
             "how windows are searched: each separately (remine), or by updating the result of the "
             "window before (incremental)");
    list.add_all(describe(options.mining));
    return list;
}

struct episode_windows::state {
    episode_window_options options;
    std::int64_t length_us;
    std::int64_t hop_us;
    std::shared_ptr<std::vector<std::string>> unit_names;
    bool names_are_shared = false;  // with windows that were taken
    std::unordered_set<std::string> known_names;
    episodes::spike_store spikes;  // of the later windows
    std::vector<std::optional<std::int64_t>> last_of_unit;
    std::int64_t watermark = INT64_MIN;   // all spikes before it have arrived
    std::int64_t last_spike = INT64_MIN;  // of those that are in windows
    // Numbers of the first window of the epoch and of the next one, once there is a spike.
    std::optional<std::int64_t> first_window;
    std::int64_t next_window = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t epoch = next_epoch();
    episode_window_miner miner;

    state(std::vector<std::string> names, const episode_window_options& given);
    bool grows() const { return length_us == 0; }
    std::int64_t begin_of(std::int64_t window) const {
        return (grows() ? *first_window : window) * hop_us;
    }
    std::int64_t end_of(std::int64_t window) const {
        return window * hop_us + (grows() ? hop_us : length_us);
    }
    window_bounds bounds_of(std::int64_t window) const {
        return {window, duration{begin_of(window)}, duration{end_of(window)}};
    }
    std::optional<window_bounds> complete() const;
    void move_on();
};

episode_windows::state::state(std::vector<std::string> names, const episode_window_options& given)
    : options(given),
      length_us(given.length.count()),
      hop_us((given.hop == duration{0} ? given.length : given.hop).count()),
      unit_names(std::make_shared<std::vector<std::string>>(std::move(names))),
      known_names(unit_names->begin(), unit_names->end()),
      last_of_unit(unit_names->size()),
      miner(given) {
    check_options(options);
    static_cast<void>(episodes::checked_intervals(options.mining.delays));
    if (hop_us == 0) throw invalid_argument("hop", "growing windows need one");
    static_cast<void>(spike_sequence({}, {}, *unit_names, {}));  // checks the names
}

std::optional<window_bounds> episode_windows::state::complete() const {
    if (!first_window || watermark < end_of(next_window)) return {};
    return bounds_of(next_window);
}

void episode_windows::state::move_on() {
    ++next_window;
    spikes.drop_before(begin_of(next_window));
}

window_spikes::window_spikes(const window_bounds& bounds, std::shared_ptr<const parts> kept)
    : bounds_(bounds), kept_(std::move(kept)) {
    for (const episodes::chunk_part& part : kept_->of_chunks) size_ += part.end - part.begin;
}

spike_sequence window_spikes::sequence() const {
    std::vector<std::int64_t> times;
    std::vector<unit_id> units;
    times.reserve(size_);
    units.reserve(size_);
    for (const auto& [chunk, first, last] : kept_->of_chunks) {
        const auto begin = static_cast<std::ptrdiff_t>(first);
        const auto end = static_cast<std::ptrdiff_t>(last);
        times.insert(times.end(), chunk->times.begin() + begin, chunk->times.begin() + end);
        units.insert(units.end(), chunk->units.begin() + begin, chunk->units.begin() + end);
    }
    return {std::move(times), std::move(units), *kept_->unit_names, {bounds_.begin, bounds_.end}};
}

episode_windows::episode_windows(std::vector<std::string> unit_names,
                                 const episode_window_options& options)
    : state_(std::make_unique<state>(std::move(unit_names), options)) {}

episode_windows::~episode_windows() = default;
episode_windows::episode_windows(episode_windows&&) noexcept = default;
episode_windows& episode_windows::operator=(episode_windows&&) noexcept = default;

void episode_windows::add_unit(std::string name) {
    if (!state_->known_names.insert(name).second)
        throw invalid_argument(fmt::format("there is a unit {} already", name));
    if (std::exchange(state_->names_are_shared, false))
        state_->unit_names = std::make_shared<std::vector<std::string>>(*state_->unit_names);
    state_->unit_names->push_back(std::move(name));
    state_->last_of_unit.emplace_back();
}

void episode_windows::add(std::int64_t time_us, unit_id unit) {
    state& now = *state_;
    if (to_index(unit) >= now.unit_names->size())
        throw invalid_argument(fmt::format("a spike belongs to unit {}, but there are {} units",
                                           to_index(unit), now.unit_names->size()));
    if (time_us < now.watermark)
        throw invalid_argument(fmt::format(
            "a spike at {} us is earlier than {} us, before which all spikes had arrived", time_us,
            now.watermark));
    now.watermark = time_us;
    if (std::exchange(now.last_of_unit[to_index(unit)], time_us) == time_us) {
        ++now.duplicates;
        return;
    }
    if (!now.first_window) now.first_window = now.next_window = divide_down(time_us, now.hop_us);
    // With a hop that is longer than the window, there are spikes in none.
    if (time_us < now.begin_of(now.next_window)) return;
    now.last_spike = time_us;
    now.spikes.add(time_us, unit);
}

void episode_windows::add(std::span<const std::int64_t> times_us, std::span<const unit_id> units) {
    if (times_us.size() != units.size())
        throw invalid_argument(
            fmt::format("{} times for {} units of spikes", times_us.size(), units.size()));
    for (std::size_t i = 0; i < times_us.size(); ++i) add(times_us[i], units[i]);
}

void episode_windows::advance(std::int64_t time_us) {
    state_->watermark = std::max(state_->watermark, time_us);
}

std::optional<window_bounds> episode_windows::complete() const {
    return state_->complete();
}

std::optional<window_spikes> episode_windows::peek() const {
    const auto bounds = complete();
    if (!bounds) return {};
    state_->names_are_shared = true;
    return window_spikes(*bounds,
                         std::make_shared<const window_spikes::parts>(window_spikes::parts{
                             state_->spikes.between(bounds->begin.count(), bounds->end.count()),
                             state_->unit_names, state_->epoch}));
}

std::optional<episode_window> episode_windows::next(const execution& run) {
    const auto spikes = peek();
    if (!spikes) return {};
    episode_window window{spikes->bounds(), spikes->size(), state_->miner.mine(*spikes, run)};
    state_->move_on();
    return window;
}

std::optional<window_spikes> episode_windows::take() {
    auto spikes = peek();
    if (spikes) state_->move_on();
    return spikes;
}

std::optional<window_bounds> episode_windows::skip() {
    const auto bounds = complete();
    if (bounds) state_->move_on();
    return bounds;
}

bool episode_windows::next_is_silent() const {
    const state& now = *state_;
    if (!now.complete()) return false;
    const std::int64_t next = now.next_window;
    return now.last_spike <
           (now.grows() && next > *now.first_window ? now.end_of(next - 1) : now.begin_of(next));
}

std::optional<silent_windows> episode_windows::skip_silent() {
    if (!next_is_silent()) return {};
    state& now = *state_;
    // No spike follows the known ones, up to the watermark.
    const std::int64_t last = divide_down(now.watermark - now.end_of(0), now.hop_us);
    const silent_windows skipped{now.bounds_of(now.next_window), now.bounds_of(last)};
    now.next_window = last;
    now.move_on();
    return skipped;
}

void episode_windows::flush() {
    state_->spikes.clear();
    std::fill(state_->last_of_unit.begin(), state_->last_of_unit.end(), std::nullopt);
    state_->watermark = INT64_MIN;
    state_->first_window.reset();
    state_->epoch = next_epoch();
}

std::uint64_t episode_windows::duplicates() const {
    return state_->duplicates;
}

std::size_t episode_windows::spikes_kept() const {
    return state_->spikes.size();
}

}  // namespace spikeweave
