#include "io/session_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <vector>

#include "io/file_error.hpp"
#include "io/random_file.hpp"

namespace spikeweave::io {
namespace {

constexpr std::string_view database_mark{"SQLite format 3\0", 16};
constexpr std::size_t application_id_at = 68;
constexpr std::string_view application_id = "SpkW";  // as a number, big-endian
constexpr std::int64_t application_number = 0x53706b57;

// In the order of their names, with the versions that have them. Files with other tables are no
// sessions, so nothing in a file can make a query do what it does not say.
struct table {
    std::string_view sql;
    int since = session_version;
    int until = session_version_with_arming;
};
constexpr std::array<table, 9> tables{{
    {"CREATE TABLE armed(id INTEGER PRIMARY KEY, episode TEXT NOT NULL, fire_at INTEGER NOT NULL)"},
    {"CREATE TABLE arming(seq INTEGER PRIMARY KEY, input INTEGER NOT NULL, "
     "epoch INTEGER NOT NULL, from_us INTEGER NOT NULL, window_epoch INTEGER NOT NULL, "
     "window INTEGER NOT NULL, due_us INTEGER NOT NULL, is_late INTEGER NOT NULL, "
     "armed TEXT NOT NULL, disarmed TEXT NOT NULL, refused TEXT NOT NULL)",
     session_version_with_arming},
    {"CREATE TABLE detection(seq INTEGER PRIMARY KEY, input INTEGER NOT NULL, "
     "epoch INTEGER NOT NULL, armed INTEGER NOT NULL, begin_us INTEGER NOT NULL, "
     "end_us INTEGER NOT NULL, times BLOB NOT NULL, suppressed INTEGER NOT NULL)"},
    {"CREATE TABLE input(seq INTEGER PRIMARY KEY, arrived_us INTEGER NOT NULL, "
     "epoch INTEGER NOT NULL, watermark_us INTEGER, missing INTEGER NOT NULL, "
     "belated INTEGER NOT NULL, repeated INTEGER NOT NULL, unreadable INTEGER NOT NULL, "
     "unrecorded INTEGER NOT NULL, spikes BLOB NOT NULL, left_out BLOB NOT NULL)"},
    {"CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"},
    {"CREATE TABLE sender(name TEXT PRIMARY KEY, clock TEXT NOT NULL, last INTEGER NOT NULL, "
     "has_finished INTEGER NOT NULL)"},
    {"CREATE TABLE unit(id INTEGER PRIMARY KEY, name TEXT NOT NULL, input INTEGER NOT NULL)"},
    {"CREATE TABLE window(seq INTEGER PRIMARY KEY, input INTEGER NOT NULL, "
     "epoch INTEGER NOT NULL, number INTEGER NOT NULL, begin_us INTEGER NOT NULL, "
     "end_us INTEGER NOT NULL, spikes INTEGER NOT NULL, threshold INTEGER NOT NULL, "
     "has_gap INTEGER NOT NULL, complete_to INTEGER, digest TEXT NOT NULL, "
     "episodes TEXT NOT NULL)",
     session_version, session_version},
    {"CREATE TABLE window(seq INTEGER PRIMARY KEY, input INTEGER NOT NULL, "
     "epoch INTEGER NOT NULL, number INTEGER NOT NULL, begin_us INTEGER NOT NULL, "
     "end_us INTEGER NOT NULL, spikes INTEGER NOT NULL, threshold INTEGER NOT NULL, "
     "has_gap INTEGER NOT NULL, complete_to INTEGER, digest TEXT NOT NULL, "
     "episodes TEXT NOT NULL, was_tested INTEGER)",
     session_version_with_arming},
}};

std::vector<std::string_view> tables_of(int version) {
    std::vector<std::string_view> all;
    for (const table& one : tables)
        if (one.since <= version && version <= one.until) all.push_back(one.sql);
    return all;
}

std::int64_t head_number(database& session, const char* name) {
    const auto asked = session.prepare(fmt::format("PRAGMA {}", name));
    return asked->next_row() ? asked->number(0) : 0;
}

}  // namespace

bool is_session(const std::filesystem::path& path, std::string_view first_bytes) {
    if (!first_bytes.starts_with(database_mark)) return false;
    std::error_code unknown;
    return first_bytes.substr(0, application_id_at + 4).ends_with(application_id) ||
           std::filesystem::exists(path.string() + "-wal", unknown);
}

std::optional<std::string> templates_of_session(const std::filesystem::path& path) {
    {
        const random_file file(path);
        std::string head(std::min<std::uint64_t>(file.size(), application_id_at + 4), '\0');
        file.read_at(0, head);
        if (!is_session(path, head)) return {};
    }
    const auto session = open_database(path, database::access::read);
    check_session_tables(*session);
    const auto asked = session->prepare("SELECT value FROM meta WHERE name = ?");
    asked->bind_text(1, session_templates);
    if (!asked->next_row())
        throw file_error(path,
                         "is a session without templates: it has not learned its units itself");
    return std::string(asked->bytes(0));
}

void create_session_tables(database& session, int version) {
    session.run(fmt::format("PRAGMA application_id = {}", application_number));
    session.run(fmt::format("PRAGMA user_version = {}", version));
    for (const std::string_view sql : tables_of(version)) session.run(std::string(sql));
}

int check_session_tables(database& session) {
    const auto& path = session.path();
    if (head_number(session, "application_id") != application_number)
        throw file_error(path, "is a database, but no session of spikeweave");
    const std::int64_t version = head_number(session, "user_version");
    if (version != session_version && version != session_version_with_arming)
        throw file_error(path, fmt::format("is a session of version {}, expected version {} or {}",
                                           version, session_version, session_version_with_arming));
    const auto asked = session.prepare(
        "SELECT sql FROM sqlite_schema WHERE sql NOT NULL "
        "ORDER BY name");
    for (const std::string_view sql : tables_of(static_cast<int>(version))) {
        const std::string found(asked->next_row() ? asked->text(0) : "nothing");
        if (found != sql)
            throw file_error(path, fmt::format("found {}, expected the table {}", shown(found),
                                               shown(sql.substr(0, sql.find('(')))));
    }
    if (asked->next_row())
        throw file_error(path, fmt::format("found {}, expected only the tables of a session",
                                           shown(asked->text(0))));
    return static_cast<int>(version);
}

}  // namespace spikeweave::io
