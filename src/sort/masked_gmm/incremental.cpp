#include "spikeweave/sort/incremental.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "sort/masked_gmm/steps.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// Spikes that are assigned together. If a fit starts among them, those after it are assigned again.
constexpr std::size_t at_once = 4096;

void check(const incremental_options& options) {
    if (!options.search.start.empty())
        throw invalid_argument("spikes that come one after another have no clusters to begin with");
    if (options.first_fit == 0 || options.window == 0)
        throw invalid_argument("a first fit and a running score need at least one spike");
    if (!(options.refit_above > 0))
        throw invalid_argument(
            fmt::format("the running score may be worse by {}, expected a number above 0",
                        options.refit_above));
    if (!(options.growth > 1))
        throw invalid_argument(
            fmt::format("the growth is {}, expected a number above 1", options.growth));
    if (options.most_kept < options.first_fit)
        throw invalid_argument(fmt::format("{} spikes are kept, fewer than the {} of the first fit",
                                           options.most_kept, options.first_fit));
}

// Keeps the units and divides the spikes of noise by their masks, because some may belong to new
// units.
std::vector<std::uint32_t> warm_start(const spike_features& features,
                                      std::vector<std::uint32_t> labels,
                                      const masked_gmm_options& options, const execution& run) {
    std::vector<std::uint32_t> noise;
    for (std::uint32_t n = 0; n < labels.size(); ++n)
        if (labels[n] == 0) noise.push_back(n);
    if (noise.empty()) return labels;
    const std::uint32_t most = *std::max_element(labels.begin(), labels.end());
    const auto start =
        masked_gmm::start_by_masks(select_spikes(features, noise), options.starting_clusters, run);
    for (std::size_t a = 0; a < noise.size(); ++a) labels[noise[a]] = most + start.labels[a];
    return labels;
}

using counts = std::map<std::uint32_t, std::map<std::uint32_t, std::size_t>>;

