#pragma once

#include <string>

#include "spikeweave/report/episodes.hpp"

/// What the terminal shows of a search for episodes.
namespace spikeweave::cli {

/// Delays, threshold, ties and strategy.
std::string how_counted(const episode_report& report, const episode_options& asked, bool mined);
/// Given episodes with their counts and tests.
std::string counts_text(const episode_report& report);
/// Where the result is, how large its table has become, and what makes a huge one smaller.
std::string written_text(const std::string& folder, const episode_table& table);
/// The memory that the JSON document of a table takes, which is made whole before it is printed.
std::uint64_t bytes_of_document(const episode_table& table);

}  // namespace spikeweave::cli
