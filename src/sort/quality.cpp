#include "spikeweave/sort/quality.hpp"

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/double_policy.hpp"
#include "core/stop.hpp"
#include "parallel/parallel_for.hpp"
#include "sort/templates/cluster_points.hpp"
#include "sort/templates/separation.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::sorting_quality {
namespace {

// The phases of the spikes in one part of the recording: mains drift over longer times.
struct phases {
    std::complex<double> sum{};
    double count = 0;
};

bool is_in_step(std::span<const phases> parts, double least_count) {
    constexpr double most_parts = 0.8;
    // The mean cosine between two spikes of a part: 0.64 for a vector strength of 0.8.
    constexpr double least_cosine = 0.64;
    double cosines = 0;
    double pairs = 0;
    for (const phases& part : parts) {
        cosines += std::norm(part.sum) - part.count;
        pairs += part.count * (part.count - 1);
    }
    const auto present = static_cast<double>(std::ranges::count_if(
        parts, [&](const phases& part) { return part.count >= least_count; }));
    return present >= most_parts * static_cast<double>(parts.size()) &&
           cosines >= least_cosine * pairs;
}

// The frequency in hertz, 50, 60, 100 or 120, with which spikes are in step throughout a
// recording, as what mains interference adds to it is; 0: none. A neuron that follows a stimulus
// of such a rate is not as precise.
// @param samples  ascending
// @param begin, length  of the recording, in samples
double mains_frequency(std::span<const std::int64_t> samples, double rate_hz, double begin,
                       double length) {
    constexpr std::array frequencies{50.0, 60.0, 100.0, 120.0};
    constexpr double part_s = 2;
    constexpr std::size_t fewest_parts = 2;
    constexpr double least_cycles = 0.25;  // with a spike
    const auto count = static_cast<std::size_t>(length / (part_s * rate_hz));
    if (count < fewest_parts) return 0;
    for (const double frequency : frequencies) {
        std::vector<phases> parts(count);
        for (const std::int64_t sample : samples) {
            const double seconds = (static_cast<double>(sample) - begin) / rate_hz;
            const auto at = static_cast<std::size_t>(std::max(0.0, seconds / part_s));
            if (at >= count) continue;
            parts[at].sum += std::polar(1.0, 2 * std::numbers::pi * frequency * seconds);
            ++parts[at].count;
        }
        if (is_in_step(parts, least_cycles * frequency * part_s)) return frequency;
    }
    return 0;
}

}  // namespace
}  // namespace spikeweave::sorting_quality

namespace spikeweave {
namespace {

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;

// Spikes processed together: their columns stay in the cache.
constexpr std::size_t block_spikes = 512;

void check(const spike_features& features, const sorting& sorted) {
    if (features.size() != sorted.labels.size())
        throw invalid_argument(fmt::format("there are labels of {} spikes, and features of {}",
                                           sorted.labels.size(), features.size()));
    if (!sorted.samples.empty() && sorted.samples.size() != sorted.labels.size())
        throw invalid_argument(fmt::format("there are {} times for {} spikes",
                                           sorted.samples.size(), sorted.labels.size()));
    for (std::size_t n = 0; n < sorted.labels.size(); ++n)
        if (sorted.labels[n] > sorted.unit_count)
            throw invalid_argument(fmt::format("spike {} belongs to unit {} of {}", n,
                                               sorted.labels[n], sorted.unit_count));
}

std::vector<std::vector<std::uint32_t>> spikes_of_units(const sorting& sorted) {
    std::vector<std::vector<std::uint32_t>> members(sorted.unit_count);
    for (std::size_t n = 0; n < sorted.labels.size(); ++n)
        if (sorted.labels[n] > 0)
            members[sorted.labels[n] - 1].push_back(static_cast<std::uint32_t>(n));
    return members;
}

// The normal distribution of a unit on the given features, each in units of its own standard
// deviation.
class unit_shape {
public:
    // If less than this share of a feature's variance is independent of the other features, it is
    // rounding error.
    static constexpr double independent = 1e-10;

