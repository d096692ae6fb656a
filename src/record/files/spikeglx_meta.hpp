#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spikeweave::record {

/// Returns the number that the whole text is.
std::optional<std::uint64_t> whole_number_in(std::string_view text);
std::optional<double> number_in(std::string_view text);

/// The lines `key=value` of a `.meta` file. Keys of lists begin with '~', which is removed. All
/// errors are io_error and name the file and the key.
class meta_file {
public:
    /// @throws io_error if it cannot be read or is larger than 16 MiB.
    explicit meta_file(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    /// Whether there is such a key, with a value.
    bool has(const std::string& key) const;
    const std::string& text(const std::string& key) const;
    /// A number of at least 0.
    double number(const std::string& key) const;
    std::uint64_t whole_number(const std::string& key) const;
    /// As many numbers as `count`, separated by commas.
    std::vector<std::uint64_t> numbers(const std::string& key, std::size_t count) const;
    /// The parts in brackets of "(head)(entry)(entry)".
    std::vector<std::string_view> list(const std::string& key) const;
    [[noreturn]] void fail(const std::string& key, const std::string& why) const;

private:
    std::filesystem::path path_;
    std::map<std::string, std::string> values_;
};

}  // namespace spikeweave::record
