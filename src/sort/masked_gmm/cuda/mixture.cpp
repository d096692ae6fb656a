#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/stop.hpp"
#include "device/cuda.hpp"
#include "sort/masked_gmm/cuda/device_fits.hpp"
#include "sort/masked_gmm/cuda/e_step.hpp"
#include "sort/masked_gmm/cuda/resident_data.hpp"
#include "sort/masked_gmm/cuda/residual_costs.hpp"
#include "sort/masked_gmm/sparse_mixture.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::masked_gmm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// If more than this cancels, rounding errors of the costs could affect a score, so the costs are
// computed from residuals.
constexpr double too_much_cancels = 1e6;
// The limits for single precision, where errors are a hundred million times as large and affect
// scores from the fifth digit on. Clusters whose costs are as near as this are compared in double
// precision.
constexpr double too_much_cancels_single = 1e5;
constexpr double too_near_single = 1;
// Largest number of costs computed at once for spikes with too many unmasked features for the
// products of the E-step.
constexpr std::size_t most_wide_costs = std::size_t{1} << 23;

// A split candidate with the costs, without weights, from which `split_change` is computed.
struct split_costs {
    std::vector<std::uint8_t> sides{};
    double whole = 0;
    double first = 0;
    double second = 0;
};

void offer(assignment& found, std::uint32_t spike, std::uint32_t cluster, double cost) {
    if (cost < found.best_cost[spike]) {
        found.second[spike] = std::exchange(found.best[spike], cluster);
        found.second_cost[spike] = std::exchange(found.best_cost[spike], cost);
    } else if (cost < found.second_cost[spike]) {
        found.second[spike] = cluster;
        found.second_cost[spike] = cost;
    }
}

std::uint32_t most_columns_of(int ordinal) {
    return e_step::most_columns(device::limits_of(ordinal));
}

class cuda_mixture final : public sparse_mixture {
public:
    cuda_mixture(const spike_features& features, const feature_space& space,
                 const masked_gmm_options& options, const execution& run)
        : sparse_mixture(features, space, options,
                         device_group_rules(most_columns_of(run.devices.front())), run),
          ordinal_(run.devices.front()) {
        const device::scoped_device scope(ordinal_);
        const std::size_t most = fitter::most_features(device::limits_of(ordinal_));
        if (data().feature_count() > most)
            throw device_error(fmt::format(
                "spikes have {} features, and GPU {} sorts those of {} at most: leave out --device",
                data().feature_count(), ordinal_, most));
        on_.emplace();
        resident_.emplace(data(), most_columns_of(ordinal_), *on_);
        fitter_.emplace(*resident_, this->options());
        densities_.emplace(*resident_, data().size(), is_fast());
        residuals_.emplace(*resident_, ordinal_);
    }

    assignment assign(const partition& now, const execution& run) override {
        core::throw_if_stopped(run.stop);
        const device::scoped_device scope(ordinal_);
        const member_lists all(now);
        const fit_summary& fits = fitter_->fit(units_of(all), *on_);
        std::vector<double> weight_cost;
        std::vector<double> plain;
        for (std::uint32_t k = 1; k < now.clusters; ++k) {
            const std::size_t size = all.of(k).size();
            if (fits.dead(k - 1)) count_dead(size);
            weight_cost.push_back(cost_of_weight(size, denominator(now.clusters)));
            plain.push_back(fits.plain[k - 1] + weight_cost.back() + fits.at_noise[k - 1] / 2);
        }
        const double of_noise = noise_cost(all.of(0).size(), now.clusters);
        const std::size_t n = data().size();
        assignment found{.best = std::vector<std::uint32_t>(n),
                         .second = std::vector<std::uint32_t>(n, no_cluster),
                         .best_cost = std::vector<double>(n, of_noise),
                         .second_cost = std::vector<double>(n, infinity)};
        core::throw_if_stopped(run.stop);
        densities_->evaluate(fitter_->fits(), plain, of_noise, found);
        offer_wide(weight_cost, of_noise, found);
        refine(weight_cost, found);
        return found;
    }

    std::vector<cluster_model> models(const partition& now, const execution& run) override {
        core::throw_if_stopped(run.stop);
        const device::scoped_device scope(ordinal_);
        const member_lists all(now);
        fitter_->fit(units_of(all), *on_);
        std::vector<cluster_model> models = fitter_->models(noise().variance);
        for (std::uint32_t k = 1; k < now.clusters; ++k) {
            cluster_model& model = models[k - 1];
            model.weight = std::exp(-cost_of_weight(all.of(k).size(), denominator(now.clusters)));
            for (std::size_t i = 0; i < model.mean.size(); ++i) model.mean[i] += noise().mean[i];
        }
        return models;
    }

