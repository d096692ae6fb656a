#include <fmt/format.h>

#include <algorithm>

#include "core/stop.hpp"
#include "mine/spade/devices/maxima_input.hpp"
#include "mine/spade/devices/searches.hpp"
#include "mine/spade/search/miners.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/mine/spade/pattern_blocks.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave {
namespace {

bool identical(const spade_windows& windows) {
    for (std::size_t w = 1; w < windows.size(); ++w)
        if (!std::ranges::equal(windows.items(w), windows.items(0))) return false;
    return windows.size() > 0;
}

mining_summary mine_on_first_device(const spade_windows& windows,
                                    const pattern_mining_options& options,
                                    const spade::block_taker& take, const execution& run) {
    if (options.strategy == spade_strategy::fp_growth)
        throw invalid_argument("strategy", "FP-growth does not run on GPUs");
    if (run.ranks && run.ranks->size() > 1)
        throw invalid_argument("ranks do not share the search of a GPU");
    // A device packs a unit and a lag into one word.
    const spade::maxima_shape shape{.units = static_cast<std::uint32_t>(windows.unit_count()),
                                    .window_bins = windows.window_bins()};
    if (!spade::can_be_packed(shape)) return spade::mine_first_bin(windows, options, take, run);
    return spade::mine_on_device(
        [&](const spade::pattern_recording& recording) {
            return spade::open_pattern_device(run.devices.front(), recording);
        },
        windows, options, take, run);
}

}  // namespace

template <>
enum_table<spectrum_kind> enum_names<spectrum_kind>() {
    using enum spectrum_kind;
    static constexpr named_value<spectrum_kind> values[]{
        {size_count, "#", "spikes and occurrences"},
        {size_count_duration, "3d#", "also the duration"}};
    return {"spectrum", values};
}

template <>
enum_table<spade_strategy> enum_names<spade_strategy>() {
    using enum spade_strategy;
    static constexpr named_value<spade_strategy> values[]{
        {automatic, "automatic", "the library chooses"},
        {fp_growth, "fp-growth",
         "the published FP-growth (Porrmann et al. 2021), filter in the collector"},
        {first_bin, "first-bin",
         "depth-first search of closed patterns only, from spikes in the first bin"}};
    return {"strategy", values};
}

std::vector<spade_strategy> available_spade_strategies() {
    return {spade_strategy::automatic, spade_strategy::fp_growth, spade_strategy::first_bin};
}

void spade::check_options(const pattern_mining_options& options) {
    if (options.rules.empty()) throw invalid_argument("no rule for the patterns is given");
    for (const pattern_rule& rule : options.rules) {
        spikeweave::check_options(rule);
        if (rule.max_spikes > 0 && rule.max_spikes < rule.min_spikes)
            throw invalid_argument(fmt::format("max_spikes {} is below min_spikes {}",
                                               rule.max_spikes, rule.min_spikes));
        if (rule.max_spikes > 0 && rule.max_spikes < rule.min_neu)
            throw invalid_argument(fmt::format("no pattern of at most {} spikes has {} units",
                                               rule.max_spikes, rule.min_neu));
        if (options.max_occ > 0 && options.max_occ < rule.min_occ)
            throw invalid_argument(
                fmt::format("max_occ {} is below min_occ {}", options.max_occ, rule.min_occ));
    }
}

pattern_mining_options spade::checked_options(const spade_windows& windows,
                                              pattern_mining_options options) {
    check_options(options);
    if (options.take_identical_windows && identical(windows)) {
        options.rules = {{.min_occ = 1, .min_spikes = 1, .min_neu = 1}};
        options.max_occ = 0;
    }
    return options;
}

mining_summary mine_patterns(const spade_windows& windows, const pattern_mining_options& given,
                             const std::function<void(const pattern_table& block)>& take,
                             const execution& run) {
    const pattern_mining_options options = spade::checked_options(windows, given);
    core::throw_if_stopped(run.stop);
    if (!run.devices.empty()) return mine_on_first_device(windows, options, take, run);
    if (options.strategy == spade_strategy::fp_growth)
        return spade::mine_fp_growth(windows, options, take, run);
    return spade::mine_first_bin(windows, options, take, run);
}

pattern_mining_result mine_patterns(const spade_windows& windows,
                                    const pattern_mining_options& options, const execution& run) {
    pattern_mining_result mined{};
    pattern_blocks blocks(windows.window_bins());
    mined.summary = mine_patterns(
        windows, options, [&](const pattern_table& block) { blocks.append(block); }, run);
    mined.table = blocks.joined(run.stop);
    return mined;
}

}  // namespace spikeweave
