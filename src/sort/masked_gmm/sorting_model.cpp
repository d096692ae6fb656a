#include "spikeweave/sort/sorting_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/stop.hpp"
#include "sort/masked_gmm/cluster_fit.hpp"
#include "sort/masked_gmm/model_parts.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using masked_gmm::cluster_fit;
using masked_gmm::sparse_data;

assignment_result assign_in(const sorting_model::parts& model, const sparse_data& data,
                            const execution& run) {
    masked_gmm::assignment found =
        masked_gmm::evaluate(data, model.fits, model.noise_cost,
                             {.threads = run.threads, .stop = run.stop, .ranks = run.ranks});
    for (std::uint32_t& label : found.best) label = label == 0 ? 0 : model.units[label - 1];
    return {std::move(found.best), std::move(found.best_cost)};
}

}  // namespace

sorting_model::sorting_model() : parts_(std::make_shared<const parts>()) {}
sorting_model::sorting_model(std::shared_ptr<const parts> what) : parts_(std::move(what)) {}

std::size_t sorting_model::feature_count() const {
    return parts_->space.low.size();
}
const std::vector<std::uint32_t>& sorting_model::units() const {
    return parts_->units;
}
std::uint64_t sorting_model::spikes() const {
    return parts_->spikes;
}
double sorting_model::cost() const {
    return parts_->cost;
}

const std::optional<feature_basis>& sorting_model::basis() const {
    return parts_->basis;
}

sorting_model sorting_model::with_basis(feature_basis basis) const {
    if (basis.feature_count() != feature_count())
        throw invalid_argument(fmt::format("a basis of {} features for a model of {}",
                                           basis.feature_count(), feature_count()));
    parts changed = *parts_;
    changed.basis = std::move(basis);
    return sorting_model(std::make_shared<const parts>(std::move(changed)));
}

assignment_result sorting_model::assign(const spike_features& features,
                                        const execution& run) const {
    core::throw_if_stopped(run.stop);
    if (features.size() == 0) return {};
    if (features.feature_count() != feature_count())
        throw invalid_argument(fmt::format("there are spikes of {} features for a model of {}",
                                           features.feature_count(), feature_count()));
    return assign_in(*parts_, {features, parts_->space, masked_gmm::cpu_groups, run}, run);
}

sorting_model fit_model(const spike_features& features, const std::vector<std::uint32_t>& labels,
                        const masked_gmm_options& options, const execution& run) {
    masked_gmm::check(features, options);
    core::throw_if_stopped(run.stop);
    if (labels.size() != features.size())
        throw invalid_argument(fmt::format("there are clusters of {} spikes, and {} spikes",
                                           labels.size(), features.size()));
    std::map<std::uint32_t, std::vector<std::uint32_t>> members;
    for (std::uint32_t n = 0; n < labels.size(); ++n) members[labels[n]].push_back(n);
    const auto in_noise = static_cast<double>(members[0].size());
    members.erase(0);

    sorting_model::parts model{.space = masked_gmm::measure_space(features, run),
                               .spikes = features.size()};
    const sparse_data data(features, model.space, masked_gmm::cpu_groups, run);
    std::vector<masked_gmm::member_list> lists;
    lists.reserve(members.size());
    for (const auto& [unit, spikes] : members) lists.emplace_back(spikes);
    const double denominator = static_cast<double>(features.size()) +
                               options.prior_point * static_cast<double>(members.size()) +
                               options.noise_point;
    std::vector<cluster_fit> fits =
        masked_gmm::fit_clusters(data, lists, {.options = &options, .denominator = denominator},
                                 {.threads = run.threads, .stop = run.stop});
    std::size_t at = 0;
    for (const auto& [unit, spikes] : members) {
        cluster_fit& fit = fits[at++];
        if (fit.dead) continue;
        model.units.push_back(unit);
        model.fits.push_back(std::move(fit));
    }
    model.noise_cost = -std::log((in_noise + options.noise_point) / denominator);
    const std::vector<double> costs = assign_in(model, data, run).costs;
    model.cost =
        std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size());
    return sorting_model(std::make_shared<const sorting_model::parts>(std::move(model)));
}

}  // namespace spikeweave