    unit_shape(const spike_features& features, const std::vector<std::uint32_t>& members,
               const std::vector<std::uint32_t>& columns)
        : features_(&features), columns_(&columns) {
        const auto width = static_cast<Eigen::Index>(columns.size());
        if (members.size() <= columns.size()) return;
        matrix own(width, static_cast<Eigen::Index>(members.size()));
        for (std::size_t i = 0; i < members.size(); ++i)
            take(members[i], own.col(static_cast<Eigen::Index>(i)));
        centre_ = own.rowwise().mean();
        own.colwise() -= centre_;
        scale_ = (own.rowwise().squaredNorm() / static_cast<double>(members.size() - 1))
                     .cwiseSqrt()
                     .eval();
        if (!(scale_.minCoeff() > 0)) return;
        own.array().colwise() /= scale_.array();
        const matrix correlation = own * own.transpose() / static_cast<double>(members.size() - 1);
        root_.compute(correlation);
        defined_ = root_.info() == Eigen::Success &&
                   matrix(root_.matrixL()).diagonal().array().square().minCoeff() > independent;
    }

    bool is_defined() const { return defined_; }

    // Spikes that are far away are known on none of the features, and are not compared.
    bool is_near(std::size_t spike) const {
        return !features_->is_local() || std::ranges::any_of(*columns_, [&](std::uint32_t column) {
            return features_->is_known(spike, column);
        });
    }

    // Computes the distances of spikes [begin, begin + into.size()), including those of the unit.
    void squared_distances(std::size_t begin, std::span<double> into) const {
        matrix all(static_cast<Eigen::Index>(columns_->size()),
                   static_cast<Eigen::Index>(into.size()));
        for (std::size_t i = 0; i < into.size(); ++i)
            take(begin + i, all.col(static_cast<Eigen::Index>(i)));
        all.colwise() -= centre_;
        all.array().colwise() /= scale_.array();
        root_.matrixL().solveInPlace(all);
        for (std::size_t i = 0; i < into.size(); ++i)
            into[i] = all.col(static_cast<Eigen::Index>(i)).squaredNorm();
    }

private:
    template <class Column>
    void take(std::size_t spike, Column&& into) const {
        for (std::size_t a = 0; a < columns_->size(); ++a)
            into[static_cast<Eigen::Index>(a)] = features_->value(spike, (*columns_)[a]);
    }

