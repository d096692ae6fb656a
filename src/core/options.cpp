#include "spikeweave/core/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/text.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/length.hpp"
#include "spikeweave/core/nearest_name.hpp"

namespace spikeweave {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

std::uint64_t bytes_in(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 7> units{{{"B", 1.0},
                                                                        {"kB", 1e3},
                                                                        {"MB", 1e6},
                                                                        {"GB", 1e9},
                                                                        {"KiB", 0x1p10},
                                                                        {"MiB", 0x1p20},
                                                                        {"GiB", 0x1p30}}};
    const std::size_t unit_at = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = number_in<double>(text.substr(0, unit_at));
    std::string_view unit = text.substr(unit_at);
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    for (const auto& [name, factor] : units) {
        if (name != unit || !number) continue;
        const double value = *number * factor;
        if (value >= 1 && value < 0x1p63) return static_cast<std::uint64_t>(value);
    }
    throw invalid_argument(fmt::format(
        "'{}' is not an amount of memory (expected a number with its unit, such as 2GB or 512MiB)",
        text));
}

// A value as a number that can be compared with the bounds; times are in seconds.
std::optional<double> measure(const option_value& value) {
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* time = std::get_if<duration>(&value)) return to_seconds(*time);
    return {};
}

std::string shown(const option& one, const option_value& value) {
    if (std::holds_alternative<std::nullptr_t>(value)) return "none";
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *whole);
    if (const auto* number = std::get_if<double>(&value))
        return one.kind == option_kind::length ? format_length(*number)
                                               : fmt::format("{}", *number);
    if (const auto* time = std::get_if<duration>(&value)) return format_duration(*time);
    return std::get<std::string>(value);
}

bool is_within(const option& one, double value) {
    return std::isfinite(value) && value <= one.most &&
           (one.above_least ? value > one.least : value >= one.least);
}

// Whether the field is a double.
bool is_real(option_kind kind) {
    return kind == option_kind::number || kind == option_kind::length;
}

option_value zero_of(option_kind kind) {
    if (is_real(kind)) return 0.0;
    if (kind == option_kind::time) return duration{0};
    return std::uint64_t{0};
}

// "100ms" where a number is expected.
bool is_number_with_unit(option_kind kind, std::string_view text) {
    const auto ends_unit = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%';
    };
    if (text.empty()) return false;
    return (kind == option_kind::whole || kind == option_kind::number) &&
           core::is_digit(text.front()) && ends_unit(text.back());
}

option_value value_in(const option& one, std::string_view text) {
    if (!one.zero_name.empty() && text == one.zero_name) return zero_of(one.kind);
    std::optional<option_value> value;
    switch (one.kind) {
        case option_kind::flag:
            if (text == "yes" || text == "no") value = text == "yes";
            break;
        case option_kind::whole:
            if (const auto whole = number_in<std::uint64_t>(text)) value = *whole;
            break;
        case option_kind::number:
            if (const auto number = number_in<double>(text)) value = *number;
            break;
        case option_kind::length:
            value = parse_length(text);
            break;
        case option_kind::time:
            value = parse_duration(text);
            break;
        case option_kind::memory:
            value = bytes_in(text);
            break;
        case option_kind::choice:
        case option_kind::text:
            return std::string(text);
    }
    const std::optional<double> size = value ? measure(*value) : std::nullopt;
    if (!value || (size && !is_within(one, *size)))
        throw invalid_argument(fmt::format(
            "'{}' is not {}{}", text, one.expected(),
            is_number_with_unit(one.kind, text) ? " (expected a number without a unit)" : ""));
    return *value;
}

