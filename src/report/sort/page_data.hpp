#pragma once

#include <filesystem>
#include <string>

#include "report/run_json.hpp"
#include "report/sort/details.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/sorting.hpp"

namespace spikeweave::report {

/// What the page of a sorting is made of.
struct sorting_page {
    /// `run`, `quality`, `motion` and `merges` of the data.
    json tables{};
    sorting sorted{};
    sorting_details details{};
};

sorting_page sorting_page_of(const sorting_report& report);
/// @throws io_error if a file of the result is missing or damaged.
sorting_page read_sorting_page(const std::filesystem::path& folder, json run);

/// The data of the page, as docs/formats.md describes them.
/// @throws io_error if the parts do not belong together; cancelled.
std::string sorting_page_data(const sorting_page& page, const execution& run);

}  // namespace spikeweave::report
