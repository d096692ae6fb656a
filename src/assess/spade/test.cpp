#include "assess/spade/maxima_tally.hpp"
#include "spikeweave/mine/spade/many_maxima.hpp"

namespace spikeweave {

using assess::tally_maxima;
using assess::tally_on_ranks;

maxima_tally tally_surrogates(const surrogate_source& make, std::uint32_t surrogates,
                              std::uint32_t window_bins, const pattern_mining_options& mining,
                              spectrum_kind kind, const execution& run,
                              const surrogate_part& part) {
    const maxima_tally empty(kind, window_bins);
    const std::uint32_t begin = part.begin(surrogates);
    const std::uint32_t end = part.end(surrogates);
    if (!run.devices.empty()) {
        const auto fill = [&](std::uint32_t first, std::uint32_t last, maxima_tally& into) {
            find_maxima_on_devices(
                {make, first, last, window_bins}, mining, kind,
                [&](std::uint32_t, const auto& maxima) { into.add(maxima); }, run);
        };
        return tally_on_ranks(empty, begin, end, fill, run);
    }
    const execution alone{.threads = 1, .stop = run.stop};
    return tally_maxima(
        empty, begin, end,
        [&](std::uint32_t which) {
            const spade_windows windows(make(which), window_bins, run.stop);
            return find_occurrence_maxima(windows, mining, kind, alone);
        },
        run);
}

pattern_test_result test_patterns(std::span<const signature_count> found,
                                  const maxima_tally& surrogates,
                                  std::span<const pattern_rule> rules,
                                  const signature_test_options& testing) {
    pattern_test_result out{.spectrum = surrogates.make_spectrum(rules)};
    out.tests = test_signatures(found, out.spectrum, testing);
    return out;
}

pattern_test_result test_patterns(std::span<const signature_count> found,
                                  const surrogate_source& make, std::uint32_t surrogates,
                                  std::uint32_t window_bins, const pattern_mining_options& mining,
                                  spectrum_kind kind, const signature_test_options& testing,
                                  const execution& run) {
    return test_patterns(found, tally_surrogates(make, surrogates, window_bins, mining, kind, run),
                         mining.rules, testing);
}

}  // namespace spikeweave
