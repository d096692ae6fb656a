#include "described_arguments.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "arrays.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/pipeline/spade_options.hpp"

namespace spikeweave::python {
namespace {

delay_interval interval_of(const char* name, nb::handle value) {
    constexpr const char* expected = "delay intervals such as (0.001, 0.005) or '1-5ms'";
    if (nb::isinstance<nb::str>(value)) return parse_delay_interval(nb::cast<std::string>(value));
    if (keyword_arguments::length(value) != 2U) refuse_type(name, expected, value);
    const nb::list bounds = keyword_arguments::items(name, value);
    return {keyword_arguments::time(name, bounds[0]), keyword_arguments::time(name, bounds[1])};
}

// One interval stands for a list of one.
bool is_interval(nb::handle value) {
    if (keyword_arguments::length(value) != 2U) return false;
    const nb::object first = value[nb::int_(0)];
    return !keyword_arguments::length(first);
}

void take(const char* name, nb::handle value, std::vector<delay_interval>& into) {
    if (nb::isinstance<nb::str>(value)) {
        into = parse_delays(nb::cast<std::string>(value));
        return;
    }
    into.clear();
    if (is_interval(value)) return into.push_back(interval_of(name, value));
    for (const nb::handle one : keyword_arguments::items(name, value))
        into.push_back(interval_of(name, one));
}

void take(const char* name, nb::handle value, std::vector<std::string>& into) {
    into.clear();
    for (const nb::handle one : keyword_arguments::items(name, value))
        into.push_back(keyword_arguments::text(name, one));
}

std::uint32_t whole_32(const char* name, nb::handle value, std::int64_t least) {
    return static_cast<std::uint32_t>(keyword_arguments::whole(name, value, least, UINT32_MAX));
}

// A number, "auto", or a mapping from sizes to numbers.
void take(const char* name, nb::handle value, min_occ_choice& into) {
    if (nb::isinstance<nb::str>(value)) {
        if (nb::cast<std::string>(value) != "auto")
            refuse_type(name, "a number, 'auto' or {spikes: number}", value);
        into = auto_min_occ{};
    } else if (nb::isinstance<nb::dict>(value)) {
        min_occ_by_size by_size;
        for (const auto& [size, number] : nb::borrow<nb::dict>(value))
            by_size.emplace_back(whole_32(name, size, 1), whole_32(name, number, 1));
        std::ranges::sort(by_size);
        into = std::move(by_size);
    } else {
        into = whole_32(name, value, 1);
    }
}

constexpr std::pair<const char*, std::uint32_t pattern_rule::*> thresholds[]{
    {"min_occ", &pattern_rule::min_occ},
    {"min_spikes", &pattern_rule::min_spikes},
    {"max_spikes", &pattern_rule::max_spikes},
    {"min_neu", &pattern_rule::min_neu}};

// Each rule is a mapping from the names of its thresholds to numbers.
void take(const char* name, nb::handle value, std::vector<pattern_rule>& into) {
    into.clear();
    for (const nb::handle one : keyword_arguments::items(name, value)) {
        if (!nb::isinstance<nb::dict>(one))
            refuse_type(name, "mappings such as {'min_occ': 10, 'min_spikes': 3}", one);
        keyword_arguments given{nb::borrow<nb::dict>(one)};
        pattern_rule rule;
        for (const auto& [threshold, field] : thresholds) given.take(threshold, rule.*field);
        given.check_all_known();
        into.push_back(rule);
    }
}

void take(const char* name, nb::handle value, std::vector<time_span>& into) {
    into.clear();
    for (const nb::handle one : keyword_arguments::items(name, value)) {
        const nb::list ends = keyword_arguments::items(name, one);
        if (nb::len(ends) != 2) refuse_type(name, "pairs of a begin and an end", one);
        into.push_back(
            {keyword_arguments::time(name, ends[0]), keyword_arguments::time(name, ends[1])});
    }
}

// As many elements as `expected` says.
nb::list items_of(const char* name, nb::handle value, std::size_t count, const char* expected) {
    nb::list items = keyword_arguments::items(name, value);
    if (nb::len(items) != count)
        throw invalid_argument("expected " + std::string(expected) + ", found " +
                               std::to_string(nb::len(items)));
    return items;
}

void take(const char* name, nb::handle value, std::optional<std::array<std::uint32_t, 3>>& into) {
    const nb::list numbers = items_of(name, value, 3, "three numbers h, k, l");
    into.emplace();
    for (std::size_t i = 0; i < 3; ++i) (*into)[i] = whole_32(name, numbers[i], 0);
}

// A number of subsets, or (delta, epsilon).
void take(const char* name, nb::handle value, std::optional<stability_options>& into) {
    into.emplace();
    if (keyword_arguments::length(value)) {
        const nb::list both = items_of(name, value, 2, "a number, or two: (delta, epsilon)");
        into->delta = keyword_arguments::number(name, both[0]);
        into->epsilon = keyword_arguments::number(name, both[1]);
    } else {
        into->n_subsets =
            keyword_arguments::whole(name, value, 0, std::numeric_limits<std::uint64_t>::max());
    }
}

void take(const char* name, nb::handle value, stability& into) {
    const nb::list both = items_of(name, value, 2, "two numbers (intensional, extensional)");
    into = {keyword_arguments::number(name, both[0]), keyword_arguments::number(name, both[1])};
}

bool is_path(nb::handle value) {
    return nb::isinstance<nb::str>(value) || nb::hasattr(value, "__fspath__");
}

void take(const char* name, nb::handle value, std::filesystem::path& into) {
    if (!is_path(value)) refuse_type(name, "a path", value);
    into = nb::cast<std::filesystem::path>(value);
    if (into.empty()) throw invalid_argument(name, "expected a path, found an empty text");
}

void take(const char* name, nb::handle value, std::vector<std::uint32_t>& into) {
    into.clear();
    for (const nb::handle one : keyword_arguments::items(name, value))
        into.push_back(static_cast<std::uint32_t>(
            keyword_arguments::whole(name, one, 0, std::numeric_limits<std::uint32_t>::max())));
}

void take(const char* name, nb::handle value, start_clusters& into) {
    into = {};
    if (is_path(value)) return take(name, value, into.file);
    take(name, value, into.labels);
}

nb::object shown(const std::filesystem::path& path) {
    return path.empty() ? nb::object(nb::none()) : nb::cast(path.string());
}

nb::object shown(const std::vector<std::uint32_t>& numbers) {
    return numbers.empty() ? nb::object(nb::none()) : nb::cast(numbers);
}

nb::object shown(const start_clusters& start) {
    if (!start.file.empty()) return shown(start.file);
    return start.labels.empty() ? nb::object(nb::none())
                                : nb::cast(to_numpy(std::span{start.labels}));
}

nb::object shown(const std::vector<delay_interval>& delays) {
    nb::list out;
    for (const delay_interval& delay : delays)
        out.append(nb::make_tuple(to_seconds(delay.low), to_seconds(delay.high)));
    return out;
}

nb::object shown(const std::vector<std::string>& names) {
    return names.empty() ? nb::object(nb::none()) : nb::cast(names);
}

nb::object shown(const min_occ_choice& choice) {
    if (const auto* number = std::get_if<std::uint32_t>(&choice)) return nb::cast(*number);
    const auto* by_size = std::get_if<min_occ_by_size>(&choice);
    if (by_size == nullptr) return nb::str("auto");
    nb::dict out;
    for (const auto& [size, number] : *by_size) out[nb::cast(size)] = number;
    return out;
}

nb::object shown(const std::vector<pattern_rule>& rules) {
    nb::list out;
    for (const pattern_rule& rule : rules) {
        nb::dict one;
        for (const auto& [threshold, field] : thresholds) one[threshold] = rule.*field;
        out.append(one);
    }
    return out;
}

nb::object shown(const std::vector<time_span>& epochs) {
    nb::list out;
    for (const time_span& epoch : epochs)
        out.append(nb::make_tuple(to_seconds(epoch.begin), to_seconds(epoch.end)));
    return out;
}

nb::object shown(const std::optional<std::array<std::uint32_t, 3>>& numbers) {
    return nb::make_tuple((*numbers)[0], (*numbers)[1], (*numbers)[2]);
}

nb::object shown(const std::optional<stability_options>& stable) {
    if (stable->n_subsets > 0) return nb::cast(stable->n_subsets);
    return nb::make_tuple(stable->delta, stable->epsilon);
}

nb::object shown(const stability& thresholds) {
    return nb::make_tuple(thresholds.intensional, thresholds.extensional);
}

template <class Field, class Work>
bool with_field_of_type(const option& one, Work& work) {
    auto* const* const field = std::any_cast<Field*>(&one.field);
    if (field != nullptr) work(**field);
    return field != nullptr;
}

// Calls `work` with the field if it has one of the types that Python has a richer form of.
template <class Work>
bool with_rich_field(const option& one, Work work) {
    return with_field_of_type<std::vector<delay_interval>>(one, work) ||
           with_field_of_type<std::vector<std::string>>(one, work) ||
           with_field_of_type<min_occ_choice>(one, work) ||
           with_field_of_type<std::vector<pattern_rule>>(one, work) ||
           with_field_of_type<std::vector<time_span>>(one, work) ||
           with_field_of_type<std::optional<std::array<std::uint32_t, 3>>>(one, work) ||
           with_field_of_type<std::optional<stability_options>>(one, work) ||
           with_field_of_type<stability>(one, work) ||
           with_field_of_type<std::filesystem::path>(one, work) ||
           with_field_of_type<std::vector<std::uint32_t>>(one, work) ||
           with_field_of_type<start_clusters>(one, work);
}

std::string_view type_name(const std::vector<delay_interval>& /*delays*/) {
    return "Delays";
}
std::string_view type_name(const std::vector<std::string>& /*names*/) {
    return "Units";
}
std::string_view type_name(const min_occ_choice& /*choice*/) {
    return "MinOcc";
}
std::string_view type_name(const std::vector<pattern_rule>& /*rules*/) {
    return "Rules";
}
std::string_view type_name(const std::vector<time_span>& /*epochs*/) {
    return "Epochs";
}
std::string_view type_name(const std::optional<std::array<std::uint32_t, 3>>& /*numbers*/) {
    return "Triple";
}
std::string_view type_name(const std::optional<stability_options>& /*stable*/) {
    return "Stability";
}
std::string_view type_name(const stability& /*thresholds*/) {
    return "Pair";
}
std::string_view type_name(const std::filesystem::path& /*path*/) {
    return "FilePath";
}
std::string_view type_name(const std::vector<std::uint32_t>& /*numbers*/) {
    return "Clusters";
}
std::string_view type_name(const start_clusters& /*start*/) {
    return "StartClusters";
}

// The option's type for signatures, by the names of python/spikeweave/_values/types.py.
std::string_view type_of(const option& one) {
    std::string_view rich;
    if (with_rich_field(one, [&](const auto& field) { rich = type_name(field); })) return rich;
    switch (one.kind) {
        case option_kind::flag:
            return "bool";
        case option_kind::whole:
        case option_kind::memory:
            return one.zero_name.empty() ? "int" : "IntOrAuto";
        case option_kind::number:
            return "float";
        case option_kind::time:
            return "Time";
        case option_kind::choice:
        case option_kind::text:
            return "str";
    }
    return "";
}

option_value value_of(const option& one, nb::handle value) {
    const char* const name = one.name.c_str();
    switch (one.kind) {
        case option_kind::flag: {
            bool flag = false;
            keyword_arguments::read(name, value, flag);
            return flag;
        }
        case option_kind::whole:
        case option_kind::memory:
            if (nb::isinstance<nb::str>(value) && !one.zero_name.empty() &&
                nb::cast<std::string>(value) == one.zero_name)
                return one.zero_name;
            return keyword_arguments::whole(name, value, 0,
                                            std::numeric_limits<std::uint64_t>::max());
        case option_kind::number:
            return keyword_arguments::number(name, value);
        case option_kind::time:
            return keyword_arguments::time(name, value);
        case option_kind::choice:
        case option_kind::text:
            return keyword_arguments::text(name, value);
    }
    return nullptr;
}

nb::object argument_of(const option& one) {
    nb::object out = nb::none();
    if (!one.is_set() || with_rich_field(one, [&](const auto& field) { out = shown(field); }))
        return out;
    const option_value value = one.get();
    const auto* const number_of = std::get_if<std::uint64_t>(&value);
    if (number_of != nullptr && *number_of == 0 && !one.zero_name.empty())
        return nb::str(one.zero_name.data(), one.zero_name.size());
    if (const auto* time = std::get_if<duration>(&value)) return nb::cast(to_seconds(*time));
    if (const auto* flag = std::get_if<bool>(&value)) return nb::cast(*flag);
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return nb::cast(*whole);
    if (const auto* number = std::get_if<double>(&value)) return nb::cast(*number);
    const auto& text = std::get<std::string>(value);
    return nb::str(text.data(), text.size());
}

}  // namespace

void take_described(keyword_arguments& how, const option_list& options) {
    for (const option& one : options) {
        const auto value = how.find(one.name.c_str());
        if (!value) continue;
        keyword_arguments::naming(one.name.c_str(), [&] {
            const bool is_rich =
                with_rich_field(one, [&](auto& field) { take(one.name.c_str(), *value, field); });
            if (!is_rich) one.set(value_of(one, *value));
        });
    }
    options.check();
}

nb::dict arguments_of(const option_list& options) {
    nb::dict out;
    for (const option& one : options) out[one.name.c_str()] = argument_of(one);
    return out;
}

nb::list description_of(const option_list& options) {
    nb::list out;
    for (const option& one : options) {
        const option_value value = one.get();
        const auto* const flag = std::get_if<bool>(&value);
        const bool on = flag != nullptr && *flag;
        nb::dict entry;
        entry["name"] = one.name;
        entry["help"] = one.help;
        entry["help_off"] = one.help_off;
        const std::string_view type = type_of(one);
        entry["type"] = nb::str(type.data(), type.size());
        entry["choices"] = nb::cast(one.choices);
        entry["group"] = one.group;
        entry["default"] = argument_of(one);
        entry["default_shown"] = default_of(one);
        entry["placeholder"] = one.placeholder;
        entry["command_line"] = command_line_name(one.name, on);
        out.append(entry);
    }
    return out;
}

}  // namespace spikeweave::python
