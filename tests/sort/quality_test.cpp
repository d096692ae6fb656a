#include "spikeweave/sort/quality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "spikeweave/core/error.hpp"
#include "support/spike_clouds.hpp"

namespace spikeweave {
namespace {

using rows = std::vector<std::vector<double>>;

rows inverse(rows a) {
    const std::size_t d = a.size();
    rows out(d, std::vector<double>(d));
    for (std::size_t i = 0; i < d; ++i) out[i][i] = 1;
    for (std::size_t i = 0; i < d; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i; r < d; ++r)
            if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
        std::swap(a[i], a[pivot]);
        std::swap(out[i], out[pivot]);
        const double by = a[i][i];
        for (std::size_t k = 0; k < d; ++k) {
            a[i][k] /= by;
            out[i][k] /= by;
        }
        for (std::size_t r = 0; r < d; ++r) {
            if (r == i) continue;
            const double times = a[r][i];
            for (std::size_t k = 0; k < d; ++k) {
                a[r][k] -= times * a[i][k];
                out[r][k] -= times * out[i][k];
            }
        }
    }
    return out;
}

// Computes the probability as a finite sum, for an even number of degrees of freedom.
double chi_squared_above(double x, std::size_t degrees) {
    double term = std::exp(-x / 2);
    double sum = 0;
    for (std::size_t i = 0; i < degrees / 2; ++i) {
        sum += term;
        term *= x / 2 / static_cast<double>(i + 1);
    }
    return sum;
}

struct isolation {
    double l_ratio = 0;
    double distance = 0;
};

// Implements the definitions directly, with the explicit inverse of the covariance.
isolation brute_force(const spike_features& features, const sorting& sorted, std::uint32_t unit,
                      const std::vector<std::uint32_t>& columns) {
    const std::size_t d = columns.size();
    std::vector<double> mean(d);
    double n = 0;
    const auto value = [&](std::size_t spike, std::size_t a) {
        return features.values(spike)[columns[a]];
    };
    for (std::size_t s = 0; s < features.size(); ++s) {
        if (sorted.labels[s] != unit) continue;
        ++n;
        for (std::size_t a = 0; a < d; ++a) mean[a] += value(s, a);
    }
    for (double& m : mean) m /= n;
    rows covariance(d, std::vector<double>(d));
    for (std::size_t s = 0; s < features.size(); ++s)
        for (std::size_t a = 0; a < d && sorted.labels[s] == unit; ++a)
            for (std::size_t b = 0; b < d; ++b)
                covariance[a][b] += (value(s, a) - mean[a]) * (value(s, b) - mean[b]) / (n - 1);
    const rows precision = inverse(covariance);
    isolation out;
    std::vector<double> others;
    for (std::size_t s = 0; s < features.size(); ++s) {
        if (sorted.labels[s] == unit) continue;
        double squared = 0;
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b < d; ++b)
                squared += (value(s, a) - mean[a]) * precision[a][b] * (value(s, b) - mean[b]);
        others.push_back(squared);
        out.l_ratio += chi_squared_above(squared, d) / n;
    }
    std::sort(others.begin(), others.end());
    out.distance = others.at(static_cast<std::size_t>(n) - 1);
    return out;
}

spike_features plain(std::size_t columns, const std::vector<double>& values,
                     const std::vector<double>& mask) {
    spike_masks masks;
    for (std::size_t n = 0; n < values.size() / columns; ++n) masks.append(mask);
    return {columns, values, masks};
}

