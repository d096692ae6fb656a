#include "spikeweave/report/part_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "io/result_folder.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using report::json;

// Parts may differ in what does not change the result.
constexpr std::array<std::string_view, 3> free_parameters{"threads", "device", "max_memory"};

std::string hex_of(std::string_view bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char byte : bytes)
        fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(byte));
    return text;
}

std::optional<std::string> bytes_of(std::string_view hex) {
    std::string bytes;
    bytes.reserve(hex.size() / 2);
    for (std::size_t at = 0; at < hex.size(); at += 2) {
        constexpr int sixteen = 16;
        unsigned char byte = 0;
        const std::string_view two = hex.substr(at, 2);
        const auto [end, error] =
            std::from_chars(two.data(), two.data() + two.size(), byte, sixteen);
        if (error != std::errc{} || end != two.data() + 2) return std::nullopt;
        bytes.push_back(static_cast<char>(byte));
    }
    return bytes;
}

parameter_value value_of(const json& value) {
    if (value.is_null()) return nullptr;
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (value.is_number()) return value.get<double>();
    return value.get<std::string>();
}

part_record record_from(const json& document) {
    part_record out{.verb = document.at("verb"),
                    .part = {document.at("part"), document.at("parts")}};
    out.part.begin(1);  // checks it
    out.run.version = document.at("spikeweave");
    const json& input = document.at("input");
    out.run.input = {input.at("path"), input.at("bytes"), input.at("digest_algorithm"),
                     input.at("digest")};
    for (const auto& [name, value] : document.at("parameters").items())
        out.run.parameters.emplace_back(name, value_of(value));
    for (const auto& [begin_us, label] :
         document.value("epoch_labels", std::vector<std::pair<std::int64_t, std::string>>()))
        out.run.epoch_labels.push_back({duration{begin_us}, label});
    const auto tally = bytes_of(document.at("tally").get<std::string>());
    if (!tally) throw invalid_argument("its tally is damaged");
    out.tally = *tally;
    return out;
}

part_record read_part(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "part.json";
    std::ifstream in = io::open_found(path);
    if (!in)
        throw io::file_error(folder, "expected part.json, which `part` writes, and found none");
    try {
        return record_from(json::parse(in));
    } catch (const json::exception& error) {
        throw io::file_error(path, report::reason_of(error));
    } catch (const invalid_argument& error) {
        throw io::file_error(path, error.what());
    }
}

std::string shown(const parameter_value& value) {
    json text;
    std::visit([&](const auto& held) { text = held; }, value);
    return text.dump();
}

// The difference that makes a part one of another analysis; empty if there is none.
std::string difference(const part_record& a, const part_record& b) {
    const auto differ = [](std::string_view what, const std::string& one,
                           const std::string& other) {
        return fmt::format("{} is {}, not {}", what, one, other);
    };
    if (a.verb != b.verb) return differ("the command", a.verb, b.verb);
    if (a.run.version != b.run.version)
        return differ("the version of spikeweave", a.run.version, b.run.version);
    if (a.part.parts != b.part.parts)
        return differ("the number of parts", fmt::format("{}", a.part.parts),
                      fmt::format("{}", b.part.parts));
    if (a.run.input.digest != b.run.input.digest)
        return fmt::format("{} had another content", a.run.input.path);
    if (a.run.epoch_labels != b.run.epoch_labels) return "the epochs had other labels";
    for (const auto& [name, value] : b.run.parameters) {
        if (std::ranges::find(free_parameters, name) != free_parameters.end()) continue;
        const auto same = [&key = name](const auto& other) { return other.first == key; };
        const auto own = std::ranges::find_if(a.run.parameters, same);
        if (own == a.run.parameters.end() || own->second != value)
            return differ(fmt::format("`{}`", name),
                          own == a.run.parameters.end() ? "missing" : shown(own->second),
                          shown(value));
    }
    return {};
}

void check_complete(const std::vector<part_record>& parts,
                    std::span<const std::filesystem::path> folders) {
    constexpr std::size_t most_named = 10;
    const std::uint32_t number = parts.front().part.parts;
    std::map<std::uint32_t, std::string> folder_of;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto [known, is_new] = folder_of.emplace(parts[i].part.part, folders[i].string());
        if (!is_new)
            throw invalid_argument(fmt::format("part {} of {} is there twice: in {} and in {}",
                                               known->first, number, known->second,
                                               folders[i].string()));
    }
    std::vector<std::uint32_t> missing;
    for (std::uint32_t k = 1; k <= number && missing.size() < most_named; ++k)
        if (!folder_of.contains(k)) missing.push_back(k);
    if (!missing.empty())
        throw invalid_argument(
            fmt::format("{} of {} parts are missing: {}{}", number - folder_of.size(), number,
                        fmt::join(missing, ", "), missing.size() < most_named ? "" : ", …"));
}

}  // namespace

void write_part(const std::filesystem::path& folder, const part_record& part, bool overwrite,
                const execution& run) {
    json document = report::run_json(part.run, "", json::object());
    document["verb"] = part.verb;
    document["part"] = part.part.part;
    document["parts"] = part.part.parts;
    for (const epoch_label& one : part.run.epoch_labels)
        document["epoch_labels"].push_back({one.begin.count(), one.label});
    document["tally"] = hex_of(part.tally);
    io::result_folder out(folder, overwrite, report::files_of(result_kind::part));
    out.write("part.json", report::text_of(document));
    out.commit(run.stop);
}

std::vector<part_record> read_parts(std::span<const std::filesystem::path> folders) {
    if (folders.empty()) throw invalid_argument("expected at least one part, found none");
    std::vector<part_record> parts;
    parts.reserve(folders.size());
    for (const std::filesystem::path& folder : folders) {
        parts.push_back(read_part(folder));
        if (const std::string text = difference(parts.back(), parts.front()); !text.empty())
            throw io::file_error(folder, fmt::format("a part of another analysis than {}: {}",
                                                     folders.front().string(), text));
    }
    check_complete(parts, folders);
    std::ranges::sort(parts, {}, [](const part_record& one) { return one.part.part; });
    return parts;
}

void check_input(const part_record& part, const input_record& input) {
    if (input.digest != part.run.input.digest)
        throw io::file_error(input.path,
                             "the parts were made of other spikes: its content differs");
}

}  // namespace spikeweave
