#include "io/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "io/file_error.hpp"
#include "io/name_aside.hpp"

namespace spikeweave::io {
namespace {

constexpr int longest_value = 1 << 30;   // bytes of a text or a blob
constexpr int longest_wait_ms = 10'000;  // for another process that writes

// A file whose program was killed may have to be put in order before it can be read, so it is
// opened for writing if that is allowed.
int flags_of(database::access how) {
    if (how != database::access::create) return SQLITE_OPEN_READWRITE;
    return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE;
}

// A file may come from anywhere: SQLite then trusts nothing in its schema.
void distrust(sqlite3* handle) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_value);
}

}  // namespace

void database::close::operator()(sqlite3* handle) const noexcept {
    sqlite3_close(handle);
}

database::database(std::filesystem::path path, access how) : path_(std::move(path)) {
    std::error_code unknown;
    if (how == access::create && std::filesystem::exists(path_, unknown))
        throw file_error(path_, "exists already, expected a new file");
    if (how == access::create) make_folder_of(path_);
    sqlite3* opened = nullptr;
    // An absolute path cannot be mistaken for a name with a special meaning, such as ":memory:".
    const auto absolute = std::filesystem::absolute(path_);
    const int status = sqlite3_open_v2(absolute.c_str(), &opened, flags_of(how), nullptr);
    handle_.reset(opened);
    if (status != SQLITE_OK) fail();
    sqlite3_extended_result_codes(opened, 1);
    sqlite3_busy_timeout(opened, longest_wait_ms);
    distrust(opened);
    run("PRAGMA cell_size_check = ON");
    if (how == access::read) run("PRAGMA query_only = ON");
}

void database::fail() const {
    std::string reason = handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory";
    const int number = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
    // It may quote what is in the file.
    if (!is_printable_utf8(reason)) reason = shown(reason);
    if (number != 0) reason += fmt::format(" ({})", std::generic_category().message(number));
    throw file_error(path_, reason);
}

void database::run(const std::string& sql) {
    if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

statement database::prepare(std::string_view sql) {
    statement made(*this);
    sqlite3_stmt* prepared = nullptr;
    const int status = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    made.handle_.reset(prepared);
    if (status != SQLITE_OK) fail();
    return made;
}

void statement::finalize::operator()(sqlite3_stmt* handle) const noexcept {
    sqlite3_finalize(handle);
}

void statement::check(int status) const {
    if (status != SQLITE_OK) in_->fail();
}

statement& statement::bind(int parameter, std::int64_t number) {
    check(sqlite3_bind_int64(handle_.get(), parameter, number));
    return *this;
}

statement& statement::bind(int parameter, std::optional<std::int64_t> number) {
    if (number) return bind(parameter, *number);
    check(sqlite3_bind_null(handle_.get(), parameter));
    return *this;
}

// An empty text must not be stored as NULL.
statement& statement::bind_text(int parameter, std::string_view text) {
    check(sqlite3_bind_text64(handle_.get(), parameter, text.empty() ? "" : text.data(),
                              text.size(), SQLITE_STATIC, SQLITE_UTF8));
    return *this;
}

statement& statement::bind_bytes(int parameter, std::span<const char> bytes) {
    check(sqlite3_bind_blob64(handle_.get(), parameter, bytes.empty() ? "" : bytes.data(),
                              bytes.size(), SQLITE_STATIC));
    return *this;
}

bool statement::next_row() {
    const int status = sqlite3_step(handle_.get());
    if (status != SQLITE_ROW && status != SQLITE_DONE) in_->fail();
    return status == SQLITE_ROW;
}

void statement::run() {
    while (next_row()) {
    }
    reset();
}

void statement::reset() {
    sqlite3_reset(handle_.get());
}

std::int64_t statement::number(int column) const {
    if (sqlite3_column_type(handle_.get(), column) != SQLITE_INTEGER)
        fail_at(column, "a whole number");
    return sqlite3_column_int64(handle_.get(), column);
}

std::uint64_t statement::count(int column) const {
    const std::int64_t value = number(column);
    if (value < 0) fail_at(column, "a number that is not negative");
    return static_cast<std::uint64_t>(value);
}

bool statement::is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::string_view statement::text(int column) const {
    if (sqlite3_column_type(handle_.get(), column) != SQLITE_TEXT) fail_at(column, "text");
    const auto* const found =
        reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    if (found == nullptr) in_->fail();
    return {found, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

std::string_view statement::bytes(int column) const {
    if (sqlite3_column_type(handle_.get(), column) != SQLITE_BLOB) fail_at(column, "bytes");
    const auto* const found = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
    return {found == nullptr ? "" : found,
            static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

void statement::fail_at(int column, std::string_view expected) const {
    const auto* const shown_value =
        reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    throw file_error(
        in_->path(), fmt::format("column {}", sqlite3_column_name(handle_.get(), column)),
        fmt::format("found {}, expected {}",
                    shown_value == nullptr ? "nothing" : shown(shown_value), expected));
}

}  // namespace spikeweave::io