TEST(UnitQuality, IsolationIsThatOfTheDefinitions) {
    const spike_cloud cloud =
        make_cloud({.spikes = 1500, .units = 5, .channels = 6, .per_channel = 2, .seed = 4});
    const sorting sorted{.labels = cloud.truth, .unit_count = 5};

    const auto quality = measure_quality(cloud.features, sorted);
    const auto columns = counting_features(cloud.features, sorted, 0.5);

    ASSERT_EQ(quality.size(), 5U);
    double worst = 0;
    for (std::size_t u = 0; u < 5; ++u) {
        ASSERT_EQ(columns[u].size() % 2, 0U);
        const isolation expected =
            brute_force(cloud.features, sorted, static_cast<std::uint32_t>(u + 1), columns[u]);
        EXPECT_EQ(quality[u].features, columns[u].size());
        EXPECT_NEAR(quality[u].l_ratio.value(), expected.l_ratio, 1e-10 * (1 + expected.l_ratio));
        EXPECT_NEAR(quality[u].isolation_distance.value(), expected.distance,
                    1e-9 * expected.distance);
        EXPECT_FALSE(quality[u].rate_hz || quality[u].contamination || quality[u].snr);
        worst = std::max(worst, expected.l_ratio);
    }
    EXPECT_GT(worst, 1e-6);  // otherwise every L-ratio could have been 0
}

