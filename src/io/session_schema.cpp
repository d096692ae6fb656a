#include "io/session_schema.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "io/file_error.hpp"

namespace spikeweave::io {
namespace {

constexpr std::string_view database_mark{"SQLite format 3\0", 16};
constexpr std::size_t application_id_at = 68;
constexpr std::string_view application_id = "SpkW";  // as a number, big-endian
constexpr std::int64_t application_number = 0x53706b57;

// In the order of their names. Files with other tables are no sessions, so nothing in a file can
// make a query do what it does not say.
constexpr std::array<std::string_view, 7> tables{
    "CREATE TABLE armed(id INTEGER PRIMARY KEY, episode TEXT NOT NULL, fire_at INTEGER NOT NULL)",
    "CREATE TABLE detection(seq INTEGER PRIMARY KEY, input INTEGER NOT NULL, "
    "epoch INTEGER NOT NULL, armed INTEGER NOT NULL, begin_us INTEGER NOT NULL, "
    "end_us INTEGER NOT NULL, times BLOB NOT NULL, suppressed INTEGER NOT NULL)",
    "CREATE TABLE input(seq INTEGER PRIMARY KEY, arrived_us INTEGER NOT NULL, "
    "epoch INTEGER NOT NULL, watermark_us INTEGER, missing INTEGER NOT NULL, "
    "belated INTEGER NOT NULL, repeated INTEGER NOT NULL, unreadable INTEGER NOT NULL, "
    "unrecorded INTEGER NOT NULL, spikes BLOB NOT NULL, left_out BLOB NOT NULL)",
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE sender(name TEXT PRIMARY KEY, clock TEXT NOT NULL, last INTEGER NOT NULL, "
    "has_finished INTEGER NOT NULL)",
    "CREATE TABLE unit(id INTEGER PRIMARY KEY, name TEXT NOT NULL, input INTEGER NOT NULL)",
    "CREATE TABLE window(seq INTEGER PRIMARY KEY, input INTEGER NOT NULL, "
    "epoch INTEGER NOT NULL, number INTEGER NOT NULL, begin_us INTEGER NOT NULL, "
    "end_us INTEGER NOT NULL, spikes INTEGER NOT NULL, threshold INTEGER NOT NULL, "
    "has_gap INTEGER NOT NULL, complete_to INTEGER, digest TEXT NOT NULL, "
    "episodes TEXT NOT NULL)",
};

std::int64_t head_number(database& session, const char* name) {
    statement asked = session.prepare(fmt::format("PRAGMA {}", name));
    return asked.next_row() ? asked.number(0) : 0;
}

}  // namespace

bool is_session(std::string_view first_bytes) {
    return first_bytes.starts_with(database_mark) &&
           first_bytes.substr(0, application_id_at + 4).ends_with(application_id);
}

void create_session_tables(database& session) {
    session.run(fmt::format("PRAGMA application_id = {}", application_number));
    session.run(fmt::format("PRAGMA user_version = {}", session_version));
    for (const std::string_view table : tables) session.run(std::string(table));
}

void check_session_tables(database& session) {
    const auto& path = session.path();
    if (head_number(session, "application_id") != application_number)
        throw file_error(path, "is a database, but no session of spikeweave");
    const std::int64_t version = head_number(session, "user_version");
    if (version != session_version)
        throw file_error(path, fmt::format("is a session of version {}, expected version {}",
                                           version, session_version));
    statement asked = session.prepare(
        "SELECT sql FROM sqlite_schema WHERE sql NOT NULL "
        "ORDER BY name");
    for (const std::string_view table : tables) {
        const std::string found(asked.next_row() ? asked.text(0) : "nothing");
        if (found != table)
            throw file_error(path, fmt::format("found {}, expected the table {}", shown(found),
                                               shown(table.substr(0, table.find('(')))));
    }
    if (asked.next_row())
        throw file_error(path, fmt::format("found {}, expected only the tables of a session",
                                           shown(asked.text(0))));
}

}  // namespace spikeweave::io
