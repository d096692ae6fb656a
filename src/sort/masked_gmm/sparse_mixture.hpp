#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sort/masked_gmm/member_lists.hpp"
#include "sort/masked_gmm/sparse_data.hpp"
#include "sort/masked_gmm/steps.hpp"

namespace spikeweave::masked_gmm {

/// The code that all strategies on sparse data share: everything that needs no matrix.
class sparse_mixture : public mixture {
public:
    sparse_mixture(const spike_features& features, const feature_space& space,
                   masked_gmm_options options, const group_rules& groups, const execution& run);

    const noise_model& noise() const final { return data_.noise; }
    double penalty(const partition& now) const final;
    std::vector<double> deletion_gains(const assignment& found, std::uint32_t clusters,
                                       const execution& run) const final;
    std::vector<std::string> warnings() const final;

    /// Returns a cluster's part of the penalty for `spikes` spikes in all.
    double penalty_of(member_list cluster, double spikes) const;

protected:
    const masked_gmm_options& options() const { return options_; }
    const sparse_data& data() const { return data_; }

    /// The denominator of the weights.
    double denominator(std::uint32_t clusters) const;
    /// -ln of the noise's weight.
    double noise_cost(std::size_t spikes, std::uint32_t clusters) const;
    void count_dead(std::size_t spikes);

private:
    struct tally {
        std::vector<double> cost{};
        std::vector<double> spikes{};
    };

    double per_parameter(double spikes) const;
    tally tally_of(const partition& now) const;

    masked_gmm_options options_;
    sparse_data data_;
    std::size_t dead_ = 0;
    std::size_t largest_dead_ = 0;
};

/// Splits one cluster in two, without noise and with only its own spikes in the penalty. The caller
/// fits both parts and passes in the costs of all spikes in each of them until `over()`.
class halving {
public:
    /// @param unsplit  cost of the spikes in one cluster
    halving(const sparse_mixture& of, member_list whole, std::vector<std::uint8_t> sides,
            double unsplit, std::uint32_t most_rounds);

    bool over() const { return over_; }
    member_list whole() const { return whole_; }
    const halves& parts() const { return parts_; }
    void take(std::span<const double> to_first, std::span<const double> to_second);
    /// Empty if two clusters are not better than one.
    std::vector<std::uint8_t> answer() &&;

private:
    const sparse_mixture* of_;
    member_list whole_;
    std::vector<std::uint8_t> sides_;
    halves parts_;
    double unsplit_;
    double score_ = infinity;
    std::uint32_t rounds_left_;
    std::set<std::size_t> seen_;  // digests of earlier halves: a repeated one would start a cycle
    bool over_;
};

}  // namespace spikeweave::masked_gmm
