#include "spikeweave/sort/templates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sort/templates/amplitudes.hpp"
#include "sort/templates/clean_units.hpp"
#include "sort/templates/cluster_points.hpp"
#include "sort/templates/explained_units.hpp"
#include "sort/templates/misfits.hpp"
#include "sort/templates/mixed_units.hpp"
#include "sort/templates/refine_clusters.hpp"
#include "sort/templates/residual_units.hpp"
#include "sort/templates/template_set.hpp"
#include "sort/templates/template_traces.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using templates::are_unexplained;
using templates::average_templates;
using templates::clean_units;
using templates::cleaned_units;
using templates::cluster_points;
using templates::extended_set;
using templates::filter_of;
using templates::find_explained_units;
using templates::find_mixed_units;
using templates::find_residual_units;
using templates::learn_set;
using templates::learned_amplitudes;
using templates::match_plan;
using templates::match_rule;
using templates::match_templates;
using templates::matched_filter;
using templates::measure_noise;
using templates::measured_misfits;
using templates::mixed_unit;
using templates::no_unit;
using templates::refine_clusters;
using templates::residual_traces;
using templates::residual_unit;
using templates::spike_cluster;
using templates::template_matches;
using templates::template_place;
using templates::template_places;
using templates::template_traces;
using templates::template_window;
using templates::unit_template;

namespace {

// Templates are averaged again, and spikes found again, this many times.
constexpr int matching_rounds = 3;
// In this one units are tested that others may explain. Late ones are new there, and the last round
// finds the spikes of those that go.
constexpr int testing_round = 1;
// The chance of a spike at any place: 5 spikes a second, at places 0.3 ms apart.
constexpr double usual_spike_share = 0.0015;
constexpr double template_before_s = 0.001;
constexpr double template_after_s = 0.002;

void check(const spike_features& features, std::size_t features_per_channel,
           const sorting& clusters, const detection_options& detection,
           const template_options& options) {
    check_options(options);
    if (!(options.least_amplitude < options.most_amplitude))
        throw invalid_argument("most_amplitude",
                               fmt::format("expected more than the {} of `least_amplitude`, "
                                           "found {}",
                                           options.least_amplitude, options.most_amplitude));
    if (options.learns_set && (!detection.basis || detection.basis->whiten))
        throw invalid_argument("save_templates",
                               "needs the components of the detection, without `whiten`");
    if (const auto& moved = detection.preprocessing.moved;
        options.learns_set && moved && !moved->empty())
        throw invalid_argument("save_templates",
                               "the tissue moves, and templates are of contacts that stay: sort "
                               "with `drift` none, or a part of the recording without motion");
    if (features.size() != clusters.labels.size() ||
        clusters.labels.size() != clusters.samples.size())
        throw invalid_argument(fmt::format("{} spikes with {} labels and {} times", features.size(),
                                           clusters.labels.size(), clusters.samples.size()));
    if (features_per_channel == 0 || features.feature_count() % features_per_channel != 0)
        throw invalid_argument(fmt::format("{} features of {} for each channel",
                                           features.feature_count(), features_per_channel));
}

match_rule rule_of(const template_options& options, bool is_last) {
    return {.threshold = options.match_threshold,
            .least_amplitude = options.least_amplitude,
            .most_amplitude = options.most_amplitude,
            .fit_together = is_last,
            .spike_share = is_last ? usual_spike_share : 0,
            .measures_left_over = !is_last};
}

template <class Value>
std::vector<Value> picked(std::vector<Value> from, const std::vector<std::uint32_t>& which) {
    std::vector<Value> out;
    out.reserve(which.size());
    for (const std::uint32_t i : which) out.push_back(std::move(from[i]));
    return out;
}

// The distance of the largest value of a template, of either sign, from its spike's time; 0 if
// values as large are near.
std::int64_t off_centre(const unit_template& of, const template_window& window, double rate_hz) {
    constexpr double near_s = 0.00015;
    constexpr double far_s = 0.001;
    constexpr float as_large = 0.8F;
    const std::int64_t near = std::llround(near_s * rate_hz);
    const std::int64_t far = std::min<std::int64_t>(std::llround(far_s * rate_hz), window.before);
    float largest = 0;
    float largest_near = 0;
    std::int64_t at = 0;
    for (std::size_t c = 0; c < of.channels.size(); ++c)
        for (std::int64_t lag = -far; lag <= far; ++lag) {
            const float height = std::abs(of.on(c)[static_cast<std::size_t>(window.before + lag)]);
            if (height > largest) at = lag;
            largest = std::max(largest, height);
            if (std::abs(lag) <= near) largest_near = std::max(largest_near, height);
        }
    return largest_near < as_large * largest ? at : 0;
}

void move_earlier(unit_template& what, std::int64_t shift) {
    if (shift == 0) return;
    const auto frames = static_cast<std::int64_t>(what.frames());
    std::vector<float> moved(what.values.size());
    for (std::size_t c = 0; c < what.channels.size(); ++c)
        for (std::int64_t f = std::max<std::int64_t>(0, -shift);
             f < std::min(frames, frames - shift); ++f)
            moved[c * static_cast<std::size_t>(frames) + static_cast<std::size_t>(f)] =
                what.on(c)[static_cast<std::size_t>(f + shift)];
    what.values = std::move(moved);
}

// Units while their spikes are matched again and again.
class template_search {
public:
    template_search(const recording& from, const sorting& clusters,
                    const detection_options& detection, const template_options& options,
                    const execution& run)
        : clusters_(clusters),
          detection_(detection),
          options_(options),
          run_(run),
          traces_(filtered_recording(from, whitened(detection.preprocessing), run),
                  window_at(from.rate_hz()), options.kept_traces_bytes, run) {}