    const spike_features* features_;
    const std::vector<std::uint32_t>* columns_;
    vector centre_{};
    vector scale_{};
    Eigen::LLT<matrix> root_{};
    bool defined_ = false;
};

// The probability that a spike of the unit lies further out. It is taken as 0 at distances where it
// is below 1e-43 (Laurent and Massart 2000, lemma 1).
double chance_further_out(double squared, double features) {
    constexpr double least = 100;
    if (squared > features + 2 * std::sqrt(features * least) + 2 * least) return 0;
    return boost::math::gamma_q(features / 2, squared / 2, core::double_policy());
}

void measure_isolation(const unit_shape& shape, const sorting& sorted, std::uint32_t unit,
                       const execution& run, unit_quality& out) {
    std::vector<double> others;
    others.reserve(sorted.labels.size() - out.spikes);
    std::vector<double> block(block_spikes);
    double chances = 0;
    for (std::size_t begin = 0; begin < sorted.labels.size(); begin += block_spikes) {
        core::throw_if_stopped(run.stop);
        const std::size_t count = std::min(block_spikes, sorted.labels.size() - begin);
        shape.squared_distances(begin, std::span{block}.first(count));
        for (std::size_t i = 0; i < count; ++i) {
            if (sorted.labels[begin + i] == unit || !shape.is_near(begin + i)) continue;
            chances += chance_further_out(block[i], out.features);
            others.push_back(block[i]);
        }
    }
    const double l_ratio = chances / static_cast<double>(out.spikes);
    if (std::isfinite(l_ratio)) out.l_ratio = l_ratio;
    if (others.size() < out.spikes) return;
    const auto at = others.begin() + static_cast<std::ptrdiff_t>(out.spikes - 1);
    std::nth_element(others.begin(), at, others.end());
    if (std::isfinite(*at)) out.isolation_distance = *at;
}

// The recorded samples; from the first to the last spike if the length of the recording is
// unknown.
struct sample_span {
    double begin = 0;
    double length = 0;
};

sample_span span_of(const sorting& sorted) {
    if (sorted.sample_count > 0) return {0, static_cast<double>(sorted.sample_count)};
    const auto [first, last] = std::minmax_element(sorted.samples.begin(), sorted.samples.end());
    return {static_cast<double>(*first), static_cast<double>(*last - *first)};
}

// The number of spikes in each of `parts` intervals of `width` samples from the begin on.
std::vector<std::size_t> counts_in(const std::vector<std::int64_t>& times, double begin,
                                   double width, std::size_t parts) {
    std::vector<std::size_t> counts(parts);
    for (const std::int64_t time : times) {
        const auto part =
            static_cast<std::size_t>(std::max(0.0, (static_cast<double>(time) - begin) / width));
        if (part < parts) ++counts[part];
    }
    return counts;
}

// Between the two nearest values, as NumPy does.
double percentile_of_sorted(const std::vector<std::size_t>& sorted, double share) {
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto low = static_cast<double>(sorted[below]);
    const auto high = static_cast<double>(sorted[std::min(below + 1, sorted.size() - 1)]);
    return low + (at - static_cast<double>(below)) * (high - low);
}

void measure_presence(const std::vector<std::int64_t>& times, const sample_span& recorded,
                      double rate, unit_quality& out) {
    constexpr double presence_s = 60;
    constexpr std::size_t fewest_parts = 10;
    constexpr double range_s = 10;
    const double seconds = recorded.length / rate;
    const std::size_t parts =
        std::max(fewest_parts, static_cast<std::size_t>(seconds / presence_s));
    // The last spike of an unknown span lies at its end.
    const double width = (recorded.length + 1) / static_cast<double>(parts);
    const auto present = counts_in(times, recorded.begin, width, parts);
    out.presence_ratio =
        1 - static_cast<double>(std::ranges::count(present, 0U)) / static_cast<double>(parts);
    const auto intervals = static_cast<std::size_t>(seconds / range_s);
    if (intervals < 2) return;
    auto counts = counts_in(times, recorded.begin, range_s * rate, intervals);
    std::ranges::sort(counts);
    out.firing_range =
        (percentile_of_sorted(counts, 0.95) - percentile_of_sorted(counts, 0.05)) / range_s;
}

void measure_times(const sorting& sorted, const std::vector<std::uint32_t>& members,
                   const sample_span& recorded, double refractory, unit_quality& out) {
    const double length = recorded.length;
    const auto spikes = static_cast<double>(members.size());
    if (length > 0) out.rate_hz = spikes * sorted.sample_rate / length;
    std::vector<std::int64_t> times;
    times.reserve(members.size());
    for (const std::uint32_t n : members) times.push_back(sorted.samples[n]);
    std::sort(times.begin(), times.end());
    if (length > 0) measure_presence(times, recorded, sorted.sample_rate, out);
    out.mains_hz =
        sorting_quality::mains_frequency(times, sorted.sample_rate, recorded.begin, length);
    if (members.size() < 2) return;
    std::uint64_t next = 0;
    std::uint64_t pairs = 0;
    for (std::size_t i = 1, first = 0; i < times.size(); ++i) {
        const auto is_within = [&](std::size_t j) {
            return static_cast<double>(times[i] - times[j]) < refractory;
        };
        while (!is_within(first) && first < i) ++first;
        next += is_within(i - 1) ? 1 : 0;
        pairs += i - first;
    }
    out.refractory_violations = static_cast<double>(next) / (spikes - 1);
    if (!(length > 0)) return;
    out.refractory_pairs = pairs;
    out.expected_pairs = spikes * spikes * refractory / length;
    out.contamination = contamination_of(pairs, out.expected_pairs);
}

}  // namespace

double contamination_of(std::uint64_t pairs, double expected_pairs) {
    const double clean = 1 - static_cast<double>(pairs) / expected_pairs;
    return clean > 0 ? 1 - std::sqrt(clean) : 1;
}

std::vector<unit_quality> qualities_of(std::span<const sorted_unit> units) {
    std::vector<unit_quality> all;
    all.reserve(units.size());
    for (const sorted_unit& unit : units) all.push_back(unit.quality);
    return all;
}

namespace {

std::vector<std::string> numbers_of(std::size_t units) {
    std::vector<std::string> out;
    for (std::size_t u = 1; u <= units; ++u) out.push_back(std::to_string(u));
    return out;
}

}  // namespace

void set_doubtful_pairs(std::span<const doubtful_pair> pairs, std::span<sorted_unit> units) {
    const std::vector<std::string> names = numbers_of(units.size());
    std::vector<std::string> halves = cells_of(pairs, names, unit_doubt::one_neuron);
    std::vector<std::string> residuals = cells_of(pairs, names, unit_doubt::cross_talk);
    for (std::size_t u = 0; u < units.size(); ++u) {
        units[u].one_neuron_with = std::move(halves[u]);
        units[u].cross_talk_with = std::move(residuals[u]);
    }
}

std::vector<doubtful_pair> doubtful_pairs_of(std::span<const sorted_unit> units) {
    const std::vector<std::string> names = numbers_of(units.size());
    std::vector<doubtful_pair> out;
    for (const auto& [cells, why] :
         {std::pair(&sorted_unit::one_neuron_with, unit_doubt::one_neuron),
          std::pair(&sorted_unit::cross_talk_with, unit_doubt::cross_talk)}) {
        std::vector<std::string> texts;
        for (const sorted_unit& unit : units) texts.push_back(unit.*cells);
        std::ranges::move(pairs_in(texts, names, why), std::back_inserter(out));
    }
    return out;
}

std::vector<std::string> labels_of(std::span<const sorted_unit> units) {
    std::vector<std::string> all;
    all.reserve(units.size());
    for (const sorted_unit& unit : units) all.emplace_back(to_string(unit.verdict.label));
    return all;
}

std::vector<sorted_unit> describe_units(const spike_features& features, const sorting& sorted) {
    if (features.size() != sorted.labels.size())
        throw invalid_argument(fmt::format("there are labels of {} spikes, and features of {}",
                                           sorted.labels.size(), features.size()));
    const std::size_t width = features.feature_count();
    std::vector<sorted_unit> units(sorted.unit_count);
    std::vector<double> masks(units.size() * width);
    for (std::size_t n = 0; n < features.size(); ++n) {
        if (sorted.labels[n] == 0) continue;
        const std::size_t u = sorted.labels[n] - 1;
        if (u >= units.size())
            throw invalid_argument(
                fmt::format("spike {} belongs to unit {} of {}", n, u + 1, units.size()));
        const auto columns = features.unmasked(n);
        ++units[u].spikes;
        units[u].unmasked += static_cast<double>(columns.size());
        for (std::size_t a = 0; a < columns.size(); ++a)
            masks[u * width + columns[a]] += features.mask_values(n)[a];
    }
    for (std::size_t u = 0; u < units.size(); ++u) {
        const auto begin = masks.begin() + static_cast<std::ptrdiff_t>(u * width);
        const auto peak = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(width));
        units[u].peak_feature = static_cast<std::uint32_t>(peak - begin);
        if (units[u].spikes > 0) units[u].unmasked /= static_cast<double>(units[u].spikes);
    }
    return units;
}

