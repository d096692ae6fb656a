#pragma once

#include <filesystem>
#include <string>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/episodes/blocks.hpp"
#include "spikeweave/report/run_record.hpp"

namespace spikeweave {

/// The complete result of `spikeweave episodes --stream`, ready to be written.
struct episodes_in_blocks_report {
    episodes_in_blocks_result result{};
    run_record run{};
};

/// The report of a search; its record lacks the input and the command.
SPIKEWEAVE_API episodes_in_blocks_report report_of(episodes_in_blocks_result result,
                                                   const execution& run = {});

/// The result in a sentence: the number and the sizes of the frequent episodes. A second one has
/// the number of warnings, if any.
SPIKEWEAVE_API std::string verdict_of(const episodes_in_blocks_report& report);

/// Writes `episodes.tsv` with the counts of the episodes, longest and most frequent first, and
/// `run.json`; docs/results.md describes them. The folder is complete or absent, and is replaced as
/// by the other `write_report`.
/// @throws io_error, cancelled; likewise.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder,
                                 const episodes_in_blocks_report& report, bool overwrite = false,
                                 const execution& run = {});

/// The search, its levels and the longest episodes as text for a terminal. Names of options stand
/// between backquotes.
SPIKEWEAVE_API std::string summarize(const episodes_in_blocks_report& report);

}  // namespace spikeweave
