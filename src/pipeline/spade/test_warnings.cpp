#include "pipeline/spade/test_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/grouped.hpp"
#include "spikeweave/assess/multiple_testing.hpp"

namespace spikeweave::pipeline {
namespace {

struct test_counts {
    std::uint64_t tested = 0;
    std::uint64_t significant = 0;
    std::uint64_t undecided = 0;  // reached by no surrogate, and still not significant
    std::uint64_t untested = 0;   // significant without a test
};

test_counts counted(const signature_test_result& tests) {
    test_counts out;
    for (const signature_test& one : tests.signatures) {
        out.tested += one.tested ? 1 : 0;
        out.significant += one.significant ? 1 : 0;
        if (one.reason != test_reason::absent) continue;
        out.undecided += one.significant ? 0 : 1;
        out.untested += one.tested ? 0 : 1;
    }
    return out;
}

// Whether one signature alone could be significant among those tested, with the smallest p that so
// many surrogates can give.
bool one_can_be_significant(std::uint64_t tested, std::uint64_t surrogates,
                            const spade_options& options) {
    const std::array smallest{1.0 / (1.0 + static_cast<double>(surrogates))};
    return correct_tests(smallest, tested, options.correction, options.alpha).rejected.front();
}

// Most corrections need as many surrogates as there are tests over alpha, some a multiple.
std::string enough_surrogates(std::uint64_t tested, const spade_options& options) {
    auto enough =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(tested) / options.alpha));
    while (!one_can_be_significant(tested, enough, options)) enough *= 2;
    return core::grouped(enough);
}

void warn_of_too_few_surrogates(const test_counts& counts, const spade_input& prepared,
                                const spade_options& options, std::vector<std::string>& warnings) {
    const std::uint32_t surrogates = prepared.surrogates.surrogates;
    if (counts.undecided > 0) {
        warnings.push_back(fmt::format(
            "{} of {} signatures tested were reached by no surrogate, and still are not "
            "significant: {} surrogates are too few for so many tests. {} would do for any one of "
            "them.",
            core::grouped(counts.undecided), core::grouped(counts.tested),
            core::grouped(surrogates), enough_surrogates(counts.tested, options)));
        return;
    }
    if (counts.significant > 0 || counts.tested == 0 ||
        1.0 / (1.0 + surrogates) > options.alpha ||  // which is warned of before the search
        one_can_be_significant(counts.tested, surrogates, options))
        return;
    warnings.push_back(fmt::format(
        "No signature is significant, and with {} surrogates no single one of the {} tested could "
        "be: {} would do for any one of them.",
        core::grouped(surrogates), core::grouped(counts.tested),
        enough_surrogates(counts.tested, options)));
}

void warn_of_untested(const test_counts& counts, const pattern_test_result& assessment,
                      const spade_input& prepared, std::vector<std::string>& warnings) {
    if (counts.untested == 0) return;
    warnings.push_back(fmt::format(
        "{} of {} signatures are kept without a test, as in Elephant, because none of {} "
        "surrogates reached them{}.",
        core::grouped(counts.untested), core::grouped(assessment.tests.signatures.size()),
        core::grouped(prepared.surrogates.surrogates),
        prepared.surrogates.method == surrogate_method::dither_spikes
            ? ", and surrogates by dither_spikes give false patterns if units are regular"
            : ""));
}

}  // namespace

// Since p is never below 1 / (n + 1), a correction for many tests may need more surrogates.
void warn_of_tests(const pattern_test_result& assessment, const spade_input& prepared,
                   const spade_options& options, std::vector<std::string>& warnings) {
    const test_counts counts = counted(assessment.tests);
    if (follows_elephant(options.compat))
        warn_of_untested(counts, assessment, prepared, warnings);
    else
        warn_of_too_few_surrogates(counts, prepared, options, warnings);
}

}  // namespace spikeweave::pipeline