std::vector<std::vector<std::uint32_t>> counting_features(const spike_features& features,
                                                          const sorting& sorted,
                                                          double least_mask) {
    check(features, sorted);
    if (!(least_mask > 0 && least_mask <= 1))
        throw invalid_argument(
            fmt::format("the smallest mask is {}, expected above 0 and at most 1", least_mask));
    const std::size_t width = features.feature_count();
    std::vector<double> masks(std::size_t{sorted.unit_count} * width);
    std::vector<double> spikes(sorted.unit_count);
    for (std::size_t n = 0; n < features.size(); ++n) {
        if (sorted.labels[n] == 0) continue;
        const std::size_t u = sorted.labels[n] - 1;
        ++spikes[u];
        const auto columns = features.unmasked(n);
        for (std::size_t a = 0; a < columns.size(); ++a)
            masks[u * width + columns[a]] += features.mask_values(n)[a];
    }
    std::vector<std::vector<std::uint32_t>> counting(sorted.unit_count);
    for (std::size_t u = 0; u < counting.size(); ++u) {
        const std::span<const double> own = std::span{masks}.subspan(u * width, width);
        const double most = *std::max_element(own.begin(), own.end());
        if (!(most > 0)) continue;
        const double enough = std::min(least_mask * spikes[u], most);
        for (std::size_t i = 0; i < width; ++i)
            if (own[i] >= enough) counting[u].push_back(static_cast<std::uint32_t>(i));
    }
    return counting;
}

