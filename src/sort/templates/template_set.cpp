#include "sort/templates/template_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "io/session_schema.hpp"
#include "sort/files/model_arrays.hpp"
#include "sort/templates/amplitudes.hpp"
#include "sort/templates/misfits.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace templates {
namespace {

using sort::model_reader;
using sort::reals;
using sort::wholes;
using sort::write_array;

constexpr std::int64_t set_version = 2;
constexpr std::int64_t version_without_labels = 1;
// Sizes, in steps, and weights whose products do not overflow; those of a real spike are far below.
constexpr std::int64_t most_size = std::int64_t{1} << 19U;
constexpr std::int64_t most_weight = std::int64_t{1} << 24U;

std::vector<matched_filter> filters_of(std::span<const unit_template> units) {
    std::vector<matched_filter> out;
    std::ranges::transform(units, std::back_inserter(out), filter_of);
    return out;
}

// Reads settings of which no sample makes a value that is not finite.
trace_settings read_settings(const model_reader& file, std::size_t channels) {
    constexpr double most = 1e9;
    const reals numbers = file.read<double>("sections", model_reader::any, -most, most);
    trace_settings out;
    for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
        const band_section section{numbers[i], numbers[i + 1], numbers[i + 2]};
        if (!(section.a2 < 1 && std::abs(section.a1) < 1 + section.a2))
            file.fail("sections", i + 1, section.a1, "a stable section");
        out.sections.push_back(section);
    }
    const wholes referenced = file.read<std::int64_t>("referenced", model_reader::any, 0,
                                                      static_cast<std::int64_t>(channels) - 1);
    for (std::size_t i = 1; i < referenced.size(); ++i)
        if (referenced[i] <= referenced[i - 1])
            file.fail("referenced", i, static_cast<double>(referenced[i]),
                      fmt::format("more than {}", referenced[i - 1]));
    out.referenced.assign(referenced.begin(), referenced.end());
    const reals whitening = file.read<double>("whitening", channels * channels, -most, most);
    out.whitening.assign(whitening.begin(), whitening.end());
    out.noise = file.read<double>("noise", channels, 0, most);
    for (std::size_t c = 0; c < channels; ++c)
        if (out.noise[c] > 0 && out.noise[c] < 1 / most)
            file.fail("noise", c, out.noise[c], "0 or more than that");
    return out;
}

// Reads the filters of units, whose parts have norm 1, so that no sum overflows.
std::vector<matched_filter> read_filters(const model_reader& file, std::size_t channels,
                                         std::size_t frames) {
    constexpr std::int64_t whole = 1 << filter_bits;
    const auto read = [&file](const char* name, std::size_t expected, std::int64_t least,
                              std::int64_t largest) {
        return file.read<std::int64_t>(name, expected, least, largest);
    };
    const wholes norms = read("norms", model_reader::any, 0, most_size);
    const std::size_t units = norms.size();
    const wholes noise = read("filter_noise", units, 1, most_size);
    const wholes ranks = read("ranks", units, 0, most_ranks);
    const wholes reached = read("template_channels", units, 0, static_cast<std::int64_t>(channels));
    const auto sum = [](const wholes& of) {
        return static_cast<std::size_t>(std::accumulate(of.begin(), of.end(), std::int64_t{0}));
    };
    const wholes on = read("channels", sum(reached), 0, static_cast<std::int64_t>(channels) - 1);
    const std::size_t parts = sum(ranks);
    const auto spatial_count = static_cast<std::size_t>(
        std::inner_product(ranks.begin(), ranks.end(), reached.begin(), std::int64_t{0}));
    const wholes spatial = read("spatial", spatial_count, -whole, whole);
    const wholes temporal = read("temporal", parts * frames, -whole, whole);
    std::vector<matched_filter> out(units);
    auto channel = on.begin();
    auto in_space = spatial.begin();
    auto in_time = temporal.begin();
    const auto take = [&file](auto& from, std::size_t count, const char* name, const wholes& all) {
        double energy = 0;
        std::vector<std::int16_t> values;
        for (std::size_t i = 0; i < count; ++i, ++from) {
            values.push_back(static_cast<std::int16_t>(*from));
            energy += static_cast<double>(*from) * static_cast<double>(*from);
        }
        constexpr double most_norm = 1.01;
        if (const double norm = std::sqrt(energy) / whole; norm > most_norm)
            file.fail(name, static_cast<std::size_t>(from - all.begin()) - 1, norm,
                      "a part of norm 1");
        return values;
    };
    for (std::size_t u = 0; u < units; ++u) {
        if (ranks[u] > 0 && reached[u] == 0)
            file.fail("template_channels", u, 0, "a channel, or no ranks");
        matched_filter& filter = out[u];
        filter.ranks = static_cast<std::size_t>(ranks[u]);
        filter.norm = static_cast<std::int32_t>(norms[u]);
        filter.noise = static_cast<std::int32_t>(noise[u]);
        for (std::int64_t c = 0; c < reached[u]; ++c, ++channel) {
            if (c > 0 && *channel <= channel[-1])
                file.fail("channels", static_cast<std::size_t>(channel - on.begin()),
                          static_cast<double>(*channel), fmt::format("more than {}", channel[-1]));
            filter.channels.push_back(static_cast<std::uint32_t>(*channel));
        }
        filter.frames = filter.channels.empty() ? 0 : frames;
        for (std::size_t r = 0; r < filter.ranks; ++r) {
            const auto more = take(in_space, filter.channels.size(), "spatial", spatial);
            filter.spatial.insert(filter.spatial.end(), more.begin(), more.end());
        }
        filter.temporal = take(in_time, filter.ranks * filter.frames, "temporal", temporal);
    }
    return out;
}

