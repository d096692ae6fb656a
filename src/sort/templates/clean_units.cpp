#include "sort/templates/clean_units.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "parallel/parallel_for.hpp"
#include "sort/templates/coincidences.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "spikeweave/sort/quality.hpp"

namespace spikeweave::templates {
namespace {

constexpr double least_kept_share = 0.25;  // of the spikes that a unit had before
// The least size of a template, in standard deviations of its noise. Small clusters of the first
// pass are mostly noise; late units have shown more.
constexpr double least_norm = 6;
constexpr double least_late_norm = 5;
// The least size of the template of a unit with a refractory period, which noise does not have.
constexpr double least_refractory_norm = 4;
constexpr double enough_own_pairs = 20;
constexpr double most_left_of_sum = 0.25;  // share of the energy that others do not explain
constexpr double most_difference = 0.1;    // share of the energy in which copies differ
constexpr double most_late_difference = 0.35;
constexpr double late_spikes = 2.5;      // as many times as many as other units need
constexpr double least_late_rate = 0.3;  // Hz
constexpr double sum_window_s = 0.0005;
// Templates of one neuron may differ in size, as spikes of a burst do, and in the peak that is
// their centre, so that a part of one is outside the window of the other: the share of the energy
// that the other's direction leaves, and the ratio of sizes.
constexpr double most_off_direction = 0.5;
constexpr double least_size_ratio = 0.4;
constexpr double most_off_burst = 0.15;
// In standard deviations of the noise: two groups of spikes that are further apart are two.
constexpr double most_distance = 5;
constexpr double least_burst_ratio = 0.25;
// Of the amplitudes of a unit that the threshold lets pass only half of, the cutoff is 0.5.
constexpr double most_cut_off = 0.4;
// The share of spikes beside those of larger units in a unit that consists of remainders of their
// spikes.
constexpr double most_locked = 0.5;

class cleaner {
public:
    cleaner(const matched_units& units, const execution& run,
            std::vector<cluster_decision>& decisions)
        : units_(units),
          run_(run),
          decisions_(decisions),
          frames_(units.plan.filters.size()),
          amplitudes_(units.plan.filters.size()),
          placed_(units.plan.filters, units.window) {
        for (const template_spike& spike : units.spikes) {
            frames_[spike.unit].push_back(spike.frame);
            amplitudes_[spike.unit].push_back(spike.amplitude);
        }
        fates_.resize(frames_.size());
        shifts_.resize(frames_.size());
        std::iota(fates_.begin(), fates_.end(), 0U);
    }

