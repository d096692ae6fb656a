#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"

/// Results as a page for a browser: one file that needs nothing else, and no network.
/// docs/report.md says what it shows, docs/formats.md what its data are.
namespace spikeweave {

/// Returns the page that shows these data, a JSON document.
SPIKEWEAVE_API std::string page_of(std::string_view data);

/// Writes the page of a result folder of `episodes`. The spikes are read again.
/// @param page    replaced if it exists
/// @param spikes  the file that the result was made of; empty: where it was then
/// @throws io_error if the folder is no such result, or the file is missing or has changed;
/// cancelled.
SPIKEWEAVE_API void write_page(const std::filesystem::path& page,
                               const std::filesystem::path& folder,
                               const std::filesystem::path& spikes = {}, const execution& run = {});

}  // namespace spikeweave