// Replaces each name between backquotes, and each name with a value, such as `surrogates=200`.
template <class Spell>
std::string respelled(std::string_view message, Spell spell) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    std::string out;
    for (;;) {
        const std::size_t begin = message.find('`');
        if (begin == std::string_view::npos) return out.append(message);
        const std::size_t end = message.find_first_not_of(letters, begin + 1);
        const bool has_value = end != std::string_view::npos && message[end] == '=';
        const std::size_t last = has_value ? message.find_first_of("` ", end) : end;
        if (last == std::string_view::npos || message[last] != '`' || end == begin + 1) {
            out.append(message.substr(0, begin + 1));
            message.remove_prefix(begin + 1);
            continue;
        }
        out.append(message.substr(0, begin));
        const std::string_view value = has_value ? message.substr(end + 1, last - end - 1) : "";
        out.append(spell(message.substr(begin + 1, end - begin - 1), value));
        message.remove_prefix(last + 1);
    }
}

}  // namespace

namespace detail {

bool same_name(std::string_view known, std::string_view name) {
    const auto plain = [](char c) { return c == '-' ? '_' : c; };
    return std::ranges::equal(known, name, {}, plain, plain);
}

void refuse_name(std::string_view what, std::string_view found,
                 const std::vector<std::string>& names) {
    throw invalid_argument(fmt::format("no {} is named '{}'; there are {}{}", what, found,
                                       fmt::join(names, ", "),
                                       did_you_mean(nearest_name(found, names))));
}

}  // namespace detail

option_value option_codec<std::filesystem::path>::show(const std::filesystem::path& field) {
    if (field.empty()) return nullptr;
    return field.string();
}

std::filesystem::path option_codec<std::filesystem::path>::read(const option_value& value) {
    if (std::holds_alternative<std::nullptr_t>(value)) return {};
    const auto& text = std::get<std::string>(value);
    if (text.empty()) throw invalid_argument("expected a path, found an empty text");
    return text;
}

option_value option_codec<std::vector<std::string>>::show(const std::vector<std::string>& field) {
    if (field.empty()) return nullptr;
    return fmt::format("{}", fmt::join(field, ","));
}

std::vector<std::string> option_codec<std::vector<std::string>>::read(const option_value& value) {
    if (std::holds_alternative<std::nullptr_t>(value)) return {};
    const auto& text = std::get<std::string>(value);
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        std::string name = text.substr(begin, end - begin);
        if (name.empty()) throw invalid_argument(fmt::format("a name is empty in '{}'", text));
        if (std::ranges::find(names, name) != names.end())
            throw invalid_argument(fmt::format("'{}' is given twice", name));
        names.push_back(std::move(name));
        begin = end + 1;
    }
    return names;
}

option_value option_codec<std::vector<std::uint32_t>>::show(
    const std::vector<std::uint32_t>& field) {
    if (field.empty()) return nullptr;
    return fmt::format("{}", fmt::join(field, ","));
}

std::vector<std::uint32_t> option_codec<std::vector<std::uint32_t>>::read(
    const option_value& value) {
    std::vector<std::uint32_t> numbers;
    for (const std::string& text : option_codec<std::vector<std::string>>::read(value)) {
        const auto number = number_in<std::uint32_t>(text);
        if (!number) throw invalid_argument(fmt::format("'{}' is not a whole number", text));
        numbers.push_back(*number);
    }
    return numbers;
}

option_value option_codec<std::optional<std::vector<int>>>::show(
    const std::optional<std::vector<int>>& field) {
    return format_devices(field);
}

std::optional<std::vector<int>> option_codec<std::optional<std::vector<int>>>::read(
    const option_value& value) {
    return parse_devices(std::get<std::string>(value));
}