    cleaned_units clean() {
        for (std::uint32_t u = 0; u < fates_.size(); ++u) drop_if_few(u);
        if (!units_.merge) return {fates_, shifts_};
        drop_sums();
        for (std::uint32_t u = 0; u < fates_.size(); ++u)
            for (const overlap& row : units_.plan.overlaps.of(u))
                if (row.other > u && is_there(u) && is_there(row.other)) merge_if_same(u, row);
        for (std::uint32_t u = 0; u < fates_.size(); ++u)
            if (is_there(u)) drop_if_explained(u);
        for (std::uint32_t u = 0; u < fates_.size(); ++u)
            if (is_there(u) && is_late(u)) drop_if_variant(u);
        drop_locked();
        for (std::uint32_t u = 0; u < fates_.size(); ++u)
            if (units_.is_last && is_there(u) && is_late(u)) drop_if_cut_off(u);
        return {fates_, shifts_};
    }

private:
    bool is_there(std::uint32_t unit) const { return fates_[unit] == unit; }
    bool is_late(std::uint32_t unit) const { return units_.found_late[unit].has_value(); }
    double norm(std::uint32_t unit) const {
        return static_cast<double>(units_.plan.filters[unit].norm) / steps_per_sd;
    }
    bool is_near_noise(std::uint32_t unit) const {
        const matched_filter& filter = units_.plan.filters[unit];
        if (filter.norm >= (is_late(unit) ? least_late_norm : least_norm) * filter.noise)
            return false;
        return filter.norm < least_refractory_norm * filter.noise || !has_refractory_period(unit);
    }
    bool has_refractory_period(std::uint32_t unit) const {
        const train_pair own{frames_[unit], frames_[unit], units_.rate_hz, units_.frame_count};
        const lag_range refractory = refractory_lags(own);
        return pairs_at(own, refractory).expected >= enough_own_pairs &&
               is_one_train(own, refractory);
    }
    double peak(std::uint32_t unit) const {
        const matched_filter& filter = units_.plan.filters[unit];
        float largest = 0;
        for (std::size_t c = 0; c < filter.channels.size(); ++c)
            for (const float x : waveform_of(filter, c, 0))
                largest = std::max(largest, std::abs(x));
        return largest;
    }
    double count(std::uint32_t unit) const { return static_cast<double>(frames_[unit].size()); }
    std::int64_t frames_in(double seconds) const {
        return static_cast<std::int64_t>(seconds * units_.rate_hz);
    }
    // Pairs of spikes of independent units that are at most this far apart.
    double pairs_by_chance(std::uint32_t a, std::uint32_t b, double window_s) const {
        return expected_pairs(count(a), count(b), 0, frames_in(window_s), units_.frame_count);
    }
    double least_count(std::uint32_t unit) const {
        const double least = units_.least_spikes;
        if (!is_late(unit)) return least;
        return std::max(late_spikes * least, least_late_rate * units_.frame_count / units_.rate_hz);
    }
    // The largest correlation of two templates over lags.
    static double similarity_in(const overlap& row) {
        return static_cast<double>(*std::ranges::max_element(row.values)) / (1 << overlap_bits);
    }
    // The lag of the same spike for the other template.
    std::int64_t lag_in(const overlap& row) const {
        const auto at = std::ranges::max_element(row.values) - row.values.begin();
        const std::int64_t reach = units_.plan.overlaps.reach();
        return at % (2 * reach + 1) - reach;
    }
    // The share of the energy of the larger one in which they differ.
    double difference(std::uint32_t unit, const overlap& row) const {
        const double a = norm(unit);
        const double b = norm(row.other);
        return (a * a + b * b - 2 * a * b * similarity_in(row)) / (std::max(a, b) * std::max(a, b));
    }
    double misfit(std::uint32_t unit, std::uint32_t other, std::int64_t lag) const;
    // Whether noise alone may take the spikes of one unit for the other's: their templates differ
    // by little, beyond what the noise of these means, and what the parts of their filters leave,
    // explain.
    bool are_indistinct(std::uint32_t unit, std::uint32_t other, std::int64_t lag) const {
        const double size = std::min(norm(unit), norm(other));
        const matched_filter& filter = units_.plan.filters[unit];
        const auto values = static_cast<double>(filter.channels.size() * filter.frames);
        const double of_means = values * (1 / count(unit) + 1 / count(other));
        const double of_parts = 2 * std::pow(most_share_left * size, 2);
        return std::min(misfit(unit, other, lag), misfit(other, unit, -lag)) <=
               most_distance * most_distance + of_means + of_parts;
    }
    void drop(std::uint32_t unit, const char* reason);
    void drop_if_few(std::uint32_t unit);
    std::vector<template_spike> others_in(std::uint32_t unit) const;
    void drop_sums();
    void drop_if_sum(std::uint32_t unit, std::vector<template_spike> others);
    void merge_if_same(std::uint32_t unit, const overlap& row);
    void drop_if_explained(std::uint32_t unit);
    void drop_if_variant(std::uint32_t unit);
    void drop_if_cut_off(std::uint32_t unit);
    bool is_locked(std::uint32_t unit) const;
    void drop_locked();

    std::size_t apron() const { return 3 * units_.window.size(); }

