#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/database.hpp"

/// The tables of the file of a session (docs/formats.md).
namespace spikeweave::io {

/// The version of the tables, in the head of the file. Sessions in which episodes are armed
/// automatically have a table and a column more and the later version.
inline constexpr int session_version = 2;
inline constexpr int session_version_with_arming = 4;
/// Bytes of a spike in `input.spikes`: the time (i8, microseconds) and the unit (u4).
inline constexpr std::size_t session_spike_bytes = 12;

/// Whether a file is a session, by its first bytes. While a session runs, and after it was killed,
/// its tables may be in the second file beside it, and what its own first bytes lack as well.
bool is_session(const std::filesystem::path& path, std::string_view first_bytes);

/// The name in `meta` of the templates that a session has learned.
inline constexpr std::string_view session_templates = "templates";
/// The name in `meta` of the motion that was followed: a line for each step.
inline constexpr std::string_view session_motion = "motion";
/// The archive of templates in a file that is a session; null: it is none.
/// @throws io_error if the session has learned none.
std::optional<std::string> templates_of_session(const std::filesystem::path& path);

/// Makes the tables of a new session.
void create_session_tables(database& session, int version = session_version);
/// Returns the version. @throws io_error if the file is no session, or one of another version.
int check_session_tables(database& session);

}  // namespace spikeweave::io
