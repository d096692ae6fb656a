#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"

/// The tables of results, and one table of the findings of many recordings, for statistics
/// packages.
namespace spikeweave {

/// Options of `write_table`.
struct table_options {
    /// The table of each folder that is taken, such as "circuit"; empty: the main one, which is
    /// "episodes", "windows", "patterns", "units", "neurons", "assemblies", "summary" (of bursts),
    /// "replay" or "differences".
    std::string of{};
    /// Only rows that their table calls significant.
    bool significant = false;
};

SPIKEWEAVE_API option_list describe(table_options& options);

/// The result of `write_table`.
struct SPIKEWEAVE_API table_summary {
    std::uint64_t rows = 0;
    std::size_t recordings = 0;
    /// The recordings without a row, which a table cannot show.
    std::vector<std::string> without{};
    /// Options that differ between results.
    std::vector<std::string> warnings{};

    /// One line for a terminal.
    std::string text() const;
};

/// Writes the rows of a table of several result folders of one command as one table, whose first
/// columns are `recording`, the name of the folder, and, where a command knows it, `observed_s`,
/// the seconds in which the findings were counted. A column that only some of the folders have is
/// empty for the others, and so is a cell that is a dash.
/// @param overwrite  false: a file of that name, even one that appears meanwhile, is an error
/// @throws io_error if a folder is no result or damaged; invalid_argument if there is no folder,
/// one is given twice, they are of different commands, or they have no such table; cancelled.
SPIKEWEAVE_API table_summary write_table(const std::filesystem::path& table,
                                         std::span<const std::filesystem::path> folders,
                                         const table_options& options = {},
                                         const execution& run = {}, bool overwrite = true);

/// A column of a file for people.
struct column_description {
    std::string name{};
    /// Its explanation, in Markdown; empty: it is explained with the column before.
    std::string help{};
};
struct table_description {
    std::string command{};  ///< that writes it, such as "episodes"
    std::string file{};     ///< such as "circuit.tsv"
    std::vector<column_description> columns{};
};
/// Describes tables of all commands, with the columns that only some options add.
SPIKEWEAVE_API std::vector<table_description> describe_tables();

}  // namespace spikeweave
