#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The command line's texts as values. All of these throw `invalid_argument` with the text and what
/// was expected.
namespace spikeweave::cli {

/// A whole number of at least `least`.
std::uint64_t parse_whole(std::string_view text, std::uint64_t least = 0);
/// The same for the options that hold 32 bits.
std::uint32_t parse_whole_32(std::string_view text, std::uint32_t least = 0);
/// At least 1.
std::uint32_t parse_count(std::string_view text);
int parse_threads(std::string_view text);
/// A number above zero.
double parse_positive(std::string_view text);
/// A number of at least zero.
double parse_not_negative(std::string_view text);
/// A number in (0, 1].
double parse_fraction(std::string_view text);
/// A number in [0, 1].
double parse_share(std::string_view text);
/// A time above zero.
duration parse_positive_duration(std::string_view text);
/// "2GB", "512MiB": bytes.
std::uint64_t parse_memory(std::string_view text);

/// Any name but the empty one.
std::string parse_path(std::string_view text);
/// "a,b,c"; no part may be empty.
std::vector<std::string> parse_names(std::string_view text);
/// "4,8", or "none" for no chain.
std::vector<std::uint32_t> parse_chains(std::string_view text);

/// The spikes of some units only, in the same recorded span.
spike_sequence only_units(const spike_sequence& spikes, const std::vector<std::string>& names);

}  // namespace spikeweave::cli
