#include "record/files/json_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "io/file_error.hpp"
#include "io/random_file.hpp"

namespace spikeweave::record {
namespace {

std::string place(std::string_view where, const std::string& key) {
    return where.empty() ? fmt::format("key '{}'", key) : fmt::format("{}, key '{}'", where, key);
}

}  // namespace

std::string shown(const nlohmann::json& value) {
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    return io::shown(value.dump(-1, ' ', true, replace));
}

json_file::json_file(std::filesystem::path path) : path_(std::move(path)) {
    constexpr std::uint64_t most = std::uint64_t{1} << 26;
    const io::random_file file(path_);
    if (file.size() > most)
        throw io::file_error(
            path_, fmt::format("has {} bytes, expected at most {} of JSON", file.size(), most));
    std::string text(file.size(), '\0');
    file.read_at(0, text);
    // Showing or copying a value later takes a stack frame per level.
    constexpr int deepest = 64;
    const auto refuse_deep = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > deepest)
            throw io::file_error(
                path_, fmt::format("is nested deeper than {} levels, deeper than in any recording",
                                   deepest));
        return true;
    };
    try {
        root_ = nlohmann::json::parse(text, refuse_deep);
    } catch (const nlohmann::json::parse_error& error) {
        throw io::file_error(path_, fmt::format("byte {}", error.byte),
                             "is not JSON from there on");
    } catch (const nlohmann::json::out_of_range&) {
        throw io::file_error(path_, "holds a number that is too large, expected one up to 1.8e308");
    }
}

void json_file::fail(std::string_view where, std::string_view text) const {
    throw io::file_error(path_, where, text);
}

const nlohmann::json& json_file::at(const nlohmann::json& in, std::string_view where,
                                    const std::string& key) const {
    if (!in.is_object() || !in.contains(key)) fail(place(where, key), "is missing");
    return in.at(key);
}

const nlohmann::json& json_file::array(const nlohmann::json& in, std::string_view where,
                                       const std::string& key) const {
    const nlohmann::json& value = at(in, where, key);
    if (!value.is_array())
        fail(place(where, key), fmt::format("found {}, expected a list", shown(value)));
    return value;
}

double json_file::number(const nlohmann::json& in, std::string_view where,
                         const std::string& key) const {
    return finite_number(*this, at(in, where, key), place(where, key));
}

std::uint64_t json_file::whole(const nlohmann::json& in, std::string_view where,
                               const std::string& key) const {
    const nlohmann::json& value = at(in, where, key);
    if (!value.is_number_unsigned())
        fail(place(where, key),
             fmt::format("found {}, expected a whole number of at least 0", shown(value)));
    return value.get<std::uint64_t>();
}

std::string json_file::text(const nlohmann::json& in, std::string_view where,
                            const std::string& key) const {
    const nlohmann::json& value = at(in, where, key);
    if (!value.is_string())
        fail(place(where, key), fmt::format("found {}, expected text", shown(value)));
    return value.get<std::string>();
}

double finite_number(const json_file& file, const nlohmann::json& value, std::string_view where) {
    if (!value.is_number() || !std::isfinite(value.get<double>()))
        file.fail(where, fmt::format("found {}, expected a number", shown(value)));
    return value.get<double>();
}

}  // namespace spikeweave::record
