#include "assess/spade/tally_loop.hpp"

namespace spikeweave {

using assess::tally_maxima;

maxima_tally tally_surrogates(const surrogate_source& make, std::uint32_t surrogates,
                              std::uint32_t window_bins, const pattern_mining_options& mining,
                              spectrum_kind kind, const execution& run,
                              const surrogate_part& part) {
    const execution alone{.threads = 1, .stop = run.stop};
    return tally_maxima(
        maxima_tally(kind, window_bins), part.begin(surrogates), part.end(surrogates),
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
