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

/// What the strategies on sparse data share: everything that takes no matrix.
class sparse_mixture : public mixture {
public:
    sparse_mixture(const spike_features& features, const feature_space& space,
                   masked_gmm_options options, const group_rules& groups, const execution& run);

    const noise_model& noise() const final { return data_.noise; }
    double penalty(const partition& now) const final;
    std::vector<double> deletion_gains(const assignment& found, std::uint32_t clusters,
                                       const execution& run) const final;
    std::vector<std::string> warnings() const final;

    /// A cluster's part of the penalty among `spikes`.
    double penalty_of(member_list cluster, double spikes) const;

protected:
    const masked_gmm_options& options() const { return options_; }
    const sparse_data& data() const { return data_; }

    /// Of the weights.
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

/// One cluster by itself on its way to two: without noise, and with its own number of spikes in the
/// penalty. Whoever has one fits its parts and says what all its spikes cost in them until it is
/// over.
class halving {
public:
    /// @param unsplit  what the spikes cost in one cluster
    halving(const sparse_mixture& of, member_list whole, std::vector<std::uint8_t> sides,
            double unsplit, std::uint32_t most_rounds);

    bool over() const { return over_; }
    member_list whole() const { return whole_; }
    const halves& parts() const { return parts_; }
    void take(std::span<const double> to_first, std::span<const double> to_second);
    /// Nothing where two are not better than one.
    std::vector<std::uint8_t> answer() &&;

private:
    const sparse_mixture* of_;
    member_list whole_;
    std::vector<std::uint8_t> sides_;
    halves parts_;
    double unsplit_;
    double score_;
    std::uint32_t rounds_left_;
    std::set<std::size_t> seen_;  // digests: halves that come back would go on for ever
    bool over_;
};

}  // namespace spikeweave::masked_gmm