    template_sorting find(const spike_features& features, std::size_t features_per_channel) {
        const cluster_points points(features, features_per_channel);
        begin(points);
        for (int round = 0; round < matching_rounds; ++round) {
            match(round);
            if (round == 0) add_residual_units();
            if (round + 1 == matching_rounds) break;
            divide_mixed_units();
            average();
        }
        return finish();
    }

private:
    static preprocessing_options whitened(preprocessing_options options) {
        options.whiten = true;
        return options;
    }
    static template_window window_at(double rate_hz) {
        return {std::llround(template_before_s * rate_hz),
                std::llround(template_after_s * rate_hz)};
    }
    void begin(const cluster_points& points);
    void match(int round);
    void keep(const cleaned_units& cleaned);
    std::uint32_t next_number() const;
    void add_residual_units();
    void divide_mixed_units();
    void average();
    void centre();
    template_sorting finish();

    const sorting& clusters_;
    const detection_options& detection_;
    const template_options& options_;
    const execution& run_;
    template_traces traces_;
    std::vector<std::uint32_t> numbers_{};  // of the units, in the table of decisions
    // Where units were found that the first clusters did not have.
    std::vector<std::optional<residual_traces>> found_late_{};
    std::vector<template_place> places_{};
    std::vector<unit_template> templates_{};
    std::vector<matched_filter> filters_{};
    std::vector<std::uint64_t> counts_{};
    std::vector<template_spike> spikes_{};
    measured_misfits misfits_{};       // by the round before
    learned_amplitudes amplitudes_{};  // likewise
    std::vector<cluster_decision> decisions_{};
};

void template_search::begin(const cluster_points& points) {
    std::vector<spike_cluster> clusters(clusters_.unit_count);
    for (std::uint32_t u = 0; u < clusters_.unit_count; ++u) clusters[u].number = u + 1;
    for (std::uint32_t n = 0; n < clusters_.labels.size(); ++n)
        if (clusters_.labels[n] > 0) clusters[clusters_.labels[n] - 1].spikes.push_back(n);
    std::erase_if(clusters, [](const spike_cluster& each) { return each.spikes.empty(); });
    if (options_.merge == unit_merges::automatic)
        clusters = refine_clusters(
            std::move(clusters), points,
            {.of = clusters_.samples,
             .rate_hz = traces_.source().rate_hz(),
             .recording_frames = static_cast<double>(traces_.source().frame_count())},
            run_, decisions_);

    std::vector<std::uint32_t> peaks;
    for (const spike_cluster& cluster : clusters) {
        const auto unit = static_cast<std::uint32_t>(numbers_.size());
        numbers_.push_back(cluster.number);
        counts_.push_back(cluster.spikes.size());
        peaks.push_back(points.largest_channels(cluster.spikes, 1).front());
        for (const std::uint32_t n : cluster.spikes)
            spikes_.push_back({.frame = clusters_.samples[n],
                               .fraction = clusters_.fractions.empty() ? 0 : clusters_.fractions[n],
                               .unit = unit});
    }
    std::ranges::sort(spikes_, {}, [](const template_spike& spike) {
        return std::pair{spike.frame, spike.unit};
    });
    found_late_.resize(numbers_.size());
    places_ = template_places(traces_.source(), peaks);
    templates_ = average_templates(traces_, spikes_, places_, {}, run_);
    std::ranges::transform(templates_, std::back_inserter(filters_), filter_of);
}

void template_search::match(int round) {
    const bool is_last = round + 1 == matching_rounds;
    const auto& moved = detection_.preprocessing.moved;
    measure_noise(traces_, filters_, moved && !moved->empty(), run_);
    const match_rule rule = rule_of(options_, is_last);
    match_plan plan(filters_, rule, run_);
    amplitudes_.apply_to(plan, numbers_);
    if (is_last) misfits_.apply_to(plan, numbers_);
    template_matches found = match_templates(traces_, plan, run_);
    misfits_ = {plan, found.left_over, numbers_};
    spikes_ = std::move(found.spikes);
    const std::vector<std::uint64_t> before = std::exchange(counts_, {});
    counts_.resize(filters_.size());
    for (const template_spike& spike : spikes_) ++counts_[spike.unit];
    std::vector<char> explained;
    if (options_.merge == unit_merges::automatic && round == testing_round) {
        plan.rule.fit_together = true;
        explained = find_explained_units(
            traces_, plan,
            {.spikes = spikes_, .found_late = found_late_, .least_spikes = options_.least_spikes},
            run_);
        plan.rule.fit_together = false;
    }
    const cleaned_units cleaned =
        clean_units({.plan = plan,
                     .window = traces_.window(),
                     .spikes = spikes_,
                     .before = before,
                     .numbers = numbers_,
                     .found_late = found_late_,
                     .explained = explained,
                     .channel_count = traces_.source().channel_count(),
                     .frame_count = static_cast<double>(traces_.source().frame_count()),
                     .rate_hz = traces_.source().rate_hz(),
                     .least_spikes = options_.least_spikes,
                     .detected_size = detection_.strong_threshold,
                     .is_last = is_last,
                     .merge = options_.merge == unit_merges::automatic},
                    run_, decisions_);
    keep(cleaned);
    amplitudes_ = {filters_, spikes_, numbers_, rule};
}

// A unit that is gone takes its template with it: the next round finds its spikes by those that are
// left.
void template_search::keep(const cleaned_units& cleaned) {
    std::erase_if(
        spikes_, [&](const template_spike& spike) { return cleaned.fates[spike.unit] == no_unit; });
    std::vector<std::uint32_t> index(cleaned.fates.size(), no_unit);
    std::vector<std::uint32_t> kept;
    for (std::uint32_t u = 0; u < cleaned.fates.size(); ++u) {
        if (cleaned.fates[u] != u) continue;
        index[u] = static_cast<std::uint32_t>(kept.size());
        kept.push_back(u);
    }
    const auto end = static_cast<std::int64_t>(traces_.source().frame_count());
    for (template_spike& spike : spikes_) {
        spike.frame =
            std::clamp<std::int64_t>(spike.frame + cleaned.shifts[spike.unit], 0, end - 1);
        const std::uint32_t fate = cleaned.fates[spike.unit];
        if (fate != spike.unit)
            spike.amplitude *= static_cast<float>(filters_[spike.unit].norm) /
                               static_cast<float>(filters_[fate].norm);
        spike.unit = index[fate];
    }
    std::ranges::sort(spikes_, {}, [](const template_spike& spike) {
        return std::pair{spike.frame, spike.unit};
    });
    numbers_ = picked(std::move(numbers_), kept);
    found_late_ = picked(std::move(found_late_), kept);
    places_ = picked(std::move(places_), kept);
    templates_ = picked(std::move(templates_), kept);
    filters_ = picked(std::move(filters_), kept);
    counts_ = picked(std::move(counts_), kept);
}

// The first that the table of decisions does not have.
std::uint32_t template_search::next_number() const {
    std::uint32_t largest = 0;
    for (const cluster_decision& each : decisions_)
        largest = std::max({largest, each.cluster, each.other});
    for (const std::uint32_t number : numbers_) largest = std::max(largest, number);
    return largest + 1;
}

// Spikes that no template explains belong to units that the first clusters lacked, or for which
// they had too few spikes.
void template_search::add_residual_units() {
    if (options_.merge == unit_merges::none) return;
    std::vector<residual_unit> found;
    for (const residual_traces where : {residual_traces::channels, residual_traces::pooled}) {
        std::uint32_t first = next_number();
        for (const residual_unit& each : found) first = std::max(first, each.number + 1);
        find_residual_units(traces_, {.spikes = spikes_, .filters = filters_},
                            {.where = where,
                             .detection = detection_,
                             .least_spikes = options_.least_spikes,
                             .first_number = first},
                            run_, found, decisions_);
    }
    std::vector<std::uint32_t> peaks;
    for (const residual_unit& each : found) {
        const auto unit = static_cast<std::uint32_t>(numbers_.size());
        numbers_.push_back(each.number);
        found_late_.emplace_back(each.where);
        counts_.push_back(each.frames.size());
        peaks.push_back(each.peak_channel);
        for (std::size_t n = 0; n < each.frames.size(); ++n)
            spikes_.push_back(
                {.frame = each.frames[n], .fraction = each.fractions[n], .unit = unit});
    }
    std::ranges::sort(spikes_, {}, [](const template_spike& spike) {
        return std::pair{spike.frame, spike.unit};
    });
    std::ranges::move(template_places(traces_.source(), peaks), std::back_inserter(places_));
    filters_.resize(numbers_.size());
    templates_.resize(numbers_.size());
}

// Spikes that were not examined are left out until the next round finds them by the two templates.
void template_search::divide_mixed_units() {
    if (options_.merge == unit_merges::none) return;
    for (const mixed_unit& mixed : find_mixed_units(traces_, spikes_, filters_, run_)) {
        const std::uint32_t first = mixed.unit;
        const auto second = static_cast<std::uint32_t>(numbers_.size());
        const std::uint64_t all = counts_[first];
        const std::size_t examined = mixed.spikes[0].size() + mixed.spikes[1].size();
        decisions_.push_back({.cluster = numbers_[first],
                              .fate = cluster_fate::split,
                              .other = next_number(),
                              .spikes = all,
                              .distance = mixed.distance,
                              .reason = "its spikes are those of two neurons that fire together"});
        numbers_.push_back(decisions_.back().other);
        found_late_.push_back(found_late_[first]);
        places_.push_back(places_[first]);
        templates_.push_back(templates_[first]);
        filters_.push_back(filters_[first]);
        counts_.push_back(all * mixed.spikes[1].size() / examined);
        counts_[first] -= counts_.back();
        for (template_spike& spike : spikes_)
            if (spike.unit == first) spike.unit = no_unit;
        for (const std::uint32_t n : mixed.spikes[0]) spikes_[n].unit = first;
        for (const std::uint32_t n : mixed.spikes[1]) spikes_[n].unit = second;
    }
    std::erase_if(spikes_, [](const template_spike& spike) { return spike.unit == no_unit; });
}

void template_search::average() {
    templates_ = average_templates(traces_, spikes_, places_, filters_, run_);
    centre();
}

// A cluster may have other spikes' times: its template then has its trough, or peak, elsewhere.
// Values that enter the window by the move are 0 until the template is averaged again.
void template_search::centre() {
    std::vector<std::int64_t> shifts;
    for (unit_template& each : templates_) {
        shifts.push_back(off_centre(each, traces_.window(), traces_.source().rate_hz()));
        move_earlier(each, shifts.back());
    }
    std::ranges::transform(templates_, filters_.begin(), filter_of);
    if (std::ranges::count(shifts, 0) == std::ssize(shifts)) return;
    const auto end = static_cast<std::int64_t>(traces_.source().frame_count());
    for (template_spike& spike : spikes_)
        spike.frame = std::clamp<std::int64_t>(spike.frame + shifts[spike.unit], 0, end - 1);
    std::ranges::sort(spikes_, {}, [](const template_spike& spike) {
        return std::pair{spike.frame, spike.unit};
    });
}

template_sorting template_search::finish() {
    template_sorting out{.sorted = {.unit_count = static_cast<std::uint32_t>(numbers_.size()),
                                    .sample_rate = clusters_.sample_rate,
                                    .sample_count = clusters_.sample_count,
                                    .begin = clusters_.begin},
                         .decisions = std::move(decisions_)};
    for (const template_spike& spike : spikes_) {
        out.sorted.labels.push_back(spike.unit + 1);
        out.sorted.samples.push_back(spike.frame);
        out.sorted.fractions.push_back(spike.fraction);
        out.amplitudes.push_back(spike.amplitude);
    }
    std::vector<std::uint64_t> counts(numbers_.size());
    for (const template_spike& spike : spikes_) ++counts[spike.unit];
    for (std::uint32_t u = 0; u < numbers_.size(); ++u) {
        out.peak_channels.push_back(templates_[u].peak_channel);
        out.decisions.push_back({.cluster = numbers_[u],
                                 .fate = cluster_fate::kept,
                                 .other = u + 1,
                                 .spikes = counts[u],
                                 .reason = "a unit"});
    }
    if (options_.learns_set && !numbers_.empty())
        out.learned = learn_set(traces_.source(),
                                {.spikes = spikes_, .places = places_, .window = traces_.window()},
                                detection_, rule_of(options_, false), rule_of(options_, true),
                                options_.kept_traces_bytes, run_);
    return out;
}

}  // namespace

