#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// Databases of SQLite.
namespace spikeweave::io {

/// A statement that can be run many times. It must not outlive its database. Columns are numbered
/// from 0 and parameters from 1.
class statement {
public:
    statement() = default;
    virtual ~statement() = default;
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;

    virtual statement& bind(int parameter, std::int64_t number) = 0;
    virtual statement& bind(int parameter, std::optional<std::int64_t> number) = 0;
    /// Texts and bytes have to live until the statement is run.
    virtual statement& bind_text(int parameter, std::string_view text) = 0;
    virtual statement& bind_bytes(int parameter, std::span<const char> bytes) = 0;

    /// Runs the statement to the next row of its result. Returns whether there is one.
    /// @throws io_error
    virtual bool next_row() = 0;
    /// Runs a statement without a result, and makes it ready to be run again. @throws io_error
    virtual void run() = 0;
    /// Makes the statement ready to be run again.
    virtual void reset() = 0;

    /// The values of a row. @throws io_error if a value has another type, because the file is then
    /// damaged.
    virtual std::int64_t number(int column) const = 0;
    /// A number that is not negative.
    virtual std::uint64_t count(int column) const = 0;
    virtual bool is_null(int column) const = 0;
    /// Valid until the next row.
    virtual std::string_view text(int column) const = 0;
    virtual std::string_view bytes(int column) const = 0;
};

class database {
public:
    enum class access : std::uint8_t { read, write, create };

    virtual ~database() = default;
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Runs a statement that has no result. @throws io_error
    virtual void run(const std::string& sql) = 0;
    /// @throws io_error
    virtual std::unique_ptr<statement> prepare(std::string_view sql) = 0;

protected:
    explicit database(std::filesystem::path path) : path_(std::move(path)) {}

private:
    std::filesystem::path path_;
};

/// A file is created only if there is none of its name.
/// @throws io_error if the file cannot be opened, or is no database; always in a build without
/// SQLite.
std::unique_ptr<database> open_database(const std::filesystem::path& path, database::access how);

}  // namespace spikeweave::io
