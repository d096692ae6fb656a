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

row unit_row(const sorting_report& report, std::size_t unit, const sorted_unit& what) {
    row out{{"unit", std::uint64_t{unit + 1}},
            {"clu_label", std::uint64_t{unit} + report.first_label}};
    std::optional<std::uint64_t> peak;
    if (unit < report.peak_channels.size()) peak = report.peak_channels[unit];
    for (column& each : described_row(what)) {
        if (each.name == "label") out.push_back({"peak_channel", peak});
        out.push_back(std::move(each));
    }
    return out;
}

std::string units_tsv(const sorting_report& report) {
    const sorted_unit none;
    std::string text = tsv_heading(unit_row(report, 0, none)) + '\n';
    for (std::size_t u = 0; u < report.units.size(); ++u)
        if (report.units[u].spikes > 0)
            text += tsv_line(unit_row(report, u, report.units[u]), {}, "") + '\n';
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
