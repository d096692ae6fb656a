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

class sqlite_database : public database {
public:
    sqlite_database(const std::filesystem::path& path, access how) : database(path) {
        std::error_code unknown;
        if (how == access::create && std::filesystem::exists(path, unknown))
            throw file_error(path, "exists already, expected a new file");
        if (how == access::create) make_folder_of(path);
        sqlite3* opened = nullptr;
        // An absolute path cannot be mistaken for a name with a special meaning, such as
        // ":memory:".
        const auto absolute = std::filesystem::absolute(path);
        const int status = sqlite3_open_v2(absolute.c_str(), &opened, flags_of(how), nullptr);
        handle_.reset(opened);
        if (status != SQLITE_OK) fail();
        sqlite3_extended_result_codes(opened, 1);
        sqlite3_busy_timeout(opened, longest_wait_ms);
        distrust(opened);
        execute("PRAGMA cell_size_check = ON");
        if (how == access::read) execute("PRAGMA query_only = ON");
    }

    void run(const std::string& sql) override { execute(sql.c_str()); }
    std::unique_ptr<statement> prepare(std::string_view sql) override;

    [[noreturn]] void fail() const {
        std::string reason = handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory";
        const int number = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
        // It may quote what is in the file.
        if (!is_printable_utf8(reason)) reason = shown(reason);
        if (number != 0) reason += fmt::format(" ({})", std::generic_category().message(number));
        throw file_error(path(), reason);
    }

private:
    struct close {
        void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
    };

    void execute(const char* sql) {
        if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
    }

    std::unique_ptr<sqlite3, close> handle_;
};

class sqlite_statement : public statement {
public:
    sqlite_statement(const sqlite_database& in, sqlite3_stmt* prepared)
        : in_(&in), handle_(prepared) {}

    statement& bind(int parameter, std::int64_t number) override {
        check(sqlite3_bind_int64(handle_.get(), parameter, number));
        return *this;
    }

    statement& bind(int parameter, std::optional<std::int64_t> number) override {
        if (number) return bind(parameter, *number);
        check(sqlite3_bind_null(handle_.get(), parameter));
        return *this;
    }

    // An empty text must not be stored as NULL.
    statement& bind_text(int parameter, std::string_view text) override {
        check(sqlite3_bind_text64(handle_.get(), parameter, text.empty() ? "" : text.data(),
                                  text.size(), SQLITE_STATIC, SQLITE_UTF8));
        return *this;
    }

    statement& bind_bytes(int parameter, std::span<const char> bytes) override {
        check(sqlite3_bind_blob64(handle_.get(), parameter, bytes.empty() ? "" : bytes.data(),
                                  bytes.size(), SQLITE_STATIC));
        return *this;
    }

    bool next_row() override {
        const int status = sqlite3_step(handle_.get());
        if (status != SQLITE_ROW && status != SQLITE_DONE) in_->fail();
        return status == SQLITE_ROW;
    }

    void run() override {
        while (next_row()) {
        }
        reset();
    }

    void reset() override { sqlite3_reset(handle_.get()); }

    std::int64_t number(int column) const override {
        if (sqlite3_column_type(handle_.get(), column) != SQLITE_INTEGER)
            fail_at(column, "a whole number");
        return sqlite3_column_int64(handle_.get(), column);
    }

    std::uint64_t count(int column) const override {
        const std::int64_t value = number(column);
        if (value < 0) fail_at(column, "a number that is not negative");
        return static_cast<std::uint64_t>(value);
    }

    bool is_null(int column) const override {
        return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
    }

    std::string_view text(int column) const override {
        if (sqlite3_column_type(handle_.get(), column) != SQLITE_TEXT) fail_at(column, "text");
        const auto* const found =
            reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
        if (found == nullptr) in_->fail();
        return {found, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
    }

    std::string_view bytes(int column) const override {
        if (sqlite3_column_type(handle_.get(), column) != SQLITE_BLOB) fail_at(column, "bytes");
        const auto* const found =
            static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
        return {found == nullptr ? "" : found,
                static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
    }

private:
    struct finalize {
        void operator()(sqlite3_stmt* handle) const noexcept { sqlite3_finalize(handle); }
    };

    void check(int status) const {
        if (status != SQLITE_OK) in_->fail();
    }

    [[noreturn]] void fail_at(int column, std::string_view expected) const {
        const auto* const shown_value =
            reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
        throw file_error(
            in_->path(), fmt::format("column {}", sqlite3_column_name(handle_.get(), column)),
            fmt::format("found {}, expected {}",
                        shown_value == nullptr ? "nothing" : shown(shown_value), expected));
    }

    const sqlite_database* in_;
    std::unique_ptr<sqlite3_stmt, finalize> handle_;
};

std::unique_ptr<statement> sqlite_database::prepare(std::string_view sql) {
    sqlite3_stmt* prepared = nullptr;
    const int status = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    auto made = std::make_unique<sqlite_statement>(*this, prepared);
    if (status != SQLITE_OK) fail();
    return made;
}

}  // namespace

std::unique_ptr<database> open_database(const std::filesystem::path& path, database::access how) {
    return std::make_unique<sqlite_database>(path, how);
}

}  // namespace spikeweave::io
