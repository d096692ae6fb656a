#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/columns.hpp"
#include "report/run_json.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/report/output_place.hpp"

namespace spikeweave::io {
class result_folder;
}

/// The document of a result. Every folder has it as `result.json`, which `report` and Python read;
/// a page holds its first rows. docs/formats.md describes it.
namespace spikeweave::report {

struct document {
    /// "episodes", "windows", "spade", "sort", "track", "assemblies", "bursts", "replay" or
    /// "compare".
    std::string kind{};
    json run{};                             ///< the record of the run, `run.json`
    std::vector<std::string> unit_names{};  ///< those of the units in the tables
    /// All other members, such as the spikes.
    json values = json::object();
    std::vector<result_table> tables{};
};

/// The beginning of the document of every result and page.
json head_of(std::string_view kind);
/// Passes on the document as text in pieces, with all rows. @throws cancelled
void write_document(const document& from, const std::function<void(std::string_view)>& write,
                    const execution& run = {});
std::string whole_text(const document& from, const execution& run = {});
/// Writes the tables as files for people, `result.json`, `run.json` and the page, if it is wanted
/// and has not too many spikes.
/// @throws io_error, cancelled
void write_result(const io::result_folder& out, const document& from, bool with_page,
                  const execution& run);
/// Writes a folder that has nothing else.
void write_folder(const std::filesystem::path& folder, result_kind kind, const document& from,
                  bool with_page, bool overwrite, const execution& run);
/// The data of a page: the first rows of the tables that pages show, with six digits.
std::string page_text(const document& from, const execution& run = {});
/// The same of a document that was read, whose tables are objects of columns.
std::string page_text(json document);

/// Reads `result.json` of a folder.
/// @throws io_error if the folder is no result, or the file is damaged
json read_document(const std::filesystem::path& folder);

}  // namespace spikeweave::report
