#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/database.hpp"
#include "live/session/session_options.hpp"

namespace spikeweave::live {

/// Facts of a session before its first block.
struct session_header {
    std::vector<std::string> unit_names{};
    session_options analysis{};
};

/// Writes the header into the empty tables of a session.
/// @throws invalid_argument if a unit's name cannot stand in a file.
void write_header(io::database& session, const session_header& header);
/// @throws io_error if the file is damaged or has options that are not known.
session_header read_header(io::database& session);

/// @throws invalid_argument if a unit's name cannot stand in a file.
void check_unit_name(const std::string& name);

/// An episode as JSON: ["a",[1000,4000],"b"] has the delays (1000,4000] us.
std::string json_of(const episode& what, const std::vector<std::string>& names_as_json);
/// @throws invalid_argument if a unit is unknown; json::exception if the text is no episode.
episode episode_of(std::string_view text, const std::vector<std::string>& unit_names);
std::string json_of_name(const std::string& name);

}  // namespace spikeweave::live
