#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace spikeweave::record {

/// A JSON document whose error messages name the file and the key.
class json_file {
public:
    /// @throws io_error if it cannot be read, is larger than 64 MiB, nested deeper than 64 levels
    /// or not JSON.
    explicit json_file(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    const nlohmann::json& root() const { return root_; }

    // These read the object `in`, whose position is `where` ("" for the document itself).
    // @throws io_error if the key is missing or its value has another type.
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

/// Returns a value as it is in the file, shortened for messages.
std::string shown(const nlohmann::json& value);

/// Returns a finite number. @throws io_error
double finite_number(const json_file& file, const nlohmann::json& value, std::string_view where);

}  // namespace spikeweave::record