void measure_separation(const spike_features& features, std::size_t features_per_channel,
                        const sorting& sorted, std::span<unit_quality> quality,
                        const execution& run) {
    constexpr std::size_t most_spikes = 5'000;
    constexpr std::size_t most_channels = 8;
    constexpr std::size_t fewest = 10;
    constexpr std::size_t smallest_part = 10;
    check(features, sorted);
    if (quality.size() != sorted.unit_count || features_per_channel == 0 ||
        features.feature_count() % features_per_channel != 0)
        throw invalid_argument(fmt::format("there are {} units and the quality of {}",
                                           sorted.unit_count, quality.size()));
    const templates::cluster_points points(features, features_per_channel);
    const auto members = spikes_of_units(sorted);
    parallel::parallel_for(members.size(), run, "separation of spikes", [&](std::size_t u) {
        const std::size_t count = std::min(members[u].size(), most_spikes);
        std::vector<std::uint32_t> spikes(count);
        for (std::size_t k = 0; k < count; ++k)
            spikes[k] = members[u][k * members[u].size() / count];
        const auto channels = points.largest_channels(spikes, most_channels);
        const double distance = templates::separate(points.of(spikes, channels),
                                                    std::max(fewest, count / smallest_part))
                                    .distance;
        if (distance > 0) quality[u].separation = distance;
    });
}

std::vector<unit_quality> measure_quality(const spike_features& features, const sorting& sorted,
                                          const quality_options& options, const execution& run) {
    check_options(options);
    const auto counting = counting_features(features, sorted, options.least_mask);
    const auto members = spikes_of_units(sorted);
    const sample_span recorded = sorted.has_times() ? span_of(sorted) : sample_span{};
    const double refractory = to_seconds(options.refractory) * sorted.sample_rate;
    std::vector<unit_quality> out(sorted.unit_count);
    parallel::parallel_for(out.size(), run, "quality of units", [&](std::size_t u) {
        out[u].spikes = members[u].size();
        out[u].features = static_cast<std::uint32_t>(counting[u].size());
        if (sorted.has_times()) measure_times(sorted, members[u], recorded, refractory, out[u]);
        if (counting[u].empty()) return;
        const unit_shape shape(features, members[u], counting[u]);
        if (shape.is_defined())
            measure_isolation(shape, sorted, static_cast<std::uint32_t>(u + 1), run, out[u]);
    });
    return out;
}

}  // namespace spikeweave