void write_plan(io::zip_writer& archive, const match_plan& plan) {
    wholes norms;
    wholes noise;
    wholes ranks;
    wholes reached;
    wholes channels;
    wholes spatial;
    wholes temporal;
    wholes sizes;
    wholes weights;
    wholes misfits;
    const auto append = [](wholes& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    for (const matched_filter& filter : plan.filters) {
        norms.push_back(filter.norm);
        noise.push_back(filter.noise);
        ranks.push_back(static_cast<std::int64_t>(filter.ranks));
        reached.push_back(static_cast<std::int64_t>(filter.channels.size()));
        append(channels, filter.channels);
        append(spatial, filter.spatial);
        append(temporal, filter.temporal);
    }
    for (const match_sizes& each : plan.sizes) {
        append(sizes, std::array{each.least, each.usual, each.most});
        append(weights, std::array{each.weight_below, each.weight_above});
    }
    for (const auto& row : plan.misfits) append(misfits, row);
    write_array(archive, "norms", norms);
    write_array(archive, "filter_noise", noise);
    write_array(archive, "ranks", ranks);
    write_array(archive, "template_channels", reached);
    write_array(archive, "channels", channels);
    write_array(archive, "spatial", spatial);
    write_array(archive, "temporal", temporal);
    write_array(archive, "least_scores", wholes(plan.least_score.begin(), plan.least_score.end()));
    write_array(archive, "sizes", sizes);
    write_array(archive, "size_weights", weights);
    write_array(archive, "misfits", misfits);
}

match_plan read_plan(const model_reader& file, std::size_t channels, std::size_t frames) {
    match_plan plan(read_filters(file, channels, frames), {.fit_together = true}, {});
    const std::size_t units = plan.filters.size();
    const wholes least = file.read<std::int64_t>("least_scores", units, 0, most_size);
    plan.least_score.assign(least.begin(), least.end());
    const wholes sizes = file.read<std::int64_t>("sizes", 3 * units, 0, most_size);
    const wholes weights = file.read<std::int64_t>("size_weights", 2 * units, 0, most_weight);
    for (std::size_t u = 0; u < units; ++u)
        plan.sizes[u] = {.least = static_cast<std::int32_t>(sizes[3 * u]),
                         .usual = static_cast<std::int32_t>(sizes[3 * u + 1]),
                         .most = static_cast<std::int32_t>(sizes[3 * u + 2]),
                         .weight_below = weights[2 * u],
                         .weight_above = weights[2 * u + 1]};
    std::size_t pairs = 0;
    for (const auto& row : plan.misfits) pairs += row.size();
    const wholes misfits = file.read<std::int64_t>("misfits", pairs, 0, 1 << overlap_bits);
    auto share = misfits.begin();
    for (auto& row : plan.misfits)
        for (std::int32_t& each : row) each = static_cast<std::int32_t>(*share++);
    return plan;
}

void write_verdicts(io::zip_writer& archive, const std::vector<unit_verdict>& verdicts) {
    std::vector<std::string> labels;
    std::vector<std::string> reasons;
    for (const unit_verdict& each : verdicts) {
        labels.emplace_back(to_string(each.label));
        reasons.push_back(each.reason);
    }
    sort::write_texts(archive, "label", labels);
    sort::write_texts(archive, "reason", reasons);
}

std::vector<unit_verdict> read_verdicts(const model_reader& file, std::size_t units) {
    const std::vector<std::string> labels = file.read_texts("label", units);
    std::vector<std::string> reasons = file.read_texts("reason", units);
    const std::vector<std::string> known = names_of<unit_label>();
    std::vector<unit_verdict> out;
    for (std::size_t u = 0; u < units; ++u) {
        if (std::ranges::count(known, labels[u]) == 0)
            file.fail("label", u, io::shown(labels[u]), fmt::format("{}", fmt::join(known, ", ")));
        out.push_back({value_named<unit_label>(labels[u]), std::move(reasons[u])});
    }
    return out;
}

// What is expected of the spikes of each unit is measured.
match_plan measured_plan(const template_traces& traces, const std::vector<matched_filter>& filters,
                         const match_rule& measuring, const match_rule& rule,
                         const execution& run) {
    std::vector<std::uint32_t> numbers(filters.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    const match_plan first(filters, measuring, run);
    const template_matches found = match_templates(traces, first, run);
    match_plan plan(filters, rule, run);
    learned_amplitudes(filters, found.spikes, numbers, rule).apply_to(plan, numbers);
    measured_misfits(first, found.left_over, numbers).apply_to(plan, numbers);
    return plan;
}

// The overlaps of a unit with later ones follow those with earlier ones.
void keep_known(const match_plan& known, match_plan& plan) {
    std::ranges::copy(known.least_score, plan.least_score.begin());
    std::ranges::copy(known.sizes, plan.sizes.begin());
    for (std::size_t u = 0; u < known.misfits.size(); ++u)
        std::ranges::copy(known.misfits[u], plan.misfits[u].begin());
}

}  // namespace

template_set learn_set(const recording& from, const learned_from& units,
                       const detection_options& detection, const match_rule& measuring,
                       const match_rule& rule, std::uint64_t kept_bytes, const execution& run) {
    preprocessing_options how = detection.preprocessing;
    const feature_basis& basis = *detection.basis;
    how.whiten = how.causal = true;
    execution on_cpu = run;
    on_cpu.devices.clear();
    const filtered_recording filtered(from, how, on_cpu);
    const template_traces traces(filtered, units.window, kept_bytes, on_cpu);
    // The spikes of others are in the first mean, not in the second.
    std::vector<unit_template> means;
    std::vector<matched_filter> filters;
    for (int round = 0; round < 2; ++round) {
        means = average_templates(traces, units.spikes, units.places, filters, on_cpu);
        filters = filters_of(means);
    }
    measure_noise(traces, filters, false, on_cpu);
    std::vector<std::uint32_t> peaks;
    for (const unit_template& mean : means) peaks.push_back(mean.peak_channel);
    return template_set(std::make_shared<const template_set::parts>(
        template_set::parts{.basis = basis,
                            .traces = settings_of(filtered),
                            .window = units.window,
                            .peak_channels = std::move(peaks),
                            .plan = measured_plan(traces, filters, measuring, rule, on_cpu)}));
}

template_set extended_set(const template_set& set, const recording& from, const learned_from& units,
                          const std::shared_ptr<const probe_motion>& moved,
                          const match_rule& measuring, const match_rule& rule,
                          std::uint64_t kept_bytes, const execution& run) {
    template_set::parts out = set.internals();
    const std::size_t known = set.unit_count();
    const template_traces traces(filtered_recording(from, out.traces, moved), out.window,
                                 kept_bytes, run);
    std::vector<matched_filter> filters = out.plan.filters;
    filters.resize(units.places.size());
    // The spikes of other new units are in the first mean, not in the second.
    std::vector<unit_template> means;
    for (int round = 0; round < 2; ++round) {
        means = average_templates(traces, units.spikes, units.places, filters, run);
        for (std::size_t u = known; u < means.size(); ++u) filters[u] = filter_of(means[u]);
    }
    measure_noise(traces, std::span{filters}.subspan(known), moved != nullptr, run);
    out.plan = measured_plan(traces, filters, measuring, rule, run);
    keep_known(set.internals().plan, out.plan);
    for (std::size_t u = known; u < means.size(); ++u)
        out.peak_channels.push_back(means[u].peak_channel);
    out.verdicts.clear();
    return template_set(std::make_shared<const template_set::parts>(std::move(out)));
}

void write_into(io::zip_writer& archive, const template_set& set) {
    const template_set::parts& what = set.internals();
    if (set.unit_count() == 0) throw invalid_argument("there are no templates to write");
    write_array<std::int64_t>(archive, "templates_version",
                              {what.verdicts.empty() ? version_without_labels : set_version});
    sort::write_basis(archive, what.basis);
    write_array<std::int64_t>(archive, "window", {what.window.before, what.window.after});
    reals sections;
    for (const band_section& section : what.traces.sections)
        sections.insert(sections.end(), {section.gain, section.a1, section.a2});
    write_array(archive, "sections", sections);
    const auto& referenced = what.traces.referenced;
    write_array(archive, "referenced", wholes(referenced.begin(), referenced.end()));
    write_array(archive, "whitening", what.traces.whitening);
    write_array(archive, "noise", what.traces.noise);
    write_array(archive, "peak_channels",
                wholes(what.peak_channels.begin(), what.peak_channels.end()));
    write_plan(archive, what.plan);
    if (!what.verdicts.empty()) write_verdicts(archive, what.verdicts);
}

}  // namespace templates

