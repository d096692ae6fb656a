#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/compare/episodes.hpp"
#include "spikeweave/pipeline/compare/spade.hpp"
#include "spikeweave/report/run_record.hpp"

namespace spikeweave {

/// The complete result of `spikeweave compare`, ready to be written.
/// @tparam Comparison  of episodes, or with `--patterns` of patterns
template <class Comparison>
struct comparison_report {
    Comparison result{};
    /// The names of the conditions in all that is read: the summary, the page.
    std::array<std::string, 2> names{"a", "b"};
    /// The files of each condition; the same one twice for two sets of its epochs.
    std::array<std::vector<input_record>, 2> inputs{};
    run_record run{};
    /// Whether `report.html` is written, too.
    bool with_page = true;
};
using episode_comparison_report = comparison_report<episode_comparison>;
using pattern_comparison_report = comparison_report<pattern_comparison>;

/// The names of two conditions: the last parts of the paths of their files, as many as it takes to
/// tell them apart; a and b if one is empty or both are the same.
SPIKEWEAVE_API std::array<std::string, 2> condition_names(const std::filesystem::path& a,
                                                          const std::filesystem::path& b);

/// The report of a comparison; its record lacks the inputs and the command.
SPIKEWEAVE_API episode_comparison_report report_of(episode_comparison result,
                                                   const execution& run = {});
SPIKEWEAVE_API pattern_comparison_report report_of(pattern_comparison result,
                                                   const execution& run = {});

/// The result in a sentence: the findings that changed. A second one has the number of warnings, if
/// any.
SPIKEWEAVE_API std::string verdict_of(const episode_comparison_report& report);
SPIKEWEAVE_API std::string verdict_of(const pattern_comparison_report& report);

/// Writes `differences.tsv`, a line for each finding; of episodes also `differences.graphml`, the
/// circuit of the pairs with what changed; and `run.json`. docs/results.md describes them. The
/// folder is complete or absent, and is replaced as by `write_report`.
/// @throws io_error, cancelled; likewise.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder,
                                 const episode_comparison_report& report, bool overwrite = false,
                                 const execution& run = {});
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder,
                                 const pattern_comparison_report& report, bool overwrite = false,
                                 const execution& run = {});

/// The document of the result: what `result.json` holds (docs/formats.md). `page_of_results` makes
/// its page. @throws cancelled
SPIKEWEAVE_API std::string document_of(const episode_comparison_report& report,
                                       const execution& run = {});
SPIKEWEAVE_API std::string document_of(const pattern_comparison_report& report,
                                       const execution& run = {});

/// Everything as one JSON document, for `--json`.
SPIKEWEAVE_API std::string to_json(const episode_comparison_report& report);
SPIKEWEAVE_API std::string to_json(const pattern_comparison_report& report);

/// The findings, what changed first, as text for a terminal.
SPIKEWEAVE_API std::string summarize(const episode_comparison_report& report);
SPIKEWEAVE_API std::string summarize(const pattern_comparison_report& report);

}  // namespace spikeweave
