#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "report/page_spikes.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::report {

/// The data of a page, and what whoever writes it has to know.
struct page_content {
    std::string data{};
    std::vector<std::string> warnings{};
};

/// The page that shows a recorded session, whose data docs/formats.md describes.
/// @param alpha        the level at which rates differ between windows
/// @param most_spikes  of more, the page has the newest ones
/// @throws io_error if the file is no session or damaged; cancelled.
page_content session_page(const std::filesystem::path& path, double alpha, const execution& run,
                          std::size_t most_spikes = most_spikes_of_a_page);

}  // namespace spikeweave::report
