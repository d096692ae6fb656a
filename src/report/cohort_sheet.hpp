#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace spikeweave::report {

/// What somebody says of each recording of a cohort, in a file of their own.
struct cohort_sheet {
    std::filesystem::path path{};
    /// All columns but that of the names of the recordings.
    std::vector<std::string> columns{};
    std::map<std::string, std::vector<std::string>> of_recording{};
};

/// Reads a table with a line for each recording. It has tabs if its first line has one, else
/// commas; then fields may be quoted, as spreadsheets do.
/// @throws io_error with the line if it is damaged, has no column `recording` or a name twice.
cohort_sheet read_cohort_sheet(const std::filesystem::path& path);

}  // namespace spikeweave::report
