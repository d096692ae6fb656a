#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::report {

/// A result that a page shows.
struct named_result {
    std::string name{};   ///< what the page calls it
    std::string place{};  ///< what messages call it
    json document{};
};

/// What a page calls the folders of results: by their names, or by their paths if two have the same
/// name.
std::vector<std::string> names_of_folders(std::span<const std::filesystem::path> folders);

/// The data of the page that compares results of one kind.
/// @throws invalid_argument if they cannot be compared, or an option is not for them; cancelled.
std::string several_data(std::vector<named_result> results, const page_options& options,
                         const execution& run);

}  // namespace spikeweave::report