template <>
enum_table<sort_stages> enum_names<sort_stages>() {
    using enum sort_stages;
    static constexpr named_value<sort_stages> values[]{{cluster, "cluster"},
                                                       {templates, "templates"}};
    return {"stage of sorting", values};
}

template <>
enum_table<unit_merges> enum_names<unit_merges>() {
    using enum unit_merges;
    static constexpr named_value<unit_merges> values[]{{none, "none"}, {automatic, "auto"}};
    return {"rule for merging", values};
}

std::string_view to_string(cluster_fate fate) {
    switch (fate) {
        case cluster_fate::kept:
            return "kept";
        case cluster_fate::split:
            return "split";
        case cluster_fate::merged:
            return "merged";
        case cluster_fate::dropped:
            return "dropped";
    }
    return "";
}

template_sorting sort_by_templates(const recording& from, const spike_features& features,
                                   std::size_t features_per_channel, const sorting& clusters,
                                   const detection_options& detection,
                                   const template_options& options, const execution& run) {
    check(features, features_per_channel, clusters, detection, options);
    return template_search(from, clusters, detection, options, run)
        .find(features, features_per_channel);
}

template_set with_new_units(const template_set& set, const recording& from,
                            const template_sorting& found,
                            std::span<const unexplained_detection> unexplained,
                            const std::shared_ptr<const probe_motion>& moved,
                            const template_options& options, const execution& run) {
    const std::vector<bool> left_out = are_unexplained(found, set.internals(), unexplained);
    std::vector<template_spike> spikes;
    for (std::size_t n = 0; n < found.sorted.labels.size(); ++n)
        if (!left_out[n])
            spikes.push_back({.frame = found.sorted.samples[n],
                              .fraction = found.sorted.fractions[n],
                              .unit = found.sorted.labels[n] - 1,
                              .amplitude = found.amplitudes[n]});
    const std::vector<template_place> places = template_places(from, found.peak_channels);
    return extended_set(set, from, {.spikes = spikes, .places = places}, moved,
                        rule_of(options, false), rule_of(options, true), options.kept_traces_bytes,
                        run);
}

}  // namespace spikeweave
