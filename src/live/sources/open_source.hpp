#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "live/session/event_order.hpp"
#include "live/sources/source.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/live/run.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/mine/spade/detector.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::live {

/// A source before its first block.
struct opened_source {
    std::unique_ptr<source> from{};
    order_options order{};  ///< as the source needs it
    std::vector<armed_episode> armed{};
    armed_patterns patterns{};
    /// Whether the rates of a file show that armed episodes are rare enough by chance.
    bool has_checked_rates = false;
    std::uint64_t spikes = 0;  ///< 0: it is not known how many will come
    std::vector<std::string> warnings{};
};

/// Whether spikes come at a speed of their own.
/// @throws invalid_argument if this is the address of a source that is not known.
bool is_stream(const std::filesystem::path& from);

/// Whether the source has samples, in which spikes are found.
/// @throws invalid_argument if options say so, and it has none; io_error for a damaged file.
bool has_samples(const std::string& from, const live_options& options);

/// Whether programs send the spikes, and send again what was not acknowledged.
bool is_own_stream(const std::string& from);

/// The units of what is armed: only they are known before a stream begins.
/// @throws io_error if the file of episodes or the patterns cannot be read.
std::vector<std::string> units_of_armed(const live_options& options);
/// Reads the armed episodes and patterns, without a source yet.
/// @param unit_names  units that are known before they appear
/// @throws io_error as above; invalid_argument if an episode is of another unit, or has fewer
/// spikes than `fire_at`.
opened_source armed_before(const live_options& options, std::vector<std::string> unit_names);

/// The units and spikes so far of a session that is resumed.
struct session_so_far {
    std::vector<std::string> unit_names{};
    std::vector<sender_progress> senders{};
    std::optional<std::int64_t> watermark_us{};  ///< of its last epoch
    std::vector<motion_step> motion{};           ///< that it has followed in it
};

/// Opens a stream, or a recording, for a session that goes on with it.
/// @throws io_error if the source, the file of episodes or the patterns cannot be read.
opened_source open_again(const std::string& from, const live_options& options,
                         const session_so_far& session, const execution& run);
/// Plays spikes. @throws as below.
opened_source open_spikes(spike_sequence spikes, const live_options& options,
                          const std::stop_token& stop);
/// Opens a stream or a file. @throws invalid_argument if something armed is expected by chance too
/// often in a file.
opened_source open_source(const std::string& from, const live_options& options,
                          const execution& run);

/// @throws invalid_argument if the text names no order.
order_options parse_order(const std::string& text);

}  // namespace spikeweave::live
