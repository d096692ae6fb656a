#include "bindings/core/options.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "bindings/core/arguments.hpp"
#include "bindings/core/arrays.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/pipeline/spade/options.hpp"

namespace spikeweave::python {
namespace {

std::uint32_t whole_32(const char* name, nb::handle value, std::uint64_t least = 0) {
    return static_cast<std::uint32_t>(whole_of(name, value, least, UINT32_MAX));
}

// Returns the elements if there are as many as `expected` says.
nb::list exactly(std::size_t count, const char* expected, const char* name, nb::handle value) {
    nb::list items = items_of(name, value);
    if (nb::len(items) != count)
        throw invalid_argument("expected " + std::string(expected) + ", found " +
                               std::to_string(nb::len(items)));
    return items;
}

template <class Value, class Read>
void take_list(const char* name, nb::handle value, std::vector<Value>& into, Read read) {
    into.clear();
    for (const nb::handle one : items_of(name, value)) into.push_back(read(name, one));
}

// How Python gives and shows the fields of a type. The library calls none of these with a field
// that is not set.

delay_interval interval(const char* name, nb::handle value) {
    if (nb::isinstance<nb::str>(value)) return parse_delay_interval(text_of(name, value));
    if (length_of(value) != 2U)
        refuse_type(name, "delay intervals such as (0.001, 0.005) or '1-5ms'", value);
    const nb::list bounds = items_of(name, value);
    return {time_of(name, bounds[0]), time_of(name, bounds[1])};
}
// One interval stands for a list of one.
void take(const char* name, nb::handle value, std::vector<delay_interval>& into) {
    if (nb::isinstance<nb::str>(value))
        into = parse_delays(text_of(name, value));
    else if (length_of(value) == 2U && !length_of(nb::object(value[nb::int_(0)])))
        into = {interval(name, value)};
    else
        take_list(name, value, into, interval);
}
nb::object show(const std::vector<delay_interval>& value) {
    return list_of(value, [](const delay_interval& one) {
        return nb::make_tuple(to_seconds(one.low), to_seconds(one.high));
    });
}

// The value is a number, "auto", or a mapping from sizes to numbers.
void take(const char* name, nb::handle value, min_occ_choice& into) {
    if (nb::isinstance<nb::str>(value)) {
        if (text_of(name, value) != "auto")
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
nb::object show(const min_occ_choice& value) {
    if (const auto* number = std::get_if<std::uint32_t>(&value)) return nb::cast(*number);
    const auto* by_size = std::get_if<min_occ_by_size>(&value);
    if (by_size == nullptr) return nb::str("auto");
    nb::dict out;
    for (const auto& [size, number] : *by_size) out[nb::cast(size)] = number;
    return out;
}

// Each rule is a mapping from the names of its thresholds to numbers.
constexpr std::array<std::pair<const char*, std::uint32_t pattern_rule::*>, 4> thresholds{
    {{"min_occ", &pattern_rule::min_occ},
     {"min_spikes", &pattern_rule::min_spikes},
     {"max_spikes", &pattern_rule::max_spikes},
     {"min_neu", &pattern_rule::min_neu}}};

pattern_rule rule(const char* name, nb::handle value) {
    if (!nb::isinstance<nb::dict>(value))
        refuse_type(name, "mappings such as {'min_occ': 10, 'min_spikes': 3}", value);
    pattern_rule out;
    for (const auto& [key, number] : nb::borrow<nb::dict>(value)) {
        const std::string given = text_of(name, key);
        const auto* const known =
            std::ranges::find(thresholds, given, [](const auto& one) { return one.first; });
        if (known == thresholds.end()) refuse_argument(given);
        if (!number.is_none()) out.*known->second = whole_32(known->first, number);
    }
    return out;
}
void take(const char* name, nb::handle value, std::vector<pattern_rule>& into) {
    take_list(name, value, into, rule);
}
nb::object show(const std::vector<pattern_rule>& value) {
    return list_of(value, [](const pattern_rule& one) {
        nb::dict out;
        for (const auto& [name, threshold] : thresholds) out[name] = one.*threshold;
        return out;
    });
}

time_span epoch(const char* name, nb::handle value) {
    const nb::list ends = items_of(name, value);
    if (nb::len(ends) != 2) refuse_type(name, "pairs of a begin and an end", value);
    return {time_of(name, ends[0]), time_of(name, ends[1])};
}
void take(const char* name, nb::handle value, std::vector<time_span>& into) {
    take_list(name, value, into, epoch);
}
nb::object show(const std::vector<time_span>& value) {
    return list_of(value, [](const time_span& one) {
        return nb::make_tuple(to_seconds(one.begin), to_seconds(one.end));
    });
}

void take(const char* name, nb::handle value, std::optional<std::array<std::uint32_t, 3>>& into) {
    const nb::list given = exactly(3, "three numbers h, k, l", name, value);
    into = {whole_32(name, given[0]), whole_32(name, given[1]), whole_32(name, given[2])};
}
nb::object show(const std::optional<std::array<std::uint32_t, 3>>& value) {
    return nb::make_tuple(value->at(0), value->at(1), value->at(2));
}

// The value is a number of subsets, or (delta, epsilon).
void take(const char* name, nb::handle value, std::optional<stability_options>& into) {
    into.emplace();
    if (!length_of(value)) {
        into->n_subsets = whole_of(name, value);
        return;
    }
    const nb::list both = exactly(2, "a number, or two: (delta, epsilon)", name, value);
    into->delta = number_of(name, both[0]);
    into->epsilon = number_of(name, both[1]);
}
nb::object show(const std::optional<stability_options>& value) {
    if (value->n_subsets > 0) return nb::cast(value->n_subsets);
    return nb::make_tuple(value->delta, value->epsilon);
}

void take(const char* name, nb::handle value, stability& into) {
    const nb::list both = exactly(2, "two numbers (intensional, extensional)", name, value);
    into = {number_of(name, both[0]), number_of(name, both[1])};
}
nb::object show(const stability& value) {
    return nb::make_tuple(value.intensional, value.extensional);
}

bool is_path(nb::handle value) {
    return nb::isinstance<nb::str>(value) || nb::hasattr(value, "__fspath__");
}
void take(const char* name, nb::handle value, std::filesystem::path& into) {
    if (!is_path(value)) refuse_type(name, "a path", value);
    into = nb::cast<std::filesystem::path>(value);
    if (into.empty()) throw invalid_argument(name, "expected a path, found an empty text");
}
nb::object show(const std::filesystem::path& value) {
    return value.empty() ? nb::object(nb::none()) : nb::cast(value.string());
}

void take(const char* name, nb::handle value, std::vector<std::uint32_t>& into) {
    take_list(name, value, into, [](auto... one) { return whole_32(one...); });
}
nb::object show(const std::vector<std::uint32_t>& value) {
    return nb::cast(value);
}

// The value is a file that holds clusters, or the label of each spike.
void take(const char* name, nb::handle value, start_clusters& into) {
    into = {};
    if (is_path(value)) return take(name, value, into.file);
    take(name, value, into.labels);
}
nb::object show(const start_clusters& value) {
    if (value.labels.empty()) return show(value.file);
    return nb::cast(to_numpy(std::span{value.labels}));
}

// One text stands for a list of one.
std::vector<std::string> texts_of(const char* name, nb::handle value) {
    const auto text = [name](nb::handle one) {
        if (!is_path(one)) refuse_type(name, "texts or paths", one);
        return nb::cast<std::filesystem::path>(one).string();
    };
    if (is_path(value)) return {text(value)};
    std::vector<std::string> texts;
    for (const nb::handle one : items_of(name, value)) texts.push_back(text(one));
    return texts;
}

template <class Field, class Work>
bool with_field_of(const option& one, const char* type, Work& work) {
    Field* const* field = std::any_cast<Field*>(&one.field);
    if (field != nullptr) work(type, **field);
    return field != nullptr;
}
// Calls `work` with the name of the type and the field of the option, and returns true, if the
// field's values are lists, mappings or arrays in Python, and texts elsewhere.
template <class Work>
bool with_rich_field(const option& one, Work work) {
    return with_field_of<std::vector<delay_interval>>(one, "Delays", work) ||
           with_field_of<min_occ_choice>(one, "MinOcc", work) ||
           with_field_of<std::vector<pattern_rule>>(one, "Rules", work) ||
           with_field_of<std::vector<time_span>>(one, "Epochs", work) ||
           with_field_of<std::optional<std::array<std::uint32_t, 3>>>(one, "Triple", work) ||
           with_field_of<std::optional<stability_options>>(one, "Stability", work) ||
           with_field_of<stability>(one, "Pair", work) ||
           with_field_of<std::filesystem::path>(one, "FilePath", work) ||
           with_field_of<std::vector<std::uint32_t>>(one, "Numbers", work) ||
           with_field_of<start_clusters>(one, "StartClusters", work);
}

// Returns the option's type for signatures; python/spikeweave/_values/types.py has these names.
std::string_view type_of(const option& one) {
    // The Python files of the package take these two in other forms, too.
    if (one.name == "window" && one.kind == option_kind::whole) return "Bins";
    if (one.name == "episodes") return "Armed";
    if (one.repeats) return "Destinations";
    std::string_view rich;
    if (with_rich_field(one, [&](const char* type, const auto& /*field*/) { rich = type; }))
        return rich;
    switch (one.kind) {
        case option_kind::flag:
            return "bool";
        case option_kind::whole:
        case option_kind::memory:
            return one.zero_name.empty() ? "int" : "IntOrAuto";
        case option_kind::number:
            return one.zero_name.empty() ? "float" : "FloatOrMax";
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
    if (!one.zero_name.empty() && nb::isinstance<nb::str>(value) &&
        text_of(name, value) == one.zero_name)
        return one.zero_name;
    switch (one.kind) {
        case option_kind::flag:
            return flag_of(name, value);
        case option_kind::whole:
        case option_kind::memory:
            return whole_of(name, value);
        case option_kind::number:
            return number_of(name, value);
        case option_kind::time:
            return time_of(name, value);
        case option_kind::choice:
        case option_kind::text:
            return text_of(name, value);
    }
    return nullptr;
}

nb::object argument_of(const option& one) {
    nb::object rich = nb::none();
    if (!one.is_set() ||
        with_rich_field(one, [&](const char* /*type*/, const auto& field) { rich = show(field); }))
        return rich;
    return std::visit(
        [&]<class Value>(const Value& simple) -> nb::object {
            if constexpr (std::is_same_v<Value, std::nullptr_t>)
                return nb::none();
            else if (!one.zero_name.empty() && simple == Value{})
                return nb::cast(one.zero_name);
            else if constexpr (std::is_same_v<Value, duration>)
                return nb::cast(to_seconds(simple));
            else
                return nb::cast(simple);
        },
        one.get());
}

}  // namespace

call_options take_options(const nb::dict& arguments, const option_list& options) {
    call_options call;
    for (const auto& [key, value] : arguments) {
        const auto given = nb::cast<std::string>(key);
        const char* const name = given.c_str();
        const auto one = std::ranges::find(options, given, &option::name);
        constexpr std::uint64_t most_threads = 4096;
        if (one == options.end() && given != "progress" && given != "threads")
            refuse_argument(given);
        if (value.is_none()) continue;
        if (one == options.end() && given == "threads")
            call.threads = static_cast<int>(whole_of(name, value, 0, most_threads));
        else if (one == options.end())
            call.progress = nb::borrow(value);
        else
            naming(name, [&, taken = nb::handle(value)] {
                if (one->repeats) return one->set_list(texts_of(name, taken));
                const auto take_rich = [&](const char* /*type*/, auto& field) {
                    take(name, taken, field);
                };
                if (!with_rich_field(*one, take_rich)) one->set(value_of(*one, taken));
            });
    }
    options.check();
    return call;
}

nb::dict arguments_of(const option_list& options) {
    nb::dict out;
    for (const option& one : options) out[one.name.c_str()] = argument_of(one);
    return out;
}

nb::list description_of(const option_list& options) {
    const auto on_command_line = [](const option& one) {
        return command_line_name(one.name, one.get() == option_value{true});
    };
    return dicts_of(options, "name", &option::name, "help", &option::help, "help_off",
                    &option::help_off, "type", type_of, "choices", &option::choices, "group",
                    &option::group, "default", argument_of, "default_shown", default_of,
                    "placeholder", &option::placeholder, "command_line", on_command_line);
}

}  // namespace spikeweave::python
