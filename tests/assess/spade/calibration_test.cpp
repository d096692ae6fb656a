#include "support/spade_calibration.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "parallel/parallel_for.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using spade_calibration::result;

// The whole table in docs/algorithms is made by benchmarks/assess/spade/spade_calibration.cpp.
std::vector<result> repeated(std::size_t repetitions, const patterns_options& what,
                             surrogate_method method) {
    std::vector<result> out(repetitions);
    parallel::parallel_for(repetitions, {}, "calibrating", [&](std::size_t i) {
        patterns_options data = what;
        data.length = 1s;
        data.seed = 1000 + i;
        surrogate_options surrogates{
            .surrogates = 200, .method = method, .dither = 5ms, .seed = 1000 + i};
        out[i] = spade_calibration::run(data, surrogates);
    });
    return out;
}

// The spectrum "#", whose few signatures 200 surrogates can test, with our own decisions.
constexpr std::size_t by_size = 2;

double mean_left(const std::vector<result>& results) {
    double sum = 0;
    for (const result& r : results) sum += static_cast<double>(r.outcomes[by_size].reduced);
    return sum / static_cast<double>(results.size());
}

TEST(SpadeCalibration, FindsNothingAmongIndependentUnits) {
    for (const rate_profile rates : {rate_profile::constant, rate_profile::spread}) {
        const auto results = repeated(5, {.patterns = {}, .rates = rates},
                                      surrogate_method::dither_spikes_with_refractory_period);

        EXPECT_GT(results[0].mined, 100U);  // there was something to reject
        EXPECT_LE(mean_left(results), 0.25) << to_string(rates);
    }
}

TEST(SpadeCalibration, FindsWhatIsPlanted) {
    const auto results = repeated(5, {.patterns = {5}, .occurrences = 8},
                                  surrogate_method::dither_spikes_with_refractory_period);

    for (const result& r : results) EXPECT_TRUE(r.outcomes[by_size].found);
    EXPECT_LE(mean_left(results), 1.25);
}

}  // namespace
}  // namespace spikeweave
