#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "sort/tracking/footprints.hpp"

namespace spikeweave::sessions {

/// The logarithms of four differences of two units: of shape, of place, of amplitude and of the
/// autocorrelogram.
using differences = Eigen::Vector4d;

/// A distribution of these: a multivariate t, whose tails are longer than those of a normal one.
class difference_distribution {
public:
    difference_distribution(const differences& mean, const differences& deviations);

    /// The distribution of these with these weights, next to what was assumed before.
    void fit(std::span<const differences> values, std::span<const double> weights);
    /// @param has_last  whether the autocorrelograms are known
    double log_density(const differences& at, bool has_last) const;
    const differences& mean() const { return mean_; }

private:
    differences prior_mean_;
    Eigen::Matrix4d prior_covariance_;
    differences mean_;
    Eigen::Matrix4d covariance_;
};

/// Two units that may be one neuron.
struct possible_match {
    std::uint32_t unit;
    std::uint32_t other;
    likeness found;
    double probability = 0;
};

/// The probability that two units of different sessions are one neuron.
class match_model {
public:
    match_model();

    /// Learns from pairs of different units, of one session each, and from candidates of which some
    /// are one neuron: those of two sessions in each list.
    void learn(std::span<const likeness> different,
               std::vector<std::vector<possible_match>>& candidates);
    /// Sets the probabilities of the candidates of two sessions. A unit is one of the other
    /// session's at most.
    void judge(std::vector<possible_match>& candidates) const;

private:
    difference_distribution same_;
    difference_distribution different_;
    bool has_learned_ = false;
    double odds_ = 0.1;  // of a possible_match, before anything is known of it
};

}  // namespace spikeweave::sessions