    // Splits all clusters together: a round is one M-step of all halves that are not finished.
    std::vector<std::vector<std::uint8_t>> split_candidates(const partition& now,
                                                            std::span<const std::uint8_t> start,
                                                            const execution& run) override {
        const device::scoped_device scope(ordinal_);
        const member_lists all(now);
        const std::vector<double> unsplit = costs_of_wholes(units_of(all));
        std::vector<halving> open;
        for (std::uint32_t k = 1; k < now.clusters; ++k) {
            const member_list own = all.of(k);
            std::vector<std::uint8_t> sides(own.size());
            for (std::size_t a = 0; a < own.size(); ++a) sides[a] = start[own[a]];
            open.emplace_back(*this, own, std::move(sides),
                              unsplit[k - 1] + penalty_of(own, static_cast<double>(own.size())),
                              options().max_iterations);
        }
        while (split_further(open)) core::throw_if_stopped(run.stop);
        std::vector<std::vector<std::uint8_t>> found(now.clusters);
        for (std::uint32_t k = 1; k < now.clusters; ++k) found[k] = std::move(open[k - 1]).answer();
        judge(all, unsplit, found);
        return found;
    }

    double split_change(const partition& now, std::uint32_t cluster,
                        std::span<const std::uint8_t> sides) override {
        std::vector<std::uint32_t> whole;
        for (std::uint32_t n = 0; n < now.labels.size(); ++n)
            if (now.labels[n] == cluster) whole.push_back(n);
        if (cluster >= judged_.size() ||
            !std::equal(sides.begin(), sides.end(), judged_[cluster].sides.begin(),
                        judged_[cluster].sides.end())) {
            const device::scoped_device scope(ordinal_);
            member_lists alone;
            for (std::uint32_t k = 0; k < cluster; ++k) alone.add({});
            alone.add(whole);
            member_lists unit;
            unit.add(whole);
            std::vector<double> unsplit(cluster);
            unsplit[cluster - 1] = costs_of_wholes(unit)[0];
            std::vector<std::vector<std::uint8_t>> asked(cluster + std::size_t{1});
            asked[cluster] = {sides.begin(), sides.end()};
            judge(alone, unsplit, asked);
        }
        const split_costs& costs = judged_[cluster];
        const halves parts(whole, sides);
        const auto spikes = static_cast<double>(data().size());
        const double before = denominator(now.clusters);
        const double after = denominator(now.clusters + 1);
        const auto score = [&](member_list part, double cost, double all) {
            return cost + static_cast<double>(part.size()) * cost_of_weight(part.size(), all) +
                   penalty_of(part, spikes);
        };
        return (spikes - static_cast<double>(whole.size())) * std::log(after / before) +
               score(parts.first, costs.first, after) + score(parts.second, costs.second, after) -
               score(whole, costs.whole, before);
    }

private:
    bool is_fast() const { return options().precision == sort_precision::fast; }

    // All clusters except noise.
    static member_lists units_of(const member_lists& all) {
        member_lists units;
        units.spikes.assign(all.spikes.begin() + static_cast<std::ptrdiff_t>(all.begin[1]),
                            all.spikes.end());
        units.begin.assign(all.begin.begin() + 1, all.begin.end());
        for (std::size_t& at : units.begin) at -= all.begin[1];
        return units;
    }

    double cost_of_weight(std::size_t spikes, double all) const {
        return -std::log((static_cast<double>(spikes) + options().prior_point) / all);
    }

    std::vector<double> ask(std::span<const cost_question> questions, const fit_summary& fits) {
        return residuals_->of(fitter_->fits(), fits.largest, questions, *on_);
    }

    void offer_wide(const std::vector<double>& weight_cost, double noise_cost, assignment& found) {
        const std::vector<std::uint32_t>& wide = resident_->wide_spikes();
        if (wide.empty()) return;
        for (const std::uint32_t n : wide) {
            found.best[n] = 0;
            found.best_cost[n] = noise_cost;
            found.second[n] = no_cluster;
            found.second_cost[n] = infinity;
        }
        const fit_summary& fits = fitter_->summary();
        const std::size_t at_once = std::max<std::size_t>(1, most_wide_costs / wide.size());
        for (std::size_t begin = 0; begin < weight_cost.size(); begin += at_once) {
            const std::size_t end = std::min(begin + at_once, weight_cost.size());
            std::vector<cost_question> questions;
            for (std::size_t k = begin; k < end; ++k)
                questions.push_back({static_cast<std::uint32_t>(k), wide});
            const std::vector<double> costs = ask(questions, fits);
            for (std::size_t k = begin; k < end; ++k)
                for (std::size_t a = 0; a < wide.size(); ++a)
                    offer(found, wide[a], static_cast<std::uint32_t>(k) + 1,
                          costs[(k - begin) * wide.size() + a] + weight_cost[k]);
        }
    }

