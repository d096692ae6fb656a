#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/spade/options.hpp"

namespace spikeweave {
namespace {

template <class Number>
Number number_from(std::string_view text, Number least, Number most, std::string_view expected) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || !(value >= least && value <= most))
        throw invalid_argument(fmt::format("'{}' is not {}", text, expected));
    return value;
}

std::uint32_t count_from(std::string_view text) {
    return number_from<std::uint32_t>(text, 1, UINT32_MAX, "a whole number of at least 1");
}

double share_from(std::string_view text) {
    return number_from<double>(text, 0, 1, "a number from 0 to 1");
}

min_occ_by_size by_size_from(std::string_view text) {
    min_occ_by_size out;
    for (const std::string_view part : core::split(text, ",")) {
        const auto pair = core::split(part, ":");
        if (pair.size() != 2)
            throw invalid_argument(fmt::format("'{}' is not SPIKES:N, such as 3:25", part));
        out.emplace_back(count_from(pair[0]), count_from(pair[1]));
    }
    return out;
}

pattern_rule rule_from(std::string_view text) {
    const auto parts = core::split(text, ":");
    if (parts.size() < 2 || parts.size() > 4)
        throw invalid_argument(
            fmt::format("'{}' is not OCC:SPIKES[:NEU[:MAXSPIKES]], such as 25:3:3", text));
    pattern_rule rule{.min_occ = count_from(parts[0]), .min_spikes = count_from(parts[1])};
    if (parts.size() > 2) rule.min_neu = count_from(parts[2]);
    if (parts.size() > 3) rule.max_spikes = count_from(parts[3]);
    return rule;
}

std::string text_of(const pattern_rule& rule) {
    std::string text = fmt::format("{}:{}", rule.min_occ, rule.min_spikes);
    if (rule.min_neu != 1 || rule.max_spikes > 0) text += fmt::format(":{}", rule.min_neu);
    if (rule.max_spikes > 0) text += fmt::format(":{}", rule.max_spikes);
    return text;
}

}  // namespace

option_value option_codec<min_occ_choice>::show(const min_occ_choice& field) {
    if (const auto* number = std::get_if<std::uint32_t>(&field)) return fmt::format("{}", *number);
    const auto* by_size = std::get_if<min_occ_by_size>(&field);
    if (by_size == nullptr) return "auto";
    std::vector<std::string> parts;
    for (const auto& [spikes, occurrences] : *by_size)
        parts.push_back(fmt::format("{}:{}", spikes, occurrences));
    return fmt::format("{}", fmt::join(parts, ","));
}

min_occ_choice option_codec<min_occ_choice>::read(const option_value& value) {
    const auto& text = std::get<std::string>(value);
    if (text == "auto") return auto_min_occ{};
    if (text.find(':') != std::string::npos) return by_size_from(text);
    return number_from<std::uint32_t>(
        text, 1, UINT32_MAX,
        "a whole number of at least 1, auto, or SPIKES:N,... such as 2:88,3:25,4:12");
}

option_value option_codec<std::vector<pattern_rule>>::show(const std::vector<pattern_rule>& field) {
    if (field.empty()) return nullptr;
    std::vector<std::string> parts;
    parts.reserve(field.size());
    for (const pattern_rule& rule : field) parts.push_back(text_of(rule));
    return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<pattern_rule> option_codec<std::vector<pattern_rule>>::read(const option_value& value) {
    std::vector<pattern_rule> rules;
    for (const std::string_view part : core::split(std::get<std::string>(value), ","))
        rules.push_back(rule_from(part));
    return rules;
}

option_value option_codec<std::array<std::uint32_t, 3>>::show(
    const std::array<std::uint32_t, 3>& field) {
    return fmt::format("{}", fmt::join(field, ","));
}

std::array<std::uint32_t, 3> option_codec<std::array<std::uint32_t, 3>>::read(
    const option_value& value) {
    const auto& text = std::get<std::string>(value);
    const auto parts = core::split(text, ",");
    if (parts.size() != 3)
        throw invalid_argument(fmt::format("'{}' is not H,K,L, such as 2,2,2", text));
    std::array<std::uint32_t, 3> out{};
    for (std::size_t i = 0; i < 3; ++i)
        out[i] = number_from<std::uint32_t>(parts[i], 0, UINT32_MAX, "a whole number");
    return out;
}

option_value option_codec<stability_options>::show(const stability_options& field) {
    if (field.n_subsets > 0) return fmt::format("{}", field.n_subsets);
    return fmt::format("{},{}", field.delta, field.epsilon);
}

stability_options option_codec<stability_options>::read(const option_value& value) {
    const auto& text = std::get<std::string>(value);
    const auto parts = core::split(text, ",");
    if (parts.size() == 1)
        return {.n_subsets = number_from<std::uint64_t>(
                    text, 1, UINT64_MAX, "a whole number of at least 1, nor DELTA,EPSILON")};
    if (parts.size() != 2)
        throw invalid_argument(
            fmt::format("'{}' is neither a number of subsets nor DELTA,EPSILON", text));
    return {.delta = share_from(parts[0]), .epsilon = share_from(parts[1])};
}

option_value option_codec<stability>::show(const stability& field) {
    if (field == stability{}) return nullptr;
    return fmt::format("{},{}", field.intensional, field.extensional);
}

stability option_codec<stability>::read(const option_value& value) {
    const auto& text = std::get<std::string>(value);
    const auto parts = core::split(text, ",");
    if (parts.size() != 2)
        throw invalid_argument(fmt::format("'{}' is not INTENSIONAL,EXTENSIONAL", text));
    return {share_from(parts[0]), share_from(parts[1])};
}

}  // namespace spikeweave
