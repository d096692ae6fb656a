#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/core/execution.hpp"

/// Our own tables, read for pages, so that these have the same numbers.
namespace spikeweave::report {

/// A browser lists more rows slowly, and nobody reads them.
inline constexpr std::size_t most_rows_of_a_page = 10'000;

/// The rows of a table, whose fields are not quoted.
class page_table {
public:
    /// @throws io_error, as all its functions do with the name and the line.
    explicit page_table(const std::filesystem::path& path);
    /// @param path  what the table is called in messages
    page_table(std::filesystem::path path, std::unique_ptr<std::istream> text);
    ~page_table() = default;
    page_table(const page_table&) = delete;
    page_table& operator=(const page_table&) = delete;
    page_table(page_table&&) = delete;
    page_table& operator=(page_table&&) = delete;

    bool next();
    /// Reads the rows that are left, only to count them.
    std::size_t rest();
    const std::vector<std::string_view>& names() const { return names_; }
    std::string_view operator[](std::string_view name) const;
    double number(std::string_view cell) const;
    [[noreturn]] void fail(std::string_view text) const;

private:
    void check_printable() const;
    std::filesystem::path path_;
    std::unique_ptr<std::istream> in_;
    std::string header_;
    std::string line_;
    std::size_t number_ = 1;
    std::vector<std::string_view> names_;
    std::vector<std::string_view> cells_;
};

/// A flag, a whole number, a number or text; null for an empty cell or a dash.
json cell_value(std::string_view cell);

/// Numbers that are joined by a text.
/// @throws io_error of the table if one is none.
json numbers_in(const page_table& rows, std::string_view cell, std::string_view joined_by);

/// All rows that are left as columns.
json table_columns(page_table& rows);

/// The first `most_rows_of_a_page` rows as columns, and the number of all as `total`.
/// @param plain  the columns whose cells are taken by `cell_value`
/// @param own    other columns, to each of which `add` adds a value of the row that was read
/// @throws io_error if the table is damaged; cancelled.
json first_rows(page_table& rows, std::span<const std::string_view> plain,
                std::initializer_list<const char*> own,
                const std::function<void(json& columns)>& add, const execution& run);
/// The same, of all columns.
json first_rows(page_table& rows, const execution& run);

/// Finds units by their names.
class unit_numbers {
public:
    explicit unit_numbers(const std::vector<std::string>& names);

    /// @throws io_error of the table if there is no such unit.
    std::uint32_t unit(const page_table& rows, std::string_view name) const;
    /// Reads names that are joined by a text which may also be part of a name.
    std::vector<std::uint32_t> units(const page_table& rows, std::string_view cell,
                                     std::string_view joined_by, std::size_t size) const;

private:
    bool take(std::string_view rest, std::string_view joined_by, std::size_t size,
              std::vector<std::uint32_t>& out) const;

    std::unordered_map<std::string, std::uint32_t> ids_;
};

/// The content of `run.json` in a result folder that has this table; null if it is no such folder.
json read_run(const std::filesystem::path& folder, std::string_view table);

/// The kind of a result, which is "episodes", "windows", "spade", "sort", "assemblies", "replay" or
/// "compare", and the record of its run.
/// @throws io_error if the folder is no result.
std::pair<std::string, json> kind_of(const std::filesystem::path& folder);

/// A document as the text that pages hold.
std::string page_text(const json& document);

}  // namespace spikeweave::report