std::string option::expected() const {
    if (kind == option_kind::choice) return fmt::format("one of {}", fmt::join(choices, ", "));
    if (kind == option_kind::flag) return "yes or no";
    if (kind == option_kind::memory) return "an amount of memory";
    const std::string what = kind == option_kind::whole    ? "a whole number"
                             : kind == option_kind::time   ? "a time"
                             : kind == option_kind::length ? "a length"
                                                           : "a number";
    const auto bound = [&](double value) {
        if (kind == option_kind::time) return format_duration(duration_from_seconds(value));
        return kind == option_kind::length ? format_length(value) : fmt::format("{:g}", value);
    };
    // A whole number above 0 is one of at least 1.
    const bool starts_after = above_least && kind != option_kind::whole;
    std::string text = what;
    if (std::isfinite(least))
        text += starts_after ? fmt::format(" above {}", bound(least))
                             : fmt::format(" of at least {}", bound(least + (above_least ? 1 : 0)));
    constexpr double of_32_bits = std::numeric_limits<std::uint32_t>::max();
    if (std::isfinite(most) && (kind != option_kind::whole || most < of_32_bits))
        text += fmt::format("{} at most {}", std::isfinite(least) ? " and" : " of", bound(most));
    if (!zero_name.empty()) text += fmt::format(", or {}", zero_name);
    return text;
}

void option::set(const option_value& value) const {
    if (std::holds_alternative<std::nullptr_t>(value) && zero_is_unset) return put(zero_of(kind));
    const auto* const text = std::get_if<std::string>(&value);
    if (text != nullptr && !zero_name.empty() && *text == zero_name) return put(zero_of(kind));
    const std::optional<double> size = measure(value);
    if (size && !is_within(*this, *size))
        throw invalid_argument(
            name, fmt::format("expected {}, found {}", expected(), shown(*this, value)));
    take(value);
}

void option::take(const option_value& value) const {
    try {
        if (kind == option_kind::choice) check_choice(value);
        put(value);
        if (rule) rule();
    } catch (const invalid_argument& error) {
        throw invalid_argument(name, error.what());
    } catch (const std::bad_variant_access&) {  // such as a flag for a time
        throw invalid_argument(
            name, fmt::format("expected {}, found {}", expected(), shown(*this, value)));
    }
}

// Names the choices that this option has, which may be fewer than the enumeration's.
void option::check_choice(const option_value& value) const {
    try {
        put(value);
    } catch (const invalid_argument&) {
        const std::string found = shown(*this, value);
        throw invalid_argument(fmt::format("expected {}, found '{}'{}", expected(), found,
                                           did_you_mean(nearest_name(found, choices))));
    }
}

void option::set_text(std::string_view text) const {
    std::optional<option_value> value;
    try {
        value = value_in(*this, text);
    } catch (const invalid_argument& error) {
        throw invalid_argument(name, error.what());
    }
    take(*value);
}

void option::set_list(const std::vector<std::string>& elements) const {
    *std::any_cast<std::vector<std::string>*>(field) = elements;
    check_rule();
}

void option::check() const {
    if (is_required && !is_set())
        throw invalid_argument(name, fmt::format("expected {}, found none", expected()));
    const option_value value = get();
    const std::optional<double> size = measure(value);
    const bool is_named = !zero_name.empty() && size == 0;
    if (size && !is_named && !is_within(*this, *size) && is_set())
        throw invalid_argument(
            name, fmt::format("expected {}, found {}", expected(), shown(*this, value)));
    check_rule();
}

void option::check_rule() const {
    try {
        if (rule) rule();
    } catch (const invalid_argument& error) {
        throw invalid_argument(name, error.what());
    }
}

option_value option::value() const {
    option_value value = get();
    if (measure(value) != 0) return value;
    if (zero_is_unset) return nullptr;
    return zero_name.empty() ? value : zero_name;
}

bool option::is_set() const {
    return !std::holds_alternative<std::nullptr_t>(value());
}

void option_list::add_all(option_list others) {
    std::ranges::move(others.options_, std::back_inserter(options_));
    std::ranges::move(others.moved_, std::back_inserter(moved_));
}

void option_list::add_moved(const std::vector<std::string>& names, const std::string& instead) {
    for (const std::string& name : names) moved_.push_back({name, instead});
}