TEST(UnitQuality, FeaturesCountWhereTheMasksAreLargeEnough) {
    // The mean masks of unit 1 are 0.5, 0.75, 0.25, 0; those of unit 2 are all below one half; unit
    // 3 is empty.
    const spike_features features(
        4, std::vector<double>(16),
        {{0, 2, 5, 6, 7}, {0, 1, 0, 1, 2, 2, 2}, {0.5, 1, 0.5, 0.5, 0.5, 0.4, 0.2}});
    const sorting sorted{.labels = {1, 1, 2, 2}, .unit_count = 3};

    const auto columns = counting_features(features, sorted, 0.5);

    EXPECT_EQ(columns[0], (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(columns[1], (std::vector<std::uint32_t>{2}));
    EXPECT_TRUE(columns[2].empty());
}

TEST(UnitQuality, IsEmptyWhereItCannotBeSaid) {
    const std::vector<double> mask{1, 1};
    const auto of = [&](const std::vector<double>& values, std::vector<std::uint32_t> labels) {
        return measure_quality(plain(2, values, mask),
                               {.labels = std::move(labels), .unit_count = 1})
            .front();
    };

    EXPECT_TRUE(of({0, 0, 1, 0, 0, 1, 5, 5, 6, 5, 5, 6}, {1, 1, 1, 0, 0, 0}).l_ratio);
    // As many spikes as features; a constant feature; two equal features.
    EXPECT_FALSE(of({0, 0, 1, 3, 5, 5, 6, 5, 5, 6, 7, 7}, {1, 1, 0, 0, 0, 0}).l_ratio);
    EXPECT_FALSE(of({0, 2, 1, 2, 3, 2, 5, 5, 6, 5, 5, 6}, {1, 1, 1, 0, 0, 0}).l_ratio);
    EXPECT_FALSE(of({0, 0, 1, 1, 3, 3, 5, 5, 6, 5, 5, 6}, {1, 1, 1, 0, 0, 0}).l_ratio);
    // Fewer other spikes than the unit has, and none.
    const unit_quality few = of({0, 0, 1, 0, 0, 1, 5, 5, 6, 5}, {1, 1, 1, 0, 0});
    EXPECT_TRUE(few.l_ratio);
    EXPECT_FALSE(few.isolation_distance);
    EXPECT_EQ(of({0, 0, 1, 0, 0, 1}, {1, 1, 1}).l_ratio, 0.0);
    // The distance is so large that it overflows.
    const unit_quality far =
        of({0, 0, 1, 0, 0, 1, 1e300, 1e300, 1e300, 0, 0, 1e300}, {1, 1, 1, 0, 0, 0});
    EXPECT_EQ(far.l_ratio, 0.0);
    EXPECT_FALSE(far.isolation_distance);
    // The unit has no spikes.
    EXPECT_EQ(measure_quality(plain(1, {1, 2}, {1}), {.labels = {0, 0}, .unit_count = 1}).front(),
              unit_quality{});
}

TEST(UnitQuality, CountsRefractoryViolations) {
    // At 10 kHz, 1.5 ms are 15 samples: of the intervals 10, 15, 14, 961 two are shorter, and the
    // pairs within are (0, 10) and (25, 39); 10 and 25 are just far enough apart.
    const sorting sorted{.labels = {1, 1, 1, 1, 1, 0},
                         .unit_count = 1,
                         .samples = {0, 10, 25, 39, 1000, 20},
                         .sample_rate = 10'000,
                         .sample_count = 20'000};
    const auto features = plain(1, {1, 2, 3, 4, 5, 6}, {1});

    const unit_quality one = measure_quality(features, sorted).front();

    EXPECT_DOUBLE_EQ(one.rate_hz.value(), 2.5);
    EXPECT_DOUBLE_EQ(one.refractory_violations.value(), 0.5);
    // 1 - 2 * 20000 / (25 * 15) is below 0: there are more violations than by chance.
    EXPECT_EQ(one.contamination, 1.0);
    const unit_quality shorter =
        measure_quality(features, sorted, {.refractory = std::chrono::microseconds{1000}}).front();
    EXPECT_EQ(shorter.refractory_violations, 0.0);
    EXPECT_EQ(shorter.contamination, 0.0);
}

TEST(UnitQuality, CountsPairsBeyondNeighbours) {
    // Three spikes within the period are three pairs but two intervals.
    const sorting sorted{.labels = {1, 1, 1},
                         .unit_count = 1,
                         .samples = {7, 0, 5},
                         .sample_rate = 1000,
                         .sample_count = 16};
    const unit_quality one = measure_quality(plain(1, {1, 2, 3}, {1}), sorted,
                                             {.refractory = std::chrono::milliseconds{10}})
                                 .front();

    EXPECT_EQ(one.refractory_violations, 1.0);
    EXPECT_NEAR(one.contamination.value(), 1 - std::sqrt(1 - 3 * 16.0 / 90), 1e-12);
}

// A refractory train is mixed with spikes of many other neurons.
TEST(UnitQuality, EstimatesTheShareOfOtherNeurons) {
    constexpr double rate_hz = 30'000;
    constexpr std::int64_t length = 3'600 * 30'000;
    for (const double share : {0.0, 0.1, 0.3}) {
        cloud_random random(3);
        const auto gap = [&](double per_second) {
            return static_cast<std::int64_t>(-std::log(1 - random.uniform()) * rate_hz /
                                             per_second);
        };
        sorting sorted{.unit_count = 1, .sample_rate = rate_hz, .sample_count = length};
        for (std::int64_t t = 0; (t += 90 + gap(20 * (1 - share))) < length;)
            sorted.samples.push_back(t);
        if (share > 0)
            for (std::int64_t t = 0; (t += gap(20 * share)) < length;) sorted.samples.push_back(t);
        const std::size_t n = sorted.samples.size();
        sorted.labels.assign(n, 1);

        const unit_quality one =
            measure_quality(plain(1, std::vector<double>(n), {1}), sorted).front();

        EXPECT_NEAR(one.contamination.value(), share, 0.02) << share;
    }
}

TEST(UnitQuality, IsTheSameOnAnyNumberOfThreads) {
    const spike_cloud cloud = make_cloud({.spikes = 3000, .units = 7, .seed = 2});
    sorting sorted{.labels = cloud.truth, .unit_count = 7, .sample_rate = 1000};
    sorted.samples.resize(sorted.labels.size());
    std::iota(sorted.samples.begin(), sorted.samples.end(), 0);

    EXPECT_EQ(measure_quality(cloud.features, sorted, {}, {.threads = 1}),
              measure_quality(cloud.features, sorted, {}, {.threads = 8}));
}

TEST(UnitQuality, RefusesPartsThatDoNotBelongTogether) {
    const auto features = plain(1, {1, 2}, {1});
    const auto refused = [&](const sorting& sorted, const quality_options& options = {}) {
        EXPECT_THROW(measure_quality(features, sorted, options), invalid_argument);
    };
    refused({.labels = {1}, .unit_count = 1});
    refused({.labels = {1, 2}, .unit_count = 1});
    refused({.labels = {1, 1}, .unit_count = 1, .samples = {1}});
    refused({.labels = {1, 1}, .unit_count = 1}, {.refractory = duration{0}});
    refused({.labels = {1, 1}, .unit_count = 1}, {.least_mask = 0});
    refused({.labels = {1, 1}, .unit_count = 1}, {.least_mask = 1.5});
}

// 12 minutes at 10 samples a second: parts of a minute for the presence, intervals of 10 s for the
// range.
TEST(UnitQuality, SaysWhenAUnitFires) {
    sorting sorted{.unit_count = 1, .sample_rate = 10, .sample_count = 7200};
    // In nine minutes one spike each, in the first 10 s of it; in the tenth 60 spikes, 10 in each
    // interval; in the other two none.
    for (std::int64_t minute = 0; minute < 9; ++minute) sorted.samples.push_back(600 * minute);
    for (std::int64_t k = 0; k < 60; ++k) sorted.samples.push_back(5400 + 10 * k);
    sorted.labels.assign(sorted.samples.size(), 1);
    const auto features = plain(1, std::vector<double>(sorted.samples.size()), {1});

    const unit_quality one = measure_quality(features, sorted).front();

    EXPECT_DOUBLE_EQ(one.presence_ratio.value(), 10.0 / 12);
    // Of 72 counts 57 are 0, 9 are 1 and 6 are 10; the 95th percentile is at 67.45 of 0 to 71.
    EXPECT_DOUBLE_EQ(one.firing_range.value(), 1.0);
    EXPECT_EQ(one.refractory_pairs, 0U);
    EXPECT_DOUBLE_EQ(one.expected_pairs, 69 * 69 * 0.0015 / 720);

    // A short recording has ten parts, and no range.
    const sorting short_one{.labels = {1, 1, 1},
                            .unit_count = 1,
                            .samples = {0, 99, 15},
                            .sample_rate = 10,
                            .sample_count = 100};
    const unit_quality other = measure_quality(plain(1, {1, 2, 3}, {1}), short_one).front();
    EXPECT_DOUBLE_EQ(other.presence_ratio.value(), 0.3);
    EXPECT_FALSE(other.firing_range);
    // Without the length, the recording is taken to go from the first spike to the last.
    const sorting unknown{
        .labels = {1, 1}, .unit_count = 1, .samples = {1000, 1100}, .sample_rate = 10};
    EXPECT_DOUBLE_EQ(measure_quality(plain(1, {1, 2}, {1}), unknown)[0].presence_ratio.value(),
                     0.2);
}

// Draws from a normal distribution without the lower `share`.
std::vector<float> cut_amplitudes(std::size_t count, double share) {
    std::vector<float> out;
    cloud_random random(5);
    while (out.size() < count) {
        double sum = 0;
        for (int k = 0; k < 12; ++k) sum += random.uniform();
        const double x = sum - 6;
        const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
        if (below >= share) out.push_back(static_cast<float>(10 + x));
    }
    return out;
}

// The estimate is a fraction of the spikes that were found, and a little high, because the Gaussian
// lifts the first bin.
TEST(AmplitudeCutoff, IsTheShareThatIsMissing) {
    for (const std::size_t count : {1'000U, 20'000U})
        for (const double share : {0.0, 0.1, 0.2})
            EXPECT_NEAR(amplitude_cutoff(cut_amplitudes(count, share)).value(), share / (1 - share),
                        0.06)
                << count << " " << share;
    // A histogram that lacks more than the lower half has no upper side to compare with.
    EXPECT_EQ(amplitude_cutoff(cut_amplitudes(2'000, 0.6)), 0.5);
    EXPECT_LT(amplitude_cutoff(cut_amplitudes(80, 0)).value(), 0.3);
    EXPECT_FALSE(amplitude_cutoff(cut_amplitudes(79, 0)));
    EXPECT_FALSE(amplitude_cutoff(std::vector<float>(100, 1.0F)));
}

// Two channels and three frames; noise, and units whose waveforms are given.
mean_waveforms shapes_of(const std::vector<std::vector<float>>& units) {
    mean_waveforms out{.channel_count = 2, .frame_count = 3, .before = 1, .noise = {1, 2}};
    out.values.assign(6, 0);
    out.spikes.push_back(1);
    for (const auto& unit : units) {
        out.values.insert(out.values.end(), unit.begin(), unit.end());
        out.spikes.push_back(1);
    }
    return out;
}

TEST(WaveformQuality, MeasuresHeights) {
    const auto waveforms = shapes_of({{0, 0, -20, 4, 0, 0}});
    const sorting sorted{.labels = {1, 0, 1, 1, 1}, .unit_count = 1};
    std::vector<unit_quality> quality(1);

    measure_waveforms(waveforms, sorted, std::vector<float>{1, 9, 1.5F, 0.5F, 1}, quality);

    EXPECT_DOUBLE_EQ(quality[0].snr.value(), 20);
    EXPECT_DOUBLE_EQ(quality[0].amplitude_median.value(), 20);
    EXPECT_DOUBLE_EQ(quality[0].amplitude_cv.value(), std::sqrt(0.125));
    EXPECT_FALSE(quality[0].amplitude_cutoff);
    measure_waveforms(waveforms, sorted, {}, quality);
    EXPECT_THROW(measure_waveforms(waveforms, sorted, std::vector<float>{1}, quality),
                 invalid_argument);
    EXPECT_THROW(measure_waveforms(shapes_of({}), sorted, {}, quality), invalid_argument);
}

// Unit 1 fires 1,000 times. Unit 2 follows `followed` of its spikes by 5 ms, as later spikes of
// bursts do, and unit 3 all of them within 15 ms, of which some is within the refractory period.
sorting burst_in_parts(std::int64_t followed) {
    sorting sorted{.unit_count = 3, .sample_rate = 10'000, .sample_count = 10'000'000};
    const auto add = [&](std::int64_t sample, std::uint32_t label) {
        sorted.samples.push_back(sample);
        sorted.labels.push_back(label);
    };
    for (std::int64_t k = 0; k < 1'000; ++k) {
        add(10'000 * k, 1);
        if (k < followed) add(10'000 * k + 50, 2);
        add(10'000 * k + 5 + k % 145, 3);
    }
    return sorted;
}

TEST(WaveformQuality, FindsUnitsThatMayNotBeTwoNeurons) {
    const std::vector<float> large{0, 0, -20, 4, 0, 0};
    const std::vector<float> small{0, 0, -10, 2.1F, 0, 0};
    const std::vector<float> elsewhere{0, 0, 1, -20, 0, 0};
    const auto found = [&](const std::vector<std::vector<float>>& shapes, std::int64_t followed) {
        return find_doubtful_units(shapes_of(shapes), burst_in_parts(followed));
    };
    using pairs = std::vector<doubtful_pair>;

    // Unit 2 has the later spikes of the bursts of unit 1.
    EXPECT_EQ(found({large, small, elsewhere}, 1'000), (pairs{{"1", "2", unit_doubt::one_neuron}}));
    EXPECT_EQ(found({large, elsewhere, elsewhere}, 0), pairs{});
    // Its spikes follow at one lag, and its waveform is another one in the same place.
    const std::vector<float> rebound{0, 0, 4, 1, -4, 0};
    EXPECT_EQ(found({large, rebound, elsewhere}, 1'000),
              (pairs{{"1", "2", unit_doubt::cross_talk}}));

    std::vector<sorted_unit> units(3);
    const pairs two{{"1", "3", unit_doubt::one_neuron}, {"2", "3", unit_doubt::cross_talk}};
    set_doubtful_pairs(two, units);
    EXPECT_EQ(units[2].one_neuron_with, "1");
    EXPECT_EQ(units[2].cross_talk_with, "2");
    EXPECT_EQ(doubtful_pairs_of(units), two);
    EXPECT_THROW(find_doubtful_units(shapes_of({}), burst_in_parts(1)), invalid_argument);
}

// Spikes at a frequency, with a jitter of a quarter of a cycle at most, in some of the cycles.
sorting in_step(double hertz, double jitter, std::int64_t every) {
    constexpr std::int64_t rate = 10'000;
    sorting sorted{.unit_count = 1, .sample_rate = rate, .sample_count = 30 * rate};
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(29 * hertz); k += every) {
        const double off = jitter * static_cast<double>(k * 7 % 11 - 5) / 5;
        sorted.samples.push_back(std::llround((static_cast<double>(k) + 1 + off) / hertz * rate));
        sorted.labels.push_back(1);
    }
    return sorted;
}

TEST(UnitQuality, FindsUnitsInStepWithTheMains) {
    const auto mains = [](const sorting& sorted) {
        const spike_features features(
            1, std::vector<double>(sorted.labels.size(), 1.0),
            spike_masks::of_rows(std::vector<double>(sorted.labels.size(), 1.0), 1));
        return measure_quality(features, sorted)[0].mains_hz;
    };
    EXPECT_EQ(mains(in_step(50, 0.05, 1)), 50);
    EXPECT_EQ(mains(in_step(60.02, 0.05, 1)), 60);
    EXPECT_EQ(mains(in_step(100, 0.05, 2)), 50);
    EXPECT_EQ(mains(in_step(120, 0.05, 1)), 120);
    // Neurons are not as precise, or fire at another rate, or follow slower stimuli.
    EXPECT_EQ(mains(in_step(50, 0.25, 1)), 0);
    EXPECT_EQ(mains(in_step(47, 0.05, 1)), 0);
    EXPECT_EQ(mains(in_step(10, 0.01, 1)), 0);

    unit_quality quality{.spikes = 1'500, .mains_hz = 50};
    EXPECT_EQ(judge_unit(quality),
              (unit_verdict{unit_label::noise, "in step with the mains, 50 Hz"}));
}

TEST(WaveformQuality, FindsPartsOfANeuron) {
    const std::vector<float> large{0, 0, -20, 4, 0, 0};
    const std::vector<float> small{0, 0, -10, 2.1F, 0, 0};
    const std::vector<float> elsewhere{0, 0, 4, -20, 0, 0};
    using units = std::vector<std::uint32_t>;
    const auto parts = [&](const std::vector<std::vector<float>>& shapes, std::int64_t followed) {
        std::vector<unit_quality> quality(3);
        measure_waveforms(shapes_of(shapes), burst_in_parts(followed), {}, quality);
        units out;
        for (const unit_quality& one : quality) out.push_back(one.same_neuron_as);
        return out;
    };

    EXPECT_EQ(parts({large, small, elsewhere}, 1'000), (units{2, 1, 0}));
    EXPECT_EQ(parts({large, elsewhere, large}, 1'000), (units{0, 0, 0}));
    // Unit 1 has more than four fifths of the spikes.
    EXPECT_EQ(parts({large, small, elsewhere}, 200), (units{0, 1, 0}));
    // Too few to decide.
    EXPECT_EQ(parts({large, small, elsewhere}, 20), (units{0, 0, 0}));
    // They are less alike, and may be one neuron.
    const std::vector<float> similar{0, 0, -10, 6.5F, 0, 0};
    EXPECT_EQ(parts({large, similar, elsewhere}, 200), (units{0, 1, 0}));
    EXPECT_EQ(parts({large, similar, elsewhere}, 400), (units{0, 0, 0}));
}

// Unit 1 has spikes in two places, 12 standard deviations apart, and unit 2 in one.
TEST(UnitQuality, TellsWhetherSpikesAreOfTwoKinds) {
    cloud_random random(3);
    const auto normal = [&] {
        double sum = -6;
        for (int k = 0; k < 12; ++k) sum += random.uniform();
        return sum;
    };
    std::vector<double> values;
    sorting sorted{.unit_count = 2};
    spike_masks masks;
    for (std::uint32_t n = 0; n < 900; ++n) {
        const std::uint32_t label = n % 3;
        sorted.labels.push_back(label);
        values.push_back(normal() + (label > 0 ? 30 : 0));
        values.push_back(normal() + (label == 1 && n % 2 == 0 ? 12 : 0));
        masks.append(std::vector<double>(2, label > 0 ? 1 : 0));
    }
    const spike_features features(2, values, masks);
    std::vector<unit_quality> quality(2);

    measure_separation(features, 2, sorted, quality);

    EXPECT_NEAR(quality[0].separation.value(), 12, 1);
    EXPECT_LT(quality[1].separation.value_or(0), 3.5);
    EXPECT_THROW(measure_separation(features, 2, sorted, {}), invalid_argument);
}

TEST(JudgeUnit, LabelsByTheFirstLimitThatIsBroken) {
    const unit_quality fine{.spikes = 500,
                            .contamination = 0.05,
                            .snr = 8,
                            .refractory_pairs = 3,
                            .expected_pairs = 30,
                            .amplitude_cv = 0.2,
                            .amplitude_cutoff = 0.1};
    const auto verdict = [&](const auto& change, const label_limits& limits = {}) {
        unit_quality quality = fine;
        change(quality);
        return judge_unit(quality, limits);
    };
    using quality = unit_quality;
    using enum unit_label;
    EXPECT_EQ(judge_unit(fine), (unit_verdict{good, "no limit broken"}));
    EXPECT_EQ(verdict([](quality& q) { q.spikes = 29; }),
              (unit_verdict{noise, "29 spikes, at least 30 needed"}));
    EXPECT_EQ(verdict([](quality& q) { q.spikes = 30; }).label, good);
    EXPECT_EQ(verdict([](quality& q) { q.snr = 1.99; }),
              (unit_verdict{noise, "SNR 1.99, limit 2"}));
    const auto small = [&](std::optional<double> cutoff) {
        return verdict([&](quality& q) {
            q.snr = 2;
            q.amplitude_cutoff = cutoff;
        });
    };
    EXPECT_EQ(small(0.2), (unit_verdict{mua, "SNR 2, limit 3.5"}));
    EXPECT_EQ(small({}).label, mua);
    EXPECT_EQ(small(0.1).label, good);
    EXPECT_EQ(verdict([](quality& q) { q.contamination = 0.1; }),
              (unit_verdict{mua, "contamination 0.1, limit 0.1"}));
    EXPECT_EQ(verdict([](quality& q) { q.same_neuron_as = 7; }),
              (unit_verdict{mua, "part of a neuron, with unit 7"}));
    EXPECT_EQ(verdict([](quality& q) { q.amplitude_cutoff = 0.5; }),
              (unit_verdict{mua, "amplitude cutoff 0.5, limit 0.4"}));
    EXPECT_EQ(verdict([](quality& q) { q.separation = 5; }),
              (unit_verdict{mua, "separation 5, limit 4.5"}));
    EXPECT_EQ(verdict([](quality& q) { q.amplitude_cv = 0.5; }),
              (unit_verdict{mua, "amplitude variation 0.5, limit 0.45"}));
    EXPECT_EQ(
        verdict([](quality& q) { q.amplitude_cutoff = 0.5; }, {.amplitude_cutoff = 0.5}).label,
        good);
}

TEST(JudgeUnit, DoesNotHoldAgainstAUnitWhatCannotBeMeasured) {
    const unit_verdict open{unit_label::good, "no limit broken; contamination cannot be measured"};
    EXPECT_EQ(judge_unit({.spikes = 60}), open);
    // One pair, where 0.1 is expected, looks like spikes of others only.
    unit_quality quality{
        .spikes = 60, .contamination = 1, .refractory_pairs = 1, .expected_pairs = 0.1};
    EXPECT_EQ(judge_unit(quality), open);
    quality.refractory_pairs = 2;
    EXPECT_EQ(judge_unit(quality).label, unit_label::mua);
    quality = {.spikes = 60, .contamination = 0.3, .refractory_pairs = 1, .expected_pairs = 2};
    EXPECT_EQ(judge_unit(quality).label, unit_label::mua);
}

TEST(JudgeUnit, ExcusesContaminationAtCollisions) {
    unit_quality quality{.spikes = 600,
                         .contamination = 0.3,
                         .refractory_pairs = 5,
                         .expected_pairs = 10,
                         .isolated_pairs = 0,
                         .expected_isolated_pairs = 8};
    EXPECT_EQ(judge_unit(quality),
              (unit_verdict{unit_label::good, "contamination 0.3, but only at collisions"}));
    quality.isolated_pairs = 1;  // 0.065
    EXPECT_EQ(judge_unit(quality), (unit_verdict{unit_label::mua, "contamination 0.3, limit 0.1"}));
    quality.amplitude_cutoff = 0.5;
    quality.isolated_pairs = 0;
    EXPECT_EQ(judge_unit(quality),
              (unit_verdict{unit_label::mua, "amplitude cutoff 0.5, limit 0.4"}));
}

// Two units fire every 100 ms; of the first one, some spikes are pairs within the refractory
// period.
TEST(WaveformQuality, CountsPairsOfSpikesWithNoneOfAnotherUnitBesideThem) {
    sorting sorted{.unit_count = 2, .sample_rate = 10'000, .sample_count = 10'000'000};
    const auto add = [&](std::int64_t sample, std::uint32_t label) {
        sorted.samples.push_back(sample);
        sorted.labels.push_back(label);
    };
    for (std::int64_t k = 0; k < 1'000; ++k) {
        add(1'000 * k, 1);
        if (k < 8) add(1'000 * k + 10, 1);  // 1 ms later
        // Spikes of the other unit are beside five of these pairs.
        add(1'000 * k + (k < 3 ? 500 : k < 8 ? 19 : 40), 2);
    }
    const spike_features features(
        1, std::vector<double>(sorted.labels.size(), 1.0),
        spike_masks::of_rows(std::vector<double>(sorted.labels.size(), 1.0), 1));
    const auto measured = [&](const std::vector<float>& other) {
        std::vector<unit_quality> quality = measure_quality(features, sorted);
        measure_waveforms(shapes_of({{0, 0, -20, 4, 0, 0}, other}), sorted, {}, quality);
        return quality[0];
    };
    const unit_quality near = measured({0, 0, -5, 40, 0, 0});
    EXPECT_EQ(near.refractory_pairs, 8U);
    EXPECT_EQ(near.isolated_pairs, 3U);
    EXPECT_DOUBLE_EQ(*near.expected_isolated_pairs,
                     near.expected_pairs * std::pow(1003. / 1008, 2));
    // A quarter of the height is large enough for what is left of a spike to be taken for another.
    const unit_quality far = measured({0, 0, -4.9F, 40, 0, 0});
    EXPECT_EQ(far.isolated_pairs, 8U);
    EXPECT_DOUBLE_EQ(*far.expected_isolated_pairs, far.expected_pairs);
}

}  // namespace
}  // namespace spikeweave
