#include <cstdint>
#include <optional>
#include <utility>

#include "mine/episodes/latest_start/step_set.hpp"
#include "mine/episodes/search/level_table.hpp"
#include "mine/episodes/search/strategy.hpp"
#include "mine/episodes/windows/sliding/sliding_search.hpp"
#include "mine/episodes/windows/spike_store.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

namespace spikeweave {
namespace {

using episodes::sliding_search;

// Whether windows of these options may be mined incrementally at all.
bool may_slide(const episode_window_options& options) {
    const episode_strategy how = options.mining.strategy;
    if (how != episode_strategy::automatic && how != episode_strategy::latest_start) return false;
    if (options.method != window_method::automatic)
        return options.method == window_method::incremental;
    // With hops of a tenth of the window it was slower on some streams (docs/algorithms/live.md).
    constexpr int least_hops = 20;
    return options.hop > duration{0} && options.length / least_hops >= options.hop;
}

}  // namespace

struct episode_window_miner::state {
    episode_window_options options;
    bool slides;
    std::optional<sliding_search> search{};  // of the window before
    std::uint64_t epoch = 0;                 // of the last window
    // Windows that begin before this are mined by themselves.
    duration by_themselves_to = duration::min();
    std::uint64_t mined_incrementally = 0;

    void begin_epoch(std::uint64_t number);
    bool goes_on(const spike_sequence& spikes) const;
    std::optional<episode_table> from_the_last(const spike_sequence& spikes, const execution& run,
                                               const std::stop_token& enough);
};

void episode_window_miner::state::begin_epoch(std::uint64_t number) {
    if (std::exchange(epoch, number) == number) return;
    search.reset();
    by_themselves_to = duration::min();
}

bool episode_window_miner::state::goes_on(const spike_sequence& spikes) const {
    return search && search->unit_count() == spikes.unit_count() &&
           search->begin() <= spikes.span().begin && spikes.span().begin <= search->end() &&
           search->has_numbers_for(spikes.size());
}

// Returns null if the lists need more memory than they may.
std::optional<episode_table> episode_window_miner::state::from_the_last(
    const spike_sequence& spikes, const execution& run, const std::stop_token& enough) {
    const bool is_first = !goes_on(spikes);
    if (is_first) search.emplace(options.mining, spikes.unit_count());
    // The state is lost if the search does not finish.
    sliding_search now = std::move(*std::exchange(search, std::nullopt));
    bool fits = true;
    episode_table table =
        episodes::mine_until(enough, run, [&](const execution& until, episode_table& filled) {
            episodes::begin_table(spikes, options.mining, until, filled);
            fits = now.move_to(spikes, until.stop, filled);
        });
    if (!fits || table.complete_to_size)
        by_themselves_to = spikes.span().end;
    else
        search.emplace(std::move(now));
    if (!fits) return {};
    if (!is_first) ++mined_incrementally;
    return table;
}

episode_window_miner::episode_window_miner(const episode_window_options& options)
    : state_(std::make_unique<state>(state{options, may_slide(options)})) {
    check_options(state_->options);
    static_cast<void>(episodes::checked_intervals(options.mining.delays));
}

episode_window_miner::~episode_window_miner() = default;
episode_window_miner::episode_window_miner(episode_window_miner&&) noexcept = default;
episode_window_miner& episode_window_miner::operator=(episode_window_miner&&) noexcept = default;

episode_table episode_window_miner::mine(const window_spikes& window, const execution& run,
                                         const std::stop_token& enough) {
    state& now = *state_;
    const spike_sequence spikes = window.sequence();
    now.begin_epoch(window.kept_->epoch);
    const bool slides = now.slides && run.devices.empty() &&
                        spikes.span().begin >= now.by_themselves_to &&
                        sliding_search::bytes_of_pairs(now.options.mining, spikes.unit_count()) <=
                            episodes::default_table_bytes;
    if (slides) {
        if (auto table = now.from_the_last(spikes, run, enough)) return *std::move(table);
    }
    return mine_episodes(spikes, now.options.mining, run, enough);
}

std::uint64_t episode_window_miner::mined_incrementally() const {
    return state_->mined_incrementally;
}

}  // namespace spikeweave
