#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

/// Databases of SQLite. A build without SQLite has no databases, and reports this.
namespace spikeweave::io {

class statement;

class database {
public:
    enum class access : std::uint8_t { read, write, create };

    /// A file is created only if there is none of its name.
    /// @throws io_error if the file cannot be opened, or is no database.
    database(std::filesystem::path path, access how);
    ~database() = default;
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    database(database&&) = delete;
    database& operator=(database&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Runs a statement that has no result. @throws io_error
    void run(const std::string& sql);
    /// @throws io_error
    statement prepare(std::string_view sql);

private:
    friend class statement;
    struct close {
        void operator()(sqlite3* handle) const noexcept;
    };

    [[noreturn]] void fail() const;

    std::filesystem::path path_;
    std::unique_ptr<sqlite3, close> handle_;
};

/// A statement that can be run many times. It must not outlive its database. Columns are numbered
/// from 0 and parameters from 1.
class statement {
public:
    statement& bind(int parameter, std::int64_t number);
    statement& bind(int parameter, std::optional<std::int64_t> number);
    /// Texts and bytes have to live until the statement is run.
    statement& bind_text(int parameter, std::string_view text);
    statement& bind_bytes(int parameter, std::span<const char> bytes);

    /// Runs the statement to the next row of its result. Returns whether there is one.
    /// @throws io_error
    bool next_row();
    /// Runs a statement without a result, and makes it ready to be run again. @throws io_error
    void run();
    /// Makes the statement ready to be run again.
    void reset();

    /// The values of a row. @throws io_error if a value has another type, because the file is then
    /// damaged.
    std::int64_t number(int column) const;
    /// A number that is not negative.
    std::uint64_t count(int column) const;
    bool is_null(int column) const;
    /// Valid until the next row.
    std::string_view text(int column) const;
    std::string_view bytes(int column) const;

private:
    friend class database;
    struct finalize {
        void operator()(sqlite3_stmt* handle) const noexcept;
    };

    explicit statement(const database& in) : in_(&in) {}
    void check(int status) const;
    [[noreturn]] void fail_at(int column, std::string_view expected) const;

    const database* in_;
    std::unique_ptr<sqlite3_stmt, finalize> handle_{};
};

}  // namespace spikeweave::io
