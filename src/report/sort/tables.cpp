#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>

#include "report/sort/parts.hpp"
#include "report/text.hpp"

namespace spikeweave::report {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

std::string cell(const std::optional<double>& value) {
    return value ? number_text(*value) : std::string();
}
std::string cell(std::uint64_t value) {
    return fmt::format("{}", value);
}
std::string cell(cluster_fate value) {
    return std::string(to_string(value));
}
std::string cell(const std::string& value) {
    return value;
}

}  // namespace

std::string units_tsv(const sorting_report& report) {
    std::string text =
        "unit\tclu_label\tspikes\tunmasked_features\tpeak_feature\trate_hz\tquality_features\t"
        "l_ratio\tisolation_distance\trefractory_violations\tcontamination\tsnr\tpresence_ratio\t"
        "firing_range\tamplitude_median\tamplitude_cv\tamplitude_cutoff\tseparation\t"
        "peak_channel\tlabel\treason\n";
    for (std::size_t u = 0; u < report.units.size(); ++u) {
        const sorted_unit& unit = report.units[u];
        if (unit.spikes == 0) continue;
        const unit_quality& quality = unit.quality;
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                       u + 1, u + report.first_label, unit.spikes, number_text(unit.unmasked),
                       unit.peak_feature, cell(quality.rate_hz), quality.features,
                       cell(quality.l_ratio), cell(quality.isolation_distance),
                       cell(quality.refractory_violations), cell(quality.contamination),
                       cell(quality.snr));
        fmt::format_to(std::back_inserter(text), "\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                       cell(quality.presence_ratio), cell(quality.firing_range),
                       cell(quality.amplitude_median), cell(quality.amplitude_cv),
                       cell(quality.amplitude_cutoff), cell(quality.separation),
                       u < report.peak_channels.size() ? cell(report.peak_channels[u]) : "",
                       to_string(unit.verdict.label), unit.verdict.reason);
    }
    return text;
}

std::string iterations_tsv(const sorting_report& report) {
    std::string text =
        "iteration\tclusters\tchanged\tdeleted\tsplits\tlog_likelihood\tpenalty\tscore\n";
    for (std::size_t i = 0; i < report.search.iterations.size(); ++i) {
        const masked_gmm_iteration& one = report.search.iterations[i];
        // More digits than elsewhere, to show how the score falls.
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{:.6f}\t{:.6f}\t{:.6f}\n",
                       i + 1, one.clusters, one.changed, one.deleted, one.splits,
                       -one.negated_log_likelihood, one.penalty, one.score());
    }
    return text;
}

std::string merges_tsv(const sorting_report& report) {
    std::string text;
    const cluster_decision any;
    each_member(any, [&](const char* name, const auto& /*value*/) { text += name + "\t"s; });
    text.back() = '\n';
    for (const cluster_decision& one : report.decisions) {
        each_member(one, [&](const char* name, const auto& value) {
            const bool has_none = name == "other"sv && one.other == 0;
            text += has_none ? "\t" : cell(value) + '\t';
        });
        text.back() = '\n';
    }
    return text;
}

}  // namespace spikeweave::report