    // Recomputes costs that rounding errors may have made inaccurate.
    void refine(const std::vector<double>& weight_cost, assignment& found) {
        const fit_summary& fits = fitter_->summary();
        std::vector<std::vector<std::uint32_t>> spoilt(weight_cost.size());
        std::vector<cost_question> questions;
        const double limit = is_fast() ? too_much_cancels_single : too_much_cancels;
        if (!is_fast() && std::none_of(fits.cancelling.begin(), fits.cancelling.end(),
                                       [limit](double one) { return one > limit; }))
            return;
        const auto note = [&](std::uint32_t spike, std::uint32_t cluster, bool near) {
            if (cluster != 0 && cluster != no_cluster &&
                (near || fits.cancelling[cluster - 1] > limit))
                spoilt[cluster - 1].push_back(spike);
        };
        for (std::uint32_t n = 0; n < found.best.size(); ++n) {
            const bool near =
                is_fast() && found.second_cost[n] - found.best_cost[n] < too_near_single;
            note(n, found.best[n], near);
            note(n, found.second[n], near);
        }
        for (std::size_t k = 0; k < spoilt.size(); ++k)
            if (!spoilt[k].empty()) questions.push_back({static_cast<std::uint32_t>(k), spoilt[k]});
        const std::vector<double> costs = ask(questions, fits);
        std::size_t at = 0;
        for (const cost_question& one : questions) {
            for (const std::uint32_t n : one.spikes) {
                const double cost = costs[at++] + weight_cost[one.cluster];
                (found.best[n] == one.cluster + 1 ? found.best_cost : found.second_cost)[n] = cost;
            }
        }
        for (std::size_t n = 0; n < found.best.size(); ++n) {
            if (!(found.second_cost[n] < found.best_cost[n])) continue;
            std::swap(found.second[n], found.best[n]);
            std::swap(found.second_cost[n], found.best_cost[n]);
        }
    }

    // The summed cost of the spikes of each cluster in it, without weights.
    std::vector<double> costs_of_wholes(const member_lists& units) {
        const fit_summary& fits = fitter_->fit(units, *on_);
        std::vector<cost_question> questions;
        for (std::uint32_t k = 0; k < units.size(); ++k) questions.push_back({k, units.of(k)});
        const std::vector<double> costs = ask(questions, fits);
        std::vector<double> sums;
        for (std::uint32_t k = 0; k < units.size(); ++k)
            sums.push_back(sum(std::span{costs}.subspan(units.begin[k], units.of(k).size())));
        return sums;
    }

    // @return whether anything was left to do
    bool split_further(std::vector<halving>& open) {
        std::vector<halving*> going;
        member_lists parts;
        std::vector<cost_question> questions;
        for (halving& one : open) {
            if (one.over()) continue;
            going.push_back(&one);
            for (const auto* const part : {&one.parts().first, &one.parts().second}) {
                questions.push_back({static_cast<std::uint32_t>(parts.size()), one.whole()});
                parts.add(*part);
            }
        }
        if (going.empty()) return false;
        std::vector<double> costs = ask(questions, fitter_->fit(parts, *on_));
        std::span<double> left = costs;
        for (std::size_t i = 0; i < going.size(); ++i) {
            const auto spikes = static_cast<double>(going[i]->whole().size());
            const auto next = [&](std::size_t part) {
                const auto own = left.first(going[i]->whole().size());
                left = left.subspan(own.size());
                const double weight = cost_of_weight(parts.of(2 * i + part).size(),
                                                     spikes + 2 * options().prior_point);
                for (double& one : own) one += weight;
                return own;
            };
            const auto to_first = next(0);
            going[i]->take(to_first, next(1));
        }
        return true;
    }

    // Stores the cost of the spikes of each half in that half.
    void judge(const member_lists& all, const std::vector<double>& unsplit,
               const std::vector<std::vector<std::uint8_t>>& sides) {
        judged_.assign(sides.size(), {});
        member_lists parts;
        for (std::uint32_t k = 1; k < sides.size(); ++k) {
            if (sides[k].empty()) continue;
            const halves both(all.of(k), sides[k]);
            parts.add(both.first);
            parts.add(both.second);
        }
        if (parts.size() == 0) return;
        const std::vector<double> costs = costs_of_wholes(parts);
        std::size_t at = 0;
        for (std::uint32_t k = 1; k < sides.size(); ++k) {
            if (sides[k].empty()) continue;
            judged_[k] = {sides[k], unsplit[k - 1], costs[at], costs[at + 1]};
            at += 2;
        }
    }

    int ordinal_;
    std::optional<device::stream> on_;
    std::optional<resident_data> resident_;
    std::optional<fitter> fitter_;
    std::optional<e_step> densities_;
    std::optional<residual_costs> residuals_;
    std::vector<split_costs> judged_;
};

}  // namespace

std::unique_ptr<mixture> make_cuda(const spike_features& features,
                                   const masked_gmm_options& options, const execution& run) {
    return make_cuda(features, measure_space(features, run), options, run);
}

std::unique_ptr<mixture> make_cuda(const spike_features& features, const feature_space& space,
                                   const masked_gmm_options& options, const execution& run) {
    return std::make_unique<cuda_mixture>(features, space, options, run);
}

}  // namespace spikeweave::masked_gmm
