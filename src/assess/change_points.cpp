#include "spikeweave/assess/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {
namespace {

// Statistics that differ by less are equal, because sums in another order are rounded otherwise.
constexpr double rounding_of_gains = 1e-9;

// Series with a mean of 0 and a variance of 1, with the values of a sample one beside another.
class standardised_series {
public:
    explicit standardised_series(std::span<const std::vector<double>> series)
        : width_(series.size()),
          samples_(series.empty() ? 0 : series.front().size()),
          values_(width_ * samples_) {
        for (std::size_t k = 0; k < width_; ++k) put(series[k], k);
    }

    std::size_t samples() const { return samples_; }
    std::size_t width() const { return width_; }
    std::span<const double> operator[](std::size_t sample) const {
        return std::span{values_}.subspan(sample * width_, width_);
    }

private:
    void put(const std::vector<double>& series, std::size_t k) {
        if (series.size() != samples_)
            throw invalid_argument("every series needs a value for every sample");
        double sum = 0;
        double squares = 0;
        for (const double value : series) {
            if (!std::isfinite(value))
                throw invalid_argument("a series has a value that is not finite");
            sum += value;
        }
        const double mean = sum / static_cast<double>(samples_);
        for (const double value : series) squares += (value - mean) * (value - mean);
        const double deviation = std::sqrt(squares / static_cast<double>(samples_));
        if (!(deviation > 1e-12 * std::abs(mean))) return;
        for (std::size_t s = 0; s < samples_; ++s)
            values_[s * width_ + k] = (series[s] - mean) / deviation;
    }

    std::size_t width_;
    std::size_t samples_;
    std::vector<double> values_;
};

// A part of the samples, and where the means before and behind differ most within it.
struct part_split {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t at = 0;
    double gain = 0;
};

bool has_two_states(std::size_t samples) {
    return samples >= 2 * least_samples_of_a_state;
}

// With the exponent 2, the scaled divergence of Matteson and James is twice the sum over the series
// of nm / (n + m) (mean before - mean behind)², which is computed here from the sum before.
part_split best_split(const standardised_series& series, std::span<const std::uint32_t> order,
                      std::size_t begin, std::size_t end) {
    const auto all = static_cast<double>(end - begin);
    std::vector<double> total(series.width());
    for (std::size_t s = begin; s < end; ++s) {
        const std::span<const double> values = series[order[s]];
        for (std::size_t k = 0; k < total.size(); ++k) total[k] += values[k];
    }
    std::vector<double> before(series.width());
    part_split best{begin, end, begin + least_samples_of_a_state, -1};
    for (std::size_t s = begin; s + least_samples_of_a_state < end; ++s) {
        const std::span<const double> values = series[order[s]];
        for (std::size_t k = 0; k < before.size(); ++k) before[k] += values[k];
        const std::size_t at = s + 1;
        if (at - begin < least_samples_of_a_state) continue;
        const auto first = static_cast<double>(at - begin);
        double squares = 0;
        for (std::size_t k = 0; k < before.size(); ++k) {
            const double beyond = before[k] - first / all * total[k];
            squares += beyond * beyond;
        }
        const double gain = squares * all / (first * (all - first));
        if (gain > best.gain * (1 + rounding_of_gains)) best = {begin, end, at, gain};
    }
    return best;
}

// The parts of the samples between changes.
class divided_samples {
public:
    divided_samples(const standardised_series& series, const change_point_options& options)
        : series_(series), options_(options), order_(series.samples()) {
        std::iota(order_.begin(), order_.end(), 0U);
        add(0, series.samples());
    }

    // The best place in all parts; null if none is long enough.
    const part_split* clearest() const {
        const auto found = std::ranges::max_element(splits_, {}, &part_split::gain);
        return found == splits_.end() ? nullptr : &*found;
    }

    // The share of orders in which the best place is as good.
    double p_of(const part_split& observed, const execution& run) const {
        const double least = observed.gain * (1 - rounding_of_gains);
        std::vector<char> reaches(options_.permutations);
        parallel::parallel_for(reaches.size(), run, "permuting samples", [&](std::size_t i) {
            std::vector<std::uint32_t> order = order_;
            // `compare_ratios` has the other streams of this purpose, those without a sub-index.
            random_stream random(options_.seed, random_purpose::label_permutation,
                                 static_cast<std::uint32_t>(i), 1 + divisions_);
            for (const part_split& part : splits_) {
                for (std::size_t s = part.begin; s + 1 < part.end; ++s)
                    std::swap(order[s], order[s + random.below(part.end - s)]);
                if (best_split(series_, order, part.begin, part.end).gain >= least) reaches[i] = 1;
            }
        });
        return (static_cast<double>(std::ranges::count(reaches, 1)) + 1) /
               (static_cast<double>(reaches.size()) + 1);
    }

    void divide(const part_split& split) {
        const part_split done = split;
        std::erase_if(splits_, [&](const part_split& one) { return one.begin == done.begin; });
        add(done.begin, done.at);
        add(done.at, done.end);
        ++divisions_;
    }

private:
    // Parts that cannot be divided are left out.
    void add(std::size_t begin, std::size_t end) {
        if (has_two_states(end - begin)) splits_.push_back(best_split(series_, order_, begin, end));
    }

    const standardised_series& series_;
    const change_point_options& options_;
    std::vector<std::uint32_t> order_;
    std::vector<part_split> splits_{};
    std::uint32_t divisions_ = 0;
};

change_points divide(const standardised_series& series, const change_point_options& options,
                     const execution& run) {
    change_points out;
    divided_samples parts(series, options);
    while (const part_split* const best = parts.clearest()) {
        const change_point one{best->at, parts.p_of(*best, run)};
        if (one.p >= options.alpha) {
            out.next = one;
            break;
        }
        out.found.push_back(one);
        parts.divide(*best);
    }
    return out;
}

}  // namespace

option_list describe(change_point_options& options) {
    option_list list;
    list.add("change_permutations", options.permutations,
             "number of random orders of the windows with which a change is compared")
        .at_least(1);
    list.add("change_alpha", options.alpha,
             "significance level of changes: a change is significant if its p, or its q if several "
             "were tested, is below this")
        .above(0)
        .at_most(1);
    list.add("change_seed", options.seed, "random seed of the orders of the windows");
    return list;
}

change_points find_change_points(std::span<const std::vector<double>> series,
                                 const change_point_options& options, const execution& run) {
    check_options(options);
    return divide(standardised_series(series), options, run);
}

std::vector<std::optional<change_point>> likeliest_changes(
    std::span<const std::vector<double>> series, const change_point_options& options,
    const execution& run) {
    check_options(options);
    std::vector<std::optional<change_point>> out(series.size());
    const execution alone{.threads = 1, .stop = run.stop};
    parallel::parallel_for(series.size(), run, "searching changes", [&](std::size_t k) {
        const standardised_series one(series.subspan(k, 1));
        const divided_samples all(one, options);
        if (const part_split* const best = all.clearest())
            out[k] = change_point{best->at, all.p_of(*best, alone)};
    });
    return out;
}

}  // namespace spikeweave
