#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/columns.hpp"
#include "report/document.hpp"
#include "report/run_json.hpp"
#include "spikeweave/pipeline/compare.hpp"

/// How comparisons of two conditions are shown, whatever their findings are.
namespace spikeweave::report {

/// "up", "down" or "same", by the sign of a change that is significant.
std::string_view direction_of(const condition_change& finding);

/// Adds the columns that follow what a finding is, from `change` on.
/// @param own  columns after `direction`
void add_change(row& to, const condition_change& finding, row own = {});

/// What was compared, without the findings.
struct compared_conditions {
    const std::array<condition_summary, 2>& conditions;
    const std::array<std::vector<input_record>, 2>& inputs;
    sample_kind samples;
    const label_permutations& labellings;
    const std::vector<std::string>& unit_names;
    std::size_t findings;
};
json comparison_json(const compared_conditions& what, const run_record& run);
/// @param findings  the table `differences.tsv`
document document_of(const compared_conditions& what, const run_record& run, result_table findings);

/// @tparam Report  of a comparison, with `result`, `inputs` and `run`
template <class Report>
compared_conditions compared_in(const Report& report) {
    return {report.result.conditions, report.inputs,
            report.result.samples,    report.result.labellings,
            report.result.unit_names, report.result.findings.size()};
}

/// The report of a comparison; its record lacks the inputs and the command.
template <class Report, class Result>
Report comparison_report(Result result, execution used) {
    Report report;
    used.threads = result.options.run.threads;
    record_run(report.run, describe(result.options), result.options.permutation.seed, used, {});
    report.run.warnings = result.warnings;
    report.run.seconds = result.seconds;
    report.result = std::move(result);
    return report;
}

/// The conditions and the labellings as lines for a terminal.
/// @param correction, alpha  of the changes
std::string conditions_text(const compared_conditions& what, std::string_view correction,
                            double alpha);
/// The findings as lines for a terminal, what changed first.
/// @param names  of each finding
std::string changes_text(const std::vector<const condition_change*>& findings,
                         const std::vector<std::string>& names);

}  // namespace spikeweave::report
