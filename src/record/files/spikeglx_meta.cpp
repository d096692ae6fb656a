#include "record/files/spikeglx_meta.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "io/random_file.hpp"

namespace spikeweave::record {

std::optional<std::uint64_t> whole_number_in(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

std::optional<double> number_in(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = fast_float::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

meta_file::meta_file(std::filesystem::path path) : path_(std::move(path)) {
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    const io::random_file file(path_);
    if (file.size() > most)
        throw io::file_error(path_,
                             fmt::format("has {} bytes, expected at most {}", file.size(), most));
    std::string text(file.size(), '\0');
    file.read_at(0, text);
    for (std::string_view line : core::split(text, "\n")) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        const std::size_t at = line.find('=');
        if (at == std::string_view::npos) continue;
        std::string_view key = line.substr(0, at);
        if (key.starts_with('~')) key.remove_prefix(1);
        values_.insert_or_assign(std::string(key), std::string(line.substr(at + 1)));
    }
}

bool meta_file::has(const std::string& key) const {
    const auto found = values_.find(key);
    return found != values_.end() && !found->second.empty();
}

const std::string& meta_file::text(const std::string& key) const {
    if (!has(key)) fail(key, "is missing");
    return values_.at(key);
}

double meta_file::number(const std::string& key) const {
    const auto value = number_in(text(key));
    if (!value || *value < 0)
        fail(key, fmt::format("found {}, expected a number", io::shown(text(key))));
    return *value;
}

std::uint64_t meta_file::whole_number(const std::string& key) const {
    const auto value = whole_number_in(text(key));
    if (!value) fail(key, fmt::format("found {}, expected a number", io::shown(text(key))));
    return *value;
}

std::vector<std::uint64_t> meta_file::numbers(const std::string& key, std::size_t count) const {
    const std::string& value = text(key);
    std::vector<std::uint64_t> out;
    // Counted first: a value of 16 MiB has as many parts as it has commas.
    if (static_cast<std::size_t>(std::count(value.begin(), value.end(), ',')) + 1 == count)
        for (const std::string_view part : core::split(value, ","))
            if (const auto number = whole_number_in(part)) out.push_back(*number);
    if (out.size() != count)
        fail(key, fmt::format("found {}, expected {} numbers", io::shown(value), count));
    return out;
}

std::vector<std::string_view> meta_file::list(const std::string& key) const {
    std::string_view rest = text(key);
    std::vector<std::string_view> parts;
    while (!rest.empty()) {
        const std::size_t end = rest.find(')');
        if (rest.front() != '(' || end == std::string_view::npos)
            fail(key, fmt::format("found {}, expected (…)", io::shown(rest)));
        parts.push_back(rest.substr(1, end - 1));
        rest.remove_prefix(end + 1);
    }
    return parts;
}

void meta_file::fail(const std::string& key, const std::string& why) const {
    throw io::file_error(path_, fmt::format("key '{}'", key), why);
}

}  // namespace spikeweave::record