// Returns the label with the most spikes, the first one if several have as many.
std::uint32_t largest(const std::map<std::uint32_t, std::size_t>& of) {
    return std::max_element(of.begin(), of.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

// Gives a unit the number of the previous unit with which it shares most of its spikes, if that
// unit also shares most of its spikes with it. Other units get new numbers.
void keep_numbers(const std::vector<std::uint32_t>& before, std::vector<std::uint32_t>& labels,
                  std::uint32_t& next) {
    counts of_new;
    counts of_old;
    for (std::size_t n = 0; n < labels.size(); ++n) {
        ++of_new[labels[n]][before[n]];
        ++of_old[before[n]][labels[n]];
    }
    std::map<std::uint32_t, std::uint32_t> number{{0, 0}};
    for (const auto& [unit, olds] : of_new) {
        if (unit == 0) continue;
        const std::uint32_t old = largest(olds);
        const bool same = old != 0 && largest(of_old.at(old)) == unit;
        number[unit] = same ? old : next++;
    }
    for (std::uint32_t& label : labels) label = number.at(label);
}

}  // namespace

const char* to_string(fit_reason reason) {
    switch (reason) {
        case fit_reason::first:
            return "first";
        case fit_reason::drift:
            return "drift";
        case fit_reason::growth:
            return "growth";
        case fit_reason::asked:
            return "asked";
    }
    return "?";
}

incremental_sorter::incremental_sorter(incremental_options options) : options_(std::move(options)) {
    check(options_);
}

incremental_sorter::incremental_sorter(sorting_model model, incremental_options options)
    : options_(std::move(options)), model_(std::move(model)) {
    check(options_);
    feature_count_ = model_.feature_count();
    running_cost_ = model_.cost();
    if (!model_.units().empty()) next_label_ = model_.units().back() + 1;
}

std::vector<std::uint32_t> incremental_sorter::add(const spike_features& features,
                                                   const execution& run) {
    if (features.size() == 0) return {};
    if (feature_count_ == 0) feature_count_ = features.feature_count();
    if (features.feature_count() != feature_count_)
        throw invalid_argument(fmt::format("there are spikes of {} features after others of {}",
                                           features.feature_count(), feature_count_));
    const std::size_t before = labels_.size();
    for (std::size_t at = 0; at < features.size();)
        at = has_model() ? add_some(features, at, run) : add_unfitted(features, at, run);
    return {labels_.begin() + static_cast<std::ptrdiff_t>(before), labels_.end()};
}

void incremental_sorter::fit(const execution& run) {
    if (kept() > 0) fit_for(fit_reason::asked, run);
}

void incremental_sorter::keep(const spike_features& features, std::size_t begin, std::size_t end) {
    values_.resize(values_.size() + (end - begin) * feature_count_);
    for (std::size_t n = begin; n < end; ++n) {
        features.write_values(
            n, std::span{values_}.last((end - n) * feature_count_).first(feature_count_));
        const auto columns = features.unmasked(n);
        const auto masks = features.mask_values(n);
        masks_.columns.insert(masks_.columns.end(), columns.begin(), columns.end());
        masks_.values.insert(masks_.values.end(), masks.begin(), masks.end());
        masks_.offsets.push_back(masks_.columns.size());
    }
    // Forgetting takes time proportional to all kept spikes, so it is not done at every spike.
    if (kept() / 2 >= options_.most_kept) forget_oldest();
}

void incremental_sorter::forget_oldest() {
    if (kept() <= options_.most_kept) return;
    const std::size_t gone = kept() - options_.most_kept;
    const std::uint64_t entries = masks_.offsets[gone];
    const auto cut = [](auto& from, std::uint64_t count) {
        from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    };
    cut(values_, gone * feature_count_);
    cut(masks_.columns, entries);
    cut(masks_.values, entries);
    cut(masks_.offsets, gone);
    for (std::uint64_t& offset : masks_.offsets) offset -= entries;
}

std::size_t incremental_sorter::add_unfitted(const spike_features& features, std::size_t begin,
                                             const execution& run) {
    const std::size_t end =
        std::min(features.size(), begin + std::max<std::size_t>(options_.first_fit - kept(), 1));
    keep(features, begin, end);
    labels_.resize(labels_.size() + end - begin);
    if (kept() >= options_.first_fit) fit_for(fit_reason::first, run);
    return end;
}

// Assigns a batch of spikes and adds those up to the one after which the model no longer fits.
std::size_t incremental_sorter::add_some(const spike_features& features, std::size_t begin,
                                         const execution& run) {
    const std::size_t size = std::min(at_once, features.size() - begin);
    std::vector<std::uint32_t> some(size);
    std::iota(some.begin(), some.end(), static_cast<std::uint32_t>(begin));
    const assignment_result found = model_.assign(select_spikes(features, some), run);
    const double fade = 1 - std::exp(-1 / static_cast<double>(options_.window));
    const auto fitted = static_cast<double>(model_.spikes());
    std::size_t taken = 0;
    bool drifted = false;
    bool grown = false;
    while (taken < size && !drifted && !grown) {
        running_cost_ += fade * (found.costs[taken] - running_cost_);
        labels_.push_back(found.labels[taken]);
        ++taken;
        ++since_fit_;
        if (since_fit_ < options_.window) continue;
        drifted = running_cost_ > model_.cost() + options_.refit_above;
        grown = fitted + static_cast<double>(since_fit_) >= options_.growth * fitted;
    }
    keep(features, begin, begin + taken);
    if (drifted || grown) fit_for(drifted ? fit_reason::drift : fit_reason::growth, run);
    return begin + taken;
}

void incremental_sorter::fit_for(fit_reason reason, const execution& run) {
    forget_oldest();
    const spike_features features(feature_count_, values_, masks_);
    const auto own = labels_.end() - static_cast<std::ptrdiff_t>(features.size());
    const std::vector<std::uint32_t> before(own, labels_.end());
    masked_gmm_options search = options_.search;
    if (has_model()) search.start = warm_start(features, before, search, run);
    clustering_result found = sort_spikes(features, search, run);
    if (has_model()) {
        keep_numbers(before, found.labels, next_label_);
    } else {
        next_label_ = found.units + 1;
    }
    sorting_model fitted = fit_model(features, found.labels, search, run);
    fits_.push_back({.spikes = labels_.size(),
                     .reason = reason,
                     .running_cost = running_cost_,
                     .cost_before = model_.cost(),
                     .cost = fitted.cost(),
                     .iterations = found.iterations.size(),
                     .units = found.units});
    model_ = std::move(fitted);
    std::copy(found.labels.begin(), found.labels.end(), own);
    running_cost_ = model_.cost();
    since_fit_ = 0;
}

}  // namespace spikeweave