    const matched_units& units_;
    const execution& run_;
    std::vector<cluster_decision>& decisions_;
    std::vector<std::vector<std::int64_t>> frames_;
    std::vector<std::vector<float>> amplitudes_;
    placed_waveforms placed_;
    std::vector<std::uint32_t> fates_{};
    std::vector<std::int64_t> shifts_{};
};

// Units that were merged with it go with it.
void cleaner::drop(std::uint32_t unit, const char* reason) {
    std::ranges::replace(fates_, unit, no_unit);
    decisions_.push_back({.cluster = units_.numbers[unit],
                          .fate = cluster_fate::dropped,
                          .spikes = frames_[unit].size(),
                          .reason = reason});
}

void cleaner::drop_if_few(std::uint32_t unit) {
    const auto found = frames_[unit].size();
    if (found == 0)
        drop(unit, "its template is found nowhere");
    else if (units_.merge && count(unit) < least_count(unit))
        drop(unit, "it has too few spikes");
    else if (units_.merge &&
             count(unit) < least_kept_share * static_cast<double>(units_.before[unit]))
        drop(unit, "other templates explain most of its spikes better");
    else if (units_.merge && units_.found_late[unit] == residual_traces::pooled &&
             peak(unit) > units_.detected_size)
        drop(unit, "its spikes are large enough to be found on single channels");
    else if (units_.merge && units_.is_last && is_near_noise(unit))
        drop(unit, "its template is too small to distinguish its spikes from noise");
}

// The spikes of other units that explain a unit's template best.
std::vector<template_spike> cleaner::others_in(std::uint32_t unit) const {
    const matched_filter& filter = units_.plan.filters[unit];
    integer_block traces{.channels = units_.channel_count, .frames = filter.frames + 2 * apron()};
    traces.values.resize(traces.channels * traces.frames);
    for (std::size_t c = 0; c < filter.channels.size(); ++c) {
        const std::vector<float> waveform = waveform_of(filter, c, 0);
        for (std::size_t f = 0; f < waveform.size(); ++f)
            traces.values[filter.channels[c] * traces.frames + apron() + f] =
                static_cast<std::int16_t>(std::lround(waveform[f] * steps_per_sd));
    }
    std::vector<template_spike> out;
    const auto before = static_cast<std::size_t>(units_.window.before);
    std::vector<char> excluded(fates_.size());
    excluded[unit] = 1;
    for (const block_match& match :
         match_block(units_.plan, scores_of(units_.plan.filters, traces, before), {excluded})
             .spikes)
        out.push_back({.frame = match.frame - static_cast<std::int64_t>(apron()),
                       .fraction = static_cast<float>(match.part) / parts_of_frame,
                       .unit = match.unit,
                       .amplitude = static_cast<float>(match.size) /
                                    static_cast<float>(units_.plan.filters[match.unit].norm)});
    return out;
}

void cleaner::drop_sums() {
    std::vector<std::vector<template_spike>> others(fates_.size());
    parallel::parallel_for(fates_.size(), run_, "sums of templates", [&](std::size_t u) {
        const auto unit = static_cast<std::uint32_t>(u);
        if (is_there(unit)) others[u] = others_in(unit);
    });
    for (std::uint32_t u = 0; u < fates_.size(); ++u)
        if (is_there(u)) drop_if_sum(u, std::move(others[u]));
}

// A template that two others explain, with no more spikes than coincide by chance, is the mean of
// their collisions. Those of three are too rare.
void cleaner::drop_if_sum(std::uint32_t unit, std::vector<template_spike> others) {
    std::erase_if(others, [&](const template_spike& each) {
        return !is_there(each.unit) || count(each.unit) < count(unit);
    });
    if (others.size() < 2) return;
    std::ranges::partial_sort(
        others, others.begin() + 2, std::greater{},
        [&](const template_spike& each) { return each.amplitude * norm(each.unit); });
    others.resize(2);
    const double together = pairs_by_chance(others[0].unit, others[1].unit, sum_window_s);
    if (count(unit) > 10 + 4 * together) return;
    const matched_filter& filter = units_.plan.filters[unit];
    channel_block traces{
        .frames = filter.frames, .apron = apron(), .channels = units_.channel_count};
    traces.values.resize(traces.channels * traces.width());
    double energy = 0;
    for (std::size_t c = 0; c < filter.channels.size(); ++c) {
        const std::vector<float> waveform = waveform_of(filter, c, 0);
        for (const float x : waveform) energy += double{x} * x;
        std::ranges::copy(waveform, traces.on(filter.channels[c]).subspan(apron()).begin());
    }
    placed_.subtract(others, traces);
    double left = 0;
    for (const float x : traces.values) left += double{x} * x;
    if (left < most_left_of_sum * energy) drop(unit, "its template is the sum of others");
}

// The energy of the other template that is left after fitting one, at another size, time and
// breadth, to it, on the frames of both.
// @param lag  of the other's spikes
double cleaner::misfit(std::uint32_t unit, std::uint32_t other, std::int64_t lag) const {
    const matched_filter& a = units_.plan.filters[unit];
    const matched_filter& b = units_.plan.filters[other];
    std::vector<std::uint32_t> channels;
    std::ranges::set_union(a.channels, b.channels, std::back_inserter(channels));
    const auto first = std::max<std::int64_t>(lag, 0);
    const auto width = static_cast<std::int64_t>(a.frames) - std::abs(lag);
    const auto rows = static_cast<Eigen::Index>(channels.size()) * width;
    Eigen::MatrixX3d changes(rows, 3);
    Eigen::VectorXd left(rows);
    Eigen::Index row = 0;
    for (const std::uint32_t channel : channels) {
        const std::vector<float> from = waveform_on(a, channel);
        const std::vector<float> to = waveform_on(b, channel);
        for (std::int64_t frame = first; frame < first + width; ++frame, ++row) {
            changes.row(row) =
                Eigen::RowVector3d(changes_at(from, static_cast<std::size_t>(frame)).data());
            left[row] = to[static_cast<std::size_t>(frame - lag)];
        }
    }
    return (left - changes * changes.householderQr().solve(left)).squaredNorm();
}

// Copies are merged unless they fire together, templates that are less alike only if they are seen
// not to.
void cleaner::merge_if_same(std::uint32_t unit, const overlap& row) {
    const std::uint32_t other = row.other;
    const double similarity = similarity_in(row);
    const bool is_copy = difference(unit, row) <= most_difference;
    const double ratio = norm(unit) / norm(other);
    const double off_direction = 1 - similarity * similarity;
    const double size_ratio = std::min(ratio, 1 / ratio);
    const bool has_direction =
        off_direction <= most_off_direction && size_ratio >= least_size_ratio;
    const bool has_burst_direction =
        off_direction <= most_off_burst && size_ratio >= least_burst_ratio;
    if (!is_copy && !has_direction && !has_burst_direction) return;
    // Templates of one neuron may have different peaks as their centres.
    const std::int64_t lag = lag_in(row);
    std::vector<std::int64_t> moved = frames_[other];
    for (std::int64_t& frame : moved) frame -= lag;
    const train_pair trains{frames_[unit], moved, units_.rate_hz, units_.frame_count};
    const lag_range refractory = refractory_lags(trains);
    const auto [found, expected] = pairs_at(trains, refractory);
    const bool is_burst = is_copy && fire_in_bursts(trains);
    const bool is_same =
        (is_copy && (expected < least_telling_pairs ? are_indistinct(unit, other, lag)
                                                    : !fire_independently(found, expected))) ||
        is_burst || (has_direction && (is_one_train(trains, refractory) || take_turns(trains))) ||
        (has_burst_direction && is_one_burst(trains, refractory));
    if (!is_same) return;
    const bool keeps_first = count(unit) >= count(other);
    const std::uint32_t kept = keeps_first ? unit : other;
    const std::uint32_t gone = keeps_first ? other : unit;
    const std::int64_t shift = keeps_first ? -lag : lag;
    for (std::uint32_t u = 0; u < fates_.size(); ++u) {
        if (fates_[u] != gone) continue;
        fates_[u] = kept;
        shifts_[u] += shift;
    }
    decisions_.push_back({.cluster = units_.numbers[gone],
                          .fate = cluster_fate::merged,
                          .other = units_.numbers[kept],
                          .spikes = frames_[gone].size(),
                          .similarity = similarity,
                          .difference = difference(unit, row),
                          .coincidences = static_cast<double>(found),
                          .expected_coincidences = expected,
                          .reason = is_burst ? "both have the same template and fire in one burst"
                                    : is_copy
                                        ? "both have the same template and do not fire together"
                                        : "their templates have one form, and they do not "
                                          "fire together"});
    for (std::int64_t& frame : frames_[gone]) frame += shift;
    std::vector<std::int64_t> both;
    std::ranges::merge(frames_[kept], frames_[gone], std::back_inserter(both));
    frames_[kept] = std::move(both);
    frames_[gone].clear();
}

// One that has taken the spikes of another may have been explained by that.
void cleaner::drop_if_explained(std::uint32_t unit) {
    if (!units_.explained.empty() && units_.explained[unit] != 0 &&
        std::ranges::count(fates_, unit) == 1)
        drop(unit, "other units explain its spikes as well");
}

// Spikes of a unit of another size, or that overlap with those of others, so that its template did
// not find them, are no other unit, unless they fire together with it as another neuron's do.
void cleaner::drop_if_variant(std::uint32_t unit) {
    for (const overlap& row : units_.plan.overlaps.of(unit)) {
        if (!is_there(row.other) || is_late(row.other)) continue;
        if (difference(unit, row) > most_late_difference) continue;
        const train_pair trains{frames_[unit], frames_[row.other], units_.rate_hz,
                                units_.frame_count};
        const pair_counts pairs = pairs_at(trains, refractory_lags(trains));
        if (fire_independently(pairs.found, pairs.expected)) continue;
        drop(unit, "it is a variant of another unit, found late");
        return;
    }
}

// Noise has ever more spikes the smaller they are, so that the threshold cuts them off where most
// are, and no refractory period.
void cleaner::drop_if_cut_off(std::uint32_t unit) {
    if (amplitude_cutoff(amplitudes_[unit]).value_or(0) > most_cut_off &&
        !has_refractory_period(unit))
        drop(unit, "the threshold cuts off most of its spikes, which have no refractory period");
}

// Whether most spikes of a unit are beside those of larger ones: they are what the templates of
// these leave of their spikes.
bool cleaner::is_locked(std::uint32_t unit) const {
    std::vector<std::int64_t> beside;
    for (std::uint32_t other = 0; other < fates_.size(); ++other) {
        if (other == unit || !is_there(other) || norm(other) <= norm(unit)) continue;
        if (share_at_one_lag(frames_[unit], frames_[other], units_.rate_hz) > most_locked)
            return true;
        const auto& channels = units_.plan.filters[other].channels;
        if (std::ranges::any_of(units_.plan.filters[unit].channels, [&](std::uint32_t channel) {
                return std::ranges::binary_search(channels, channel);
            }))
            beside.insert(beside.end(), frames_[other].begin(), frames_[other].end());
    }
    std::ranges::sort(beside);
    return share_beside(frames_[unit], beside, units_.rate_hz) > most_locked;
}

void cleaner::drop_locked() {
    std::vector<char> locked(fates_.size());
    parallel::parallel_for(fates_.size(), run_, "spikes beside others", [&](std::size_t u) {
        const auto unit = static_cast<std::uint32_t>(u);
        locked[u] = static_cast<char>(is_there(unit) && is_locked(unit));
    });
    for (std::uint32_t u = 0; u < fates_.size(); ++u)
        if (locked[u] != 0) drop(u, "its spikes are remainders of the spikes of larger units");
}

}  // namespace

cleaned_units clean_units(const matched_units& units, const execution& run,
                          std::vector<cluster_decision>& decisions) {
    return cleaner(units, run, decisions).clean();
}

}  // namespace spikeweave::templates
