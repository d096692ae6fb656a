#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"

/// Results as a page for a browser: one file that needs nothing else, and no network.
/// docs/report.md says what it shows, docs/formats.md what its data are.
namespace spikeweave {

struct sort_result;

/// The option whether the page is written beside a result.
SPIKEWEAVE_API void add_page_option(option_list& list, bool& wanted);

/// Returns the page that shows these data, a JSON document.
SPIKEWEAVE_API std::string page_of(std::string_view data);

/// Returns the page of a sorting.
/// @param tables  `run`, `quality`, `motion` and `merges` of its data, as a JSON document
SPIKEWEAVE_API std::string page_of(const sort_result& result, std::string_view tables);

/// Writes the page of a result folder of `episodes`, `spade` or `sort`. The spikes of the first two
/// are read again.
/// @param page    replaced if it exists
/// @param spikes  the file that the result was made of; empty: where it was then
/// @throws io_error if the folder is no such result, or the file is missing or has changed;
/// cancelled.
SPIKEWEAVE_API void write_page(const std::filesystem::path& page,
                               const std::filesystem::path& folder,
                               const std::filesystem::path& spikes = {}, const execution& run = {});

}  // namespace spikeweave