template_set::template_set()
    : template_set(std::make_shared<const parts>(parts{.plan = {{}, {}, {}}})) {}
template_set::template_set(std::shared_ptr<const parts> what) : parts_(std::move(what)) {}

std::size_t template_set::unit_count() const {
    return parts_->peak_channels.size();
}
const std::vector<std::uint32_t>& template_set::peak_channels() const {
    return parts_->peak_channels;
}
const feature_basis& template_set::basis() const {
    return parts_->basis;
}
const std::vector<unit_verdict>& template_set::verdicts() const {
    return parts_->verdicts;
}

template_set template_set::with_verdicts(std::vector<unit_verdict> of_units) const {
    if (of_units.size() != unit_count())
        throw invalid_argument(
            fmt::format("{} labels of {} templates", of_units.size(), unit_count()));
    parts out = *parts_;
    out.verdicts = std::move(of_units);
    return template_set(std::make_shared<const parts>(std::move(out)));
}

std::string archive_of(const template_set& set) {
    std::string out;
    io::zip_writer archive(&out);
    templates::write_into(archive, set);
    archive.finish();
    return out;
}

template_set read_templates(const std::filesystem::path& path) {
    std::optional<std::string> in_session = io::templates_of_session(path);
    const sort::model_reader file =
        in_session ? sort::model_reader(path, std::move(*in_session)) : sort::model_reader(path);
    const sort::wholes version = file.read<std::int64_t>(
        "templates_version", 1, templates::version_without_labels, templates::set_version);
    feature_basis basis = sort::read_basis(file);
    const std::size_t channels = basis.contacts.size();
    constexpr std::int64_t most_frames = 1 << 12;
    const sort::wholes frames = file.read<std::int64_t>("window", 2, 2, most_frames);
    const templates::template_window window{frames[0], frames[1]};
    template_set::parts parts{.basis = std::move(basis),
                              .traces = templates::read_settings(file, channels),
                              .window = window,
                              .plan = templates::read_plan(file, channels, window.size())};
    const sort::wholes peaks = file.read<std::int64_t>("peak_channels", parts.plan.filters.size(),
                                                       0, static_cast<std::int64_t>(channels) - 1);
    parts.peak_channels.assign(peaks.begin(), peaks.end());
    if (version[0] != templates::version_without_labels)
        parts.verdicts = templates::read_verdicts(file, peaks.size());
    return template_set(std::make_shared<const template_set::parts>(std::move(parts)));
}

}  // namespace spikeweave
