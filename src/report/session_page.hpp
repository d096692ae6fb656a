#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::report {

/// The data of the page that shows a recorded session, as docs/formats.md describes them.
/// @param alpha  the level at which rates differ between windows
/// @throws io_error if the file is no session or damaged; cancelled.
std::string session_page_data(const std::filesystem::path& path, double alpha,
                              const execution& run);

/// Gives a table its levels again: the candidates of each size follow from the frequent episodes of
/// the size before.
void restore_levels(episode_table& table, std::size_t units, const episode_mining_options& options);

}  // namespace spikeweave::report
