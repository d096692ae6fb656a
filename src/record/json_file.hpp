#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace spikeweave {

/// A JSON document whose complaints name the file and the key.
class json_file {
public:
    /// @throws io_error when it cannot be read, is larger than 64 MiB, nested deeper than 64 levels
    /// or no JSON.
    explicit json_file(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    const nlohmann::json& root() const { return root_; }

    // Of the object `in`, which stands at `where` ("" for the document itself).
    // @throws io_error when there is no such key, or another kind of value.
    const nlohmann::json& at(const nlohmann::json& in, std::string_view where,
                             const std::string& key) const;
    const nlohmann::json& array(const nlohmann::json& in, std::string_view where,
                                const std::string& key) const;
    double number(const nlohmann::json& in, std::string_view where, const std::string& key) const;
    std::uint64_t whole(const nlohmann::json& in, std::string_view where,
                        const std::string& key) const;
    std::string text(const nlohmann::json& in, std::string_view where,
                     const std::string& key) const;

    [[noreturn]] void fail(std::string_view where, std::string_view text) const;

private:
    std::filesystem::path path_;
    nlohmann::json root_;
};

/// A value as it stands in a file, shortened: for messages.
std::string shown(const nlohmann::json& value);

/// A finite number. @throws io_error
double finite_number(const json_file& file, const nlohmann::json& value, std::string_view where);

}  // namespace spikeweave
