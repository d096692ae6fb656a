#include "sort/tracking/match_model.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace spikeweave::sessions {
namespace {

// What is assumed counts as so many pairs.
constexpr double prior_weight = 10;
constexpr double degrees_of_freedom = 5;

// Constants bound the logarithms of differences that are zero.
differences differences_of(const likeness& found) {
    return {std::log(1.003 - std::max(0.0, found.similarity)), std::log(found.distance_um + 2),
            std::log(std::abs(found.log_amplitude_ratio) + 0.03),
            std::log(1.02 - found.overlap.value_or(1))};
}

}  // namespace

difference_distribution::difference_distribution(const differences& mean,
                                                 const differences& deviations)
    : prior_mean_(mean),
      prior_covariance_(deviations.cwiseAbs2().asDiagonal()),
      mean_(mean),
      covariance_(prior_covariance_) {}

void difference_distribution::fit(std::span<const differences> values,
                                  std::span<const double> weights) {
    double sum = prior_weight;
    mean_ = prior_weight * prior_mean_;
    for (std::size_t i = 0; i < values.size(); ++i) {
        mean_ += weights[i] * values[i];
        sum += weights[i];
    }
    mean_ /= sum;
    const differences moved = prior_mean_ - mean_;
    covariance_ = prior_weight * (prior_covariance_ + moved * moved.transpose());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const differences from_mean = values[i] - mean_;
        covariance_ += weights[i] * from_mean * from_mean.transpose();
    }
    covariance_ /= sum;
}

double difference_distribution::log_density(const differences& at, bool has_last) const {
    const Eigen::Index size = has_last ? 4 : 3;
    const Eigen::LLT<Eigen::MatrixXd> root(covariance_.topLeftCorner(size, size));
    const Eigen::VectorXd scaled = root.matrixL().solve((at - mean_).head(size));
    double log_determinant = 0;
    for (Eigen::Index i = 0; i < size; ++i) log_determinant += std::log(root.matrixLLT()(i, i));
    const auto k = static_cast<double>(size);
    // The constant is the same for both distributions.
    return -log_determinant -
           (degrees_of_freedom + k) / 2 * std::log1p(scaled.squaredNorm() / degrees_of_freedom);
}

match_model::match_model()
    : same_({-3.2, 1.8, -2.2, -2.5}, {0.8, 0.6, 0.7, 0.7}),
      different_({-1.0, 3.3, -0.7, -1.8}, {0.8, 0.6, 0.9, 0.7}) {}

void match_model::learn(std::span<const likeness> different,
                        std::vector<std::vector<possible_match>>& candidates) {
    std::vector<differences> values;
    for (const likeness& one : different) values.push_back(differences_of(one));
    different_.fit(values, std::vector<double>(values.size(), 1));
    constexpr int rounds = 30;
    for (int round = 0; round < rounds; ++round) {
        values.clear();
        std::vector<double> weights;
        double matches = 1;
        for (std::vector<possible_match>& of_two : candidates) {
            judge(of_two);
            for (const possible_match& one : of_two) {
                values.push_back(differences_of(one.found));
                weights.push_back(one.probability);
                matches += one.probability;
            }
        }
        same_.fit(values, weights);
        odds_ = matches / std::max(1.0, static_cast<double>(values.size()) - matches + 1);
    }
    has_learned_ = true;
}

void match_model::judge(std::vector<possible_match>& candidates) const {
    std::uint32_t units = 0;
    std::uint32_t others = 0;
    std::vector<double> odds;
    for (const possible_match& one : candidates) {
        units = std::max(units, one.unit + 1);
        others = std::max(others, one.other + 1);
        // Units that are more alike than is usual for one neuron count as usual, not as unlikely.
        const differences found = differences_of(one.found);
        const differences as_usual =
            has_learned_ ? differences(found.cwiseMax(same_.mean())) : found;
        const bool has_last = one.found.overlap.has_value();
        const double log_ratio =
            same_.log_density(as_usual, has_last) - different_.log_density(found, has_last);
        odds.push_back(odds_ * std::exp(std::min(log_ratio, 50.0)));
    }
    std::vector<double> of_unit(units, 1);
    std::vector<double> of_other(others, 1);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        of_unit[candidates[i].unit] += odds[i];
        of_other[candidates[i].other] += odds[i];
    }
    for (std::size_t i = 0; i < candidates.size(); ++i)
        candidates[i].probability =
            odds[i] / (of_unit[candidates[i].unit] + of_other[candidates[i].other] - odds[i] - 1);
}

}  // namespace spikeweave::sessions
