#include "spikes/files/unit_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "io/file_error.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/time_scale.hpp"

namespace spikeweave {

std::span<const std::string_view> label_columns() {
    static constexpr std::array<std::string_view, 10> names{
        "quality",   "label",           "KSLabel",       "ks_label", "ks2_label",
        "ks4_label", "kilosort2_label", "cluster_group", "group",    "unit_quality"};
    return names;
}

namespace spikes {
namespace {

constexpr std::string_view numbered = "the units are numbered from 0";

bool all_different(const std::vector<std::string>& names) {
    return std::set<std::string_view>(names.begin(), names.end()).size() == names.size();
}

// Columns of these names have other texts in some files, such as areas of the brain.
bool has_known_label(const std::vector<std::string>& texts) {
    return std::ranges::any_of(texts, [](std::string text) {
        std::ranges::transform(text, text.begin(), [](unsigned char c) {
            return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        });
        return text == "good" || text == "mua" || text == "noise" || text == "unsorted";
    });
}

void check_lengths(const listed_units& units, const reading& job) {
    const std::size_t count = units.ends.size();
    const auto check = [&](std::size_t found, std::string_view what) {
        if (found != 0 && found != count)
            throw io::file_error(
                job.path,
                fmt::format("found {} {} of {} units, expected equal numbers", found, what, count));
    };
    check(units.names.size(), "names");
    check(units.ids.size(), "ids");
    check(units.snr.size(), "signal-to-noise ratios");
    check(units.places.size(), "places");
    for (const auto& [name, texts] : units.columns) check(texts.size(), "texts of " + name);
    std::uint64_t last = 0;
    for (std::size_t u = 0; u < count; ++u) {
        if (units.ends[u] < last || units.ends[u] > units.times_s.size())
            throw io::file_error(job.path, fmt::format("unit {}", u + 1),
                                 fmt::format("found {} as the end of its spikes, expected {} to {}",
                                             units.ends[u], last, units.times_s.size()));
        last = units.ends[u];
    }
    if (last != units.times_s.size())
        throw io::file_error(job.path, fmt::format("found {} spikes of units, expected all {}",
                                                   last, units.times_s.size()));
}

void append_spikes(const listed_units& units, const std::vector<std::string>& names,
                   spike_sequence_builder& builder, const reading& job) {
    std::size_t i = 0;
    for (std::size_t u = 0; u < names.size(); ++u) {
        const unit_id unit = builder.unit(names[u]);
        for (const std::size_t begin = i; i < units.ends[u]; ++i) {
            const auto us = time_scale::seconds().from_real(units.times_s[i]);
            if (!us || (*us < 0 && !job.how.allow_negative))
                throw io::file_error(
                    job.path, fmt::format("unit {}, spike {}", names[u], i - begin + 1),
                    us ? found_before_zero(fmt::format("{}", units.times_s[i]))
                       : fmt::format("found {}, expected a time in seconds", units.times_s[i]));
            builder.append(*us, unit);
        }
    }
}

}  // namespace

std::string why_no_names(const std::vector<std::string>& names) {
    if (!all_different(names)) return "has names that repeat";
    if (!std::all_of(names.begin(), names.end(), io::is_printable_utf8))
        return "has names that are empty or do not print";
    return {};
}

std::vector<std::string> names_of_rows(const std::vector<std::string>& names,
                                       const std::vector<std::string>& ids, std::size_t count,
                                       std::vector<std::string>& warnings) {
    if (!names.empty()) {
        const std::string problem = why_no_names(names);
        if (problem.empty()) return names;
        warnings.push_back(
            fmt::format("The column unit_name {}: {}.", problem,
                        ids.empty() ? numbered : "the units are called by their ids instead"));
    }
    if (!ids.empty()) {
        if (why_no_names(ids).empty()) return ids;
        warnings.push_back(fmt::format(
            "The ids of the units repeat, as those of several probes in one table do: {}.",
            numbered));
    } else if (names.empty() && count > 0) {
        warnings.push_back(fmt::format("The table of units has no ids: {}.", numbered));
    }
    std::vector<std::string> out;
    for (std::size_t u = 0; u < count; ++u) out.push_back(std::to_string(u));
    return out;
}

std::vector<std::string> labels_in(const std::map<std::string, std::vector<std::string>>& columns) {
    for (const std::string_view name : label_columns()) {
        const auto found = columns.find(std::string(name));
        if (found == columns.end() || found->second.empty()) continue;
        if (name == label_columns().front() || has_known_label(found->second)) return found->second;
    }
    return {};
}

std::vector<doubtful_pair> doubtful_pairs_in(
    const std::map<std::string, std::vector<std::string>>& columns,
    std::span<const std::string> rows) {
    std::vector<doubtful_pair> out;
    for (const unit_doubt why : unit_doubts) {
        const auto cells = columns.find(std::string(column_of(why)));
        if (cells == columns.end()) continue;
        std::ranges::move(pairs_in(cells->second, rows, why), std::back_inserter(out));
    }
    return out;
}

std::vector<std::string> columns_of_texts() {
    std::vector<std::string> out(label_columns().begin(), label_columns().end());
    for (const unit_doubt why : unit_doubts) out.emplace_back(column_of(why));
    return out;
}

std::optional<time_span> span_of_intervals(std::span<const double> ends,
                                           std::vector<std::string>& warnings,
                                           const std::function<void(const std::string&)>& fail) {
    std::optional<time_span> span;
    std::set<std::int64_t> starts;
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
        const auto begin = time_scale::seconds().from_real(ends[i]);
        const auto end = time_scale::seconds().from_real(ends[i + 1]);
        if (!begin || !end || *end < *begin) {
            fail(fmt::format("row {}: found {} to {}, expected seconds", i / 2, ends[i],
                             ends[i + 1]));
            continue;
        }
        starts.insert(*begin);
        if (!span) span = {duration{*begin}, duration{*end}};
        span->begin = std::min(span->begin, duration{*begin});
        span->end = std::max(span->end, duration{*end});
    }
    if (starts.size() > 1)
        warnings.push_back(
            fmt::format("The observed span consists of {} intervals or differs between units; it "
                        "is treated as one from {} to {}.",
                        starts.size(), format_duration(span->begin), format_duration(span->end)));
    return span;
}

spike_file read_listed(const listed_units& units, const reading& job,
                       std::vector<std::string>* names_of_list) {
    check_lengths(units, job);
    spike_file file;
    file.warnings = units.warnings;
    const std::vector<std::string> names =
        names_of_rows(units.names, units.ids, units.ends.size(), file.warnings);
    spike_sequence_builder builder;
    append_spikes(units, names, builder, job);
    const auto span =
        span_of_intervals(units.observed_s, file.warnings, [&](const std::string& problem) {
            throw io::file_error(job.path, "observed intervals", problem);
        });
    if (units.are_32_bit && !units.times_s.empty()) {
        std::string warning =
            warning_of_32_bits(std::ranges::max(units.times_s), time_scale::seconds());
        if (!warning.empty()) file.warnings.push_back(std::move(warning));
    }
    finish(file, builder, job, span ? &*span : nullptr);
    file.out_of_order = builder.order().out_of_order_in_units();
    const auto& order = file.spikes.unit_names();
    file.snr = in_order_of_units(units.snr, names, order);
    unit_places places;
    for (std::size_t u = 0; u < units.places.size(); ++u)
        if (std::isfinite(units.places[u].x_um) && std::isfinite(units.places[u].y_um))
            places[names[u]] = units.places[u];
    file.spikes.set_places(std::move(places));
    file.labels = in_order_of_units(labels_in(units.columns), names, order);
    file.spikes.set_doubtful_pairs(doubtful_pairs_in(units.columns, names));
    file.are_clusters = units.are_clusters;
    if (names_of_list != nullptr) *names_of_list = names;
    return file;
}

}  // namespace spikes
}  // namespace spikeweave
