#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/report/run_record.hpp"

/// Results as a page for a browser: one file that needs nothing else, and no network.
/// docs/report.md describes its views, docs/formats.md its data.
namespace spikeweave {

/// The option whether the page is written beside a result.
SPIKEWEAVE_API void add_page_option(option_list& list, bool& wanted);

/// Returns the page that shows these data, a JSON document.
SPIKEWEAVE_API std::string page_of(std::string_view data);

/// The arrangement of several results on a page.
enum class several_view : std::uint8_t {
    side_by_side,  ///< beside each other; all are compared with the first one
    series,        ///< one after another in time; each is compared with the one before it
};

template <>
SPIKEWEAVE_API enum_table<several_view> enum_names<several_view>();

/// Options of `write_page`.
struct page_options {
    /// Only for several results.
    std::optional<several_view> as{};
    /// Level at which a rate differs between two results, or two windows of a session.
    double alpha = 0.05;
};

SPIKEWEAVE_API option_list describe(page_options& options);

/// A result as its document, which is what `result.json` holds.
struct result_document {
    std::string name{};  ///< its name on the page
    std::string text{};
};

/// Reads the document of the result in a folder, `result.json`.
/// @throws io_error if the folder is not a result, or the file is damaged or of another version.
SPIKEWEAVE_API std::string read_result(const std::filesystem::path& folder);

/// Returns the page of a result, or the page that compares several of one kind.
/// @throws invalid_argument if there is none, or more than two of `sort`, they cannot be compared
/// or an option is out of range; cancelled.
SPIKEWEAVE_API std::string page_of_results(const std::vector<result_document>& results,
                                           const page_options& options = {},
                                           const execution& run = {});

/// The summary of a page.
struct written_page {
    std::string summary{};  ///< the result in a sentence
    /// Sentences about missing data: the page of a session of more than 10,000,000 spikes has only
    /// the newest ones.
    std::vector<std::string> warnings{};
};

/// Writes the page of a result folder, from its `result.json`; of several folders of `episodes`,
/// `spade` or `sort` (of `sort` two); or of the file of a session of `run_live`.
/// @param overwrite  false: a file of that name, even one that appears meanwhile, is an error
/// @throws io_error if a folder is no such result, or a file is no session or damaged;
/// invalid_argument if the folders cannot be compared or an option is not for them; cancelled.
SPIKEWEAVE_API written_page write_page(const std::filesystem::path& page,
                                       std::span<const std::filesystem::path> folders,
                                       const page_options& options = {}, const execution& run = {},
                                       bool overwrite = true);

/// A command of an analysis.
struct analysis_step {
    std::string why{};                 ///< the reason for it
    std::vector<std::string> words{};  ///< the command, after the program's name
    std::filesystem::path folder{};    ///< its result, a folder beside the page

    std::string command() const { return shell_line("spikeweave", words); }
};

/// The commands, as a shell takes them, each below its reason.
SPIKEWEAVE_API std::string commands_of(std::span<const analysis_step> steps);

/// Writes `steps.txt`, the commands, and `index.html`, the page of an analysis: the result of its
/// last step in a sentence, all warnings, and the reason, command, result and picture of each step
/// with a link to its page.
/// @param analysed  the name of what the first step reads
/// @throws io_error if a folder has no record of a run, or a file cannot be written.
SPIKEWEAVE_API void write_analysis(const std::filesystem::path& folder, const std::string& analysed,
                                   std::span<const analysis_step> steps, bool overwrite = true);

}  // namespace spikeweave