void option_list::put_last(std::string_view heading) {
    std::stable_partition(options_.begin(), options_.end(),
                          [&](const option& one) { return one.group != heading; });
}

bool option_list::has(std::string_view name) const {
    return std::ranges::find(options_, name, &option::name) != options_.end();
}

const option& option_list::find(std::string_view name) const {
    const auto at = std::ranges::find(options_, name, &option::name);
    if (at == options_.end()) throw invalid_argument(fmt::format("there is no option '{}'", name));
    return *at;
}

option& option_list::change(std::string_view name) {
    return const_cast<option&>(find(name));
}

void option_list::remove(std::string_view name) {
    std::erase_if(options_, [&](const option& one) { return one.name == name; });
    for (option& one : options_) {
        std::erase(one.excludes, name);
        if (one.needs == name) one.needs.clear();
    }
}

void option_list::check() const {
    for (const option& one : options_) {
        one.check();
        if (!one.may_be_unset || !one.is_set()) continue;
        for (const std::string& other : one.excludes)
            if (find(other).may_be_unset && find(other).is_set())
                throw invalid_argument(one.name,
                                       fmt::format("cannot be given together with `{}`", other));
    }
}

std::string option_list::usual_placeholder(option_kind kind) {
    switch (kind) {
        case option_kind::flag:
            return {};
        case option_kind::whole:
            return "N";
        case option_kind::number:
            return "X";
        case option_kind::length:
            return "LENGTH";
        case option_kind::time:
            return "TIME";
        case option_kind::memory:
            return "SIZE";
        case option_kind::choice:
            return "NAME";
        case option_kind::text:
            return "TEXT";
    }
    return {};
}

parameter_list parameters_of(const option_list& options) {
    parameter_list list;
    for (const option& one : options) {
        std::visit(
            [&]<class Value>(const Value& value) {
                if constexpr (std::is_same_v<Value, duration>)
                    list.emplace_back(one.name, format_duration(value));
                else
                    list.emplace_back(one.name, value);
            },
            one.value());
    }
    return list;
}

void set_parameters(const option_list& options, const parameter_list& values) {
    for (const auto& [name, given] : values) {
        const option& one = options.find(name);
        if (std::holds_alternative<std::nullptr_t>(given)) {
            if (one.is_set()) one.set(nullptr);
        } else if (const auto* text = std::get_if<std::string>(&given)) {
            one.set_text(*text);
        } else if (const auto* flag = std::get_if<bool>(&given)) {
            one.set(*flag);
        } else if (const auto* number = std::get_if<double>(&given)) {
            one.set(*number);
        } else {
            const auto whole = std::get<std::uint64_t>(given);
            // A whole number in a file may be a number with a fraction that is 0.
            is_real(one.kind) ? one.set(static_cast<double>(whole)) : one.set(whole);
        }
    }
}

std::string default_of(const option& one) {
    if (one.is_required) return {};
    if (!one.default_text.empty() || one.kind == option_kind::flag) return one.default_text;
    const option_value value = one.get();
    return std::holds_alternative<std::nullptr_t>(value) ? std::string() : shown(one, value);
}

std::string command_line_name(std::string_view option, bool off) {
    std::string name = (off ? "--no-" : "--") + std::string(option);
    std::ranges::replace(name, '_', '-');
    return name;
}

std::string with_command_line_names(std::string_view message) {
    return respelled(core::printable_text(message),
                     [](std::string_view name, std::string_view value) {
                         std::string out = command_line_name(name);
                         if (!value.empty()) out.append(" ").append(value);
                         return out;
                     });
}

std::string with_plain_names(std::string_view message) {
    return respelled(core::printable_text(message),
                     [](std::string_view name, std::string_view value) {
                         if (value.empty()) return std::string(name);
                         const std::string_view quote = number_in<double>(value) ? "" : "\"";
                         return fmt::format("{}={}{}{}", name, quote, value, quote);
                     });
}

}  // namespace spikeweave
