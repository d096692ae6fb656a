#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/assess/spade/reduction.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

/// SPADE from end to end on simulated data, as Stella et al. 2019 (doi:10.1016/
/// j.biosystems.2019.104022) validated it: windows of 50 bins of 1 ms, at least 3 occurrences,
/// spikes dithered by 5 bins, alpha 0.01, reduction with 2,0,0.
namespace spade_calibration {

constexpr double alpha = 0.01;

struct protocol {
    spikeweave::duration bin = std::chrono::milliseconds{1};
    std::uint32_t window_bins = 50;
    std::uint32_t min_occ = 3;
};

/// A spectrum, and the rules of the decisions.
struct spectrum_case {
    spikeweave::spectrum_kind kind;
    spikeweave::compatibility compat;
};
constexpr std::array spectrum_cases{
    spectrum_case{spikeweave::spectrum_kind::size_count_duration, spikeweave::compatibility::none},
    spectrum_case{spikeweave::spectrum_kind::size_count_duration,
                  spikeweave::compatibility::elephant},
    spectrum_case{spikeweave::spectrum_kind::size_count, spikeweave::compatibility::none},
    spectrum_case{spikeweave::spectrum_kind::size_count, spikeweave::compatibility::elephant},
};

struct outcome {
    std::size_t tested = 0;       ///< signatures
    std::size_t significant = 0;  ///< patterns
    std::size_t reduced = 0;      ///< of these after the reduction
    bool found = false;           ///< the planted pattern is one of them, spike by spike
};

/// The result for one recording: the patterns mined, and those left in each of the
/// `spectrum_cases`.
struct result {
    std::size_t mined = 0;
    std::array<outcome, spectrum_cases.size()> outcomes{};
};

inline spikeweave::occurrence_maxima over_durations(const spikeweave::occurrence_maxima& maxima) {
    spikeweave::occurrence_maxima out;
    for (std::uint32_t size = 0; size < maxima.sizes(); ++size) {
        std::uint32_t most = 0;
        for (std::uint32_t d = 0; d < maxima.durations; ++d)
            most = std::max(most, maxima.at(size, d));
        out.most.push_back(most);
    }
    return out;
}

inline bool is_planted(const spikeweave::pattern_table& table, std::size_t i,
                       const spikeweave::planted_pattern& planted, spikeweave::duration bin) {
    const auto items = table.pattern(i);
    if (items.size() != planted.units.size()) return false;
    for (std::size_t k = 0; k < items.size(); ++k)
        if (table.unit(items[k]) != planted.units[k] ||
            table.lag(items[k]) * bin != planted.lags[k])
            return false;
    return true;
}

inline outcome judge(const spikeweave::pattern_table& table,
                     const spikeweave::pvalue_spectrum& spectrum, const spectrum_case& how,
                     const std::vector<spikeweave::planted_pattern>& planted, const protocol& as) {
    const auto tests =
        spikeweave::test_signatures(spikeweave::count_signatures(table, how.kind), spectrum,
                                    {.alpha = alpha, .compat = how.compat});
    outcome out;
    for (const auto& test : tests.signatures) out.tested += test.tested;
    std::vector<std::size_t> list =
        spikeweave::filter_patterns(table, how.kind, tests.not_significant);
    out.significant = list.size();
    std::ranges::stable_sort(list, {}, [&](std::size_t i) { return table.counts[i]; });
    const auto reduced = spikeweave::reduce_patterns(table, list, tests.not_significant,
                                                     {.spectrum = how.kind,
                                                      .h_subset_filtering = 2,
                                                      .min_occ = as.min_occ,
                                                      .compat = how.compat});
    out.reduced = reduced.kept.size();
    out.found = !planted.empty() && std::ranges::any_of(reduced.kept, [&](std::size_t i) {
        return is_planted(table, i, planted.front(), as.bin);
    });
    return out;
}

/// Runs on one core. The seeds of data and surrogates are those of the options.
inline result run(const spikeweave::patterns_options& data,
                  const spikeweave::surrogate_options& surrogates, const protocol& as = {}) {
    using namespace spikeweave;
    const simulated_patterns made = simulate_patterns(data);
    const binning_options bins{.bin = as.bin};
    const pattern_mining_options mining{.rules = {{.min_occ = as.min_occ}}};
    const execution one{.threads = 1};
    const pattern_mining_result mined = mine_patterns(
        spade_windows(bin_spikes(made.spikes, bins).spikes, as.window_bins), mining, one);

    const surrogate_maker maker(made.spikes, surrogates, bins);
    maxima_tally with_durations(spectrum_kind::size_count_duration, as.window_bins);
    maxima_tally without(spectrum_kind::size_count, as.window_bins);
    for (std::uint32_t s = 0; s < surrogates.surrogates; ++s) {
        const occurrence_maxima maxima =
            find_occurrence_maxima(spade_windows(maker.make(s), as.window_bins), mining,
                                   spectrum_kind::size_count_duration, one);
        with_durations.add(maxima);
        without.add(over_durations(maxima));
    }
    result out{.mined = mined.table.size()};
    for (std::size_t w = 0; w < spectrum_cases.size(); ++w)
        out.outcomes[w] =
            judge(mined.table,
                  (spectrum_cases[w].kind == spectrum_kind::size_count ? without : with_durations)
                      .make_spectrum(mining.rules),
                  spectrum_cases[w], made.truth, as);
    return out;
}

}  // namespace spade_calibration
