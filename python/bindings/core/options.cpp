#include "bindings/core/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "bindings/core/arguments.hpp"
#include "spikeweave/core/length.hpp"
#include "spikeweave/core/nearest_name.hpp"
#include "spikeweave/mine/assemblies.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/pipeline/spade/options.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::python {
namespace {

// Sets an option; None leaves the default.
void take_option(const option_list& options, const std::string& name, nb::handle value);

// Returns the elements if there are as many as `expected` states.
nb::list exactly(std::size_t count, const char* expected, const char* name, nb::handle value) {
    nb::list items = items_of(name, value);
    if (nb::len(items) != count)
        throw invalid_argument(fmt::format("expected {}, found {}", expected, nb::len(items)));
    return items;
}

// The conversions of the fields of a type from and to Python. The library calls none of these with
// a field that is not set.

template <class Value>
nb::object show(const Value& value) {
    return nb::cast(plain(value));
}

void take(const char* name, nb::handle value, std::uint32_t& into) {
    into = static_cast<std::uint32_t>(whole_of(name, value, 0, UINT32_MAX));
}

bool is_path(nb::handle value) {
    return nb::isinstance<nb::str>(value) || nb::hasattr(value, "__fspath__");
}
void take(const char* name, nb::handle value, std::string& into) {
    if (!is_path(value)) refuse_type(name, "texts or paths", value);
    into = nb::cast<std::filesystem::path>(value).string();
}
void take(const char* name, nb::handle value, std::filesystem::path& into) {
    if (!is_path(value)) refuse_type(name, "a path", value);
    into = nb::cast<std::filesystem::path>(value);
    if (into.empty()) throw invalid_argument(name, "expected a path, found an empty text");
}

template <class Bounds>
void take_bounds(const char* name, const char* expected, nb::handle value, Bounds& into) {
    if (length_of(value) != 2U) refuse_type(name, expected, value);
    const nb::list bounds = items_of(name, value);
    into = {time_of(name, bounds[0]), time_of(name, bounds[1])};
}
void take(const char* name, nb::handle value, delay_interval& into) {
    if (nb::isinstance<nb::str>(value))
        into = parse_delay_interval(text_of(name, value));
    else
        take_bounds(name, "delay intervals such as (0.001, 0.005) or '1-5ms'", value, into);
}
void take(const char* name, nb::handle value, time_span& into) {
    take_bounds(name, "pairs of a begin and an end", value, into);
}

// A rule is a mapping from the names of its thresholds to numbers.
void take(const char* name, nb::handle value, pattern_rule& into) {
    if (!nb::isinstance<nb::dict>(value))
        refuse_type(name, "mappings such as {'min_occ': 10, 'min_spikes': 3}", value);
    const option_list thresholds = describe(into);
    for (const auto& [key, number] : nb::borrow<nb::dict>(value))
        take_option(thresholds, text_of(name, key), number);
}
nb::object show(pattern_rule value) {
    return arguments_of(describe(value));
}

template <class Value>
void take(const char* name, nb::handle value, std::vector<Value>& into) {
    into.clear();
    for (const nb::handle one : items_of(name, value)) take(name, one, into.emplace_back());
}
template <class Value>
nb::object show(const std::vector<Value>& values) {
    nb::list out;
    for (const Value& one : values) out.append(show(one));
    return out;
}

// One text stands for a list of one, and so does one interval.
void take(const char* name, nb::handle value, std::vector<std::string>& into) {
    into.clear();
    if (is_path(value)) return take(name, value, into.emplace_back());
    take<std::string>(name, value, into);
}
void take(const char* name, nb::handle value, std::vector<delay_interval>& into) {
    into.clear();
    if (nb::isinstance<nb::str>(value))
        into = parse_delays(text_of(name, value));
    else if (length_of(value) == 2U && !length_of(nb::object(value[nb::int_(0)])))
        take(name, value, into.emplace_back());
    else
        take<delay_interval>(name, value, into);
}

// The value is a number, "auto", or a mapping from sizes to numbers.
void take(const char* name, nb::handle value, min_occ_choice& into) {
    if (nb::isinstance<nb::str>(value)) {
        if (text_of(name, value) != "auto")
            refuse_type(name, "a number, 'auto' or {spikes: number}", value);
        into = auto_min_occ{};
    } else if (nb::isinstance<nb::dict>(value)) {
        auto& by_size = into.emplace<min_occ_by_size>();
        for (const auto& [size, number] : nb::borrow<nb::dict>(value)) {
            auto& [spikes, least] = by_size.emplace_back();
            take(name, size, spikes);
            take(name, number, least);
        }
        std::ranges::sort(by_size);
    } else {
        take(name, value, into.emplace<std::uint32_t>());
    }
}
nb::object show(const min_occ_choice& value) {
    if (const auto* number = std::get_if<std::uint32_t>(&value)) return nb::cast(*number);
    const auto* sizes = std::get_if<min_occ_by_size>(&value);
    return sizes == nullptr ? nb::str("auto") : nb::cast(std::map(sizes->begin(), sizes->end()));
}

// One time stands for a list of one, and a text may list several.
void take(const char* name, nb::handle value, std::vector<duration>& into) {
    into.clear();
    if (nb::isinstance<nb::str>(value))
        into = option_codec<std::vector<duration>>::read(text_of(name, value));
    else if (!length_of(value))
        into = {time_of(name, value)};
    else
        for (const nb::handle one : items_of(name, value)) into.push_back(time_of(name, one));
}

void take(const char* name, nb::handle value, std::array<std::uint32_t, 3>& into) {
    if (nb::isinstance<nb::str>(value)) {
        into = option_codec<std::array<std::uint32_t, 3>>::read(text_of(name, value));
        return;
    }
    const nb::list given = exactly(3, "three numbers h, k, l", name, value);
    for (std::size_t i = 0; i < into.size(); ++i) take(name, given[i], into[i]);
}
nb::object show(const std::array<std::uint32_t, 3>& value) {
    return nb::tuple(nb::cast(value));
}

void take(const char* name, nb::handle value, stability& into) {
    const nb::list both = exactly(2, "two numbers (intensional, extensional)", name, value);
    into = {number_of(name, both[0]), number_of(name, both[1])};
}

// The value is a number of subsets, or (delta, epsilon).
void take(const char* name, nb::handle value, stability_options& into) {
    if (!length_of(value)) {
        into.n_subsets = whole_of(name, value);
        return;
    }
    const nb::list both = exactly(2, "a number, or two: (delta, epsilon)", name, value);
    into = {.delta = number_of(name, both[0]), .epsilon = number_of(name, both[1])};
}
nb::object show(const stability_options& value) {
    if (value.n_subsets > 0) return nb::cast(value.n_subsets);
    return nb::make_tuple(value.delta, value.epsilon);
}

template <class Value>
void take(const char* name, nb::handle value, std::optional<Value>& into) {
    take(name, value, into.emplace());
}
template <class Value>
nb::object show(const std::optional<Value>& value) {
    return show(*value);
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

// Calls `work` with the name of the type and the field of the option, and returns true, if the
// field has that type.
template <class Field, class Work>
bool with_field_of(const option& one, const char* type, Work& work) {
    const auto* field = std::any_cast<Field*>(&one.field);
    if (field != nullptr) work(type, **field);
    return field != nullptr;
}
// Does so for the fields whose values are lists, mappings or arrays in Python, and texts elsewhere.
template <class Work>
bool with_rich_field(const option& one, Work work) {
    return with_field_of<std::vector<delay_interval>>(one, "Delays", work) ||
           with_field_of<min_occ_choice>(one, "MinOcc", work) ||
           with_field_of<std::vector<pattern_rule>>(one, "Rules", work) ||
           with_field_of<std::vector<time_span>>(one, "Epochs", work) ||
           with_field_of<std::optional<std::array<std::uint32_t, 3>>>(one, "Triple", work) ||
           with_field_of<std::optional<stability_options>>(one, "Stability", work) ||
           with_field_of<stability>(one, "Pair", work) ||
           with_field_of<std::vector<duration>>(one, "Times", work) ||
           with_field_of<std::filesystem::path>(one, "FilePath", work) ||
           with_field_of<std::vector<std::uint32_t>>(one, "Numbers", work) ||
           with_field_of<start_clusters>(one, "StartClusters", work) ||
           (one.repeats && with_field_of<std::vector<std::string>>(one, "Destinations", work));
}

// The reader of values of a kind, and the type of such options in signatures, also of those with a
// name for 0; python/spikeweave/_values/types.py has these types.
struct kind_form {
    std::function<option_value(const char* name, nb::handle value)> read;
    std::string_view type;
    std::string_view type_with_name = type;
};
// A length is a number of micrometres, or a text with its unit.
double length_value_of(const char* name, nb::handle value) {
    if (!nb::isinstance<nb::str>(value)) return number_of(name, value);
    return naming(name, [&] { return parse_length(text_of(name, value)); });
}

const kind_form& form_of(option_kind kind) {
    const auto whole = [](const char* name, nb::handle value) { return whole_of(name, value); };
    static const std::map<option_kind, kind_form> forms{
        {option_kind::flag, {flag_of, "bool"}},
        {option_kind::whole, {whole, "int", "IntOrAuto"}},
        {option_kind::memory, {whole, "int", "IntOrAuto"}},
        {option_kind::number, {number_of, "float", "FloatOrMax"}},
        {option_kind::length, {length_value_of, "Length"}},
        {option_kind::time, {time_of, "Time"}},
        {option_kind::choice, {text_of, "str"}},
        {option_kind::text, {text_of, "str"}}};
    return forms.at(kind);
}

std::string_view type_of(const option& one) {
    // The Python files of the package accept these two in other forms, too.
    if (one.name == "window" && one.kind == option_kind::whole) return "Bins";
    if (one.name == "episodes") return "Armed";
    const kind_form& form = form_of(one.kind);
    std::string_view type = one.zero_name.empty() ? form.type : form.type_with_name;
    with_rich_field(one, [&](const char* rich, const auto& /*field*/) { type = rich; });
    return type;
}

option_value value_of(const option& one, nb::handle value) {
    const char* const name = one.name.c_str();
    const bool is_name = !one.zero_name.empty() && nb::isinstance<nb::str>(value) &&
                         text_of(name, value) == one.zero_name;
    return is_name ? one.zero_name : form_of(one.kind).read(name, value);
}

nb::object argument_of(const option& one) {
    const option_value value = one.value();
    nb::object out = std::visit([](const auto& simple) { return nb::cast(plain(simple)); }, value);
    if (!out.is_none())
        with_rich_field(one, [&](const char* /*type*/, const auto& field) { out = show(field); });
    return out;
}

// The options that Elephant's functions have under other names.
const std::map<std::string, std::string>& elephant_names() {
    static const std::map<std::string, std::string> names{
        {"bin_size", "bin"},
        {"binsize", "bin"},
        {"winlen", "window"},
        {"n_surr", "surrogates"},
        {"n_surrogates", "surrogates"},
        {"surr_method", "surrogate_method"},
        {"delay", "delays"},
        {"psr_param", "reduce"},
        {"approx_stab_pars", "stability"},
        {"stability_thresh", "stability_threshold"}};
    return names;
}

void take_option(const option_list& options, const std::string& name, nb::handle value) {
    const auto one = std::ranges::find(options, name, &option::name);
    if (one == options.end()) {
        spike_read_options reading;
        const option_list of_reading = describe(reading);
        if (std::ranges::find(of_reading, name, &option::name) != of_reading.end())
            throw nb::type_error(
                fmt::format("there is no argument '{}' (spikeweave.read has it)", name).c_str());
        for (const moved_option& moved : options.moved()) {
            if (moved.name != name) continue;
            constexpr std::string_view program = "spikeweave ";
            if (!moved.instead.starts_with(program))
                throw nb::type_error(
                    fmt::format("there is no argument '{}': {}", name, moved.instead).c_str());
            const std::string command = moved.instead.substr(program.size());
            throw nb::type_error(fmt::format("there is no argument '{}' (spikeweave.{} has it)",
                                             name, command.substr(0, command.find(' ')))
                                     .c_str());
        }
        std::vector<std::string> names;
        for (const option& each : options) names.push_back(each.name);
        std::optional<std::string> meant = nearest_name(name, names);
        const auto known = elephant_names().find(name);
        if (known != elephant_names().end() && options.has(known->second)) meant = known->second;
        throw nb::type_error(
            fmt::format("there is no argument '{}'{}", name, did_you_mean(meant)).c_str());
    }
    if (value.is_none()) return;
    naming(name.c_str(), [&] {
        const auto take_rich = [&](const char* /*type*/, auto& field) {
            take(name.c_str(), value, field);
        };
        if (!with_rich_field(*one, take_rich)) one->set(value_of(*one, value));
    });
}

// Whether the value switches something off.
bool is_off(const option_value& value) {
    return value == option_value{nullptr} || value == option_value{false} ||
           value == option_value{std::uint64_t{0}};
}

// An option is refused without the one without which it changes nothing, unless it has the value
// that it has by default, as among the parameters of a result.
void check_needs(const option_list& options,
                 const std::map<std::string, option_value>& values_before) {
    for (const option& one : options)
        if (!one.needs.empty() && one.get() != values_before.at(one.name) &&
            options.has(one.needs) && is_off(options.find(one.needs).value()))
            throw invalid_argument(one.name, fmt::format("needs `{}`", one.needs));
}

}  // namespace

call_options take_options(const nb::dict& arguments, const option_list& options) {
    call_options call;
    std::map<std::string, option_value> usual;
    for (const option& one : options) usual.emplace(one.name, one.get());
    for (const auto& [key, value] : arguments) {
        const auto name = nb::cast<std::string>(key);
        constexpr std::uint64_t most_threads = 4096;
        if (name == "progress")
            call.progress = nb::borrow(value);
        else if (name == "estimate")
            call.estimate = nb::borrow(value);
        else if (name != "threads" || std::ranges::count(options, name, &option::name) > 0)
            take_option(options, name, value);
        else if (!value.is_none())
            call.threads = static_cast<int>(whole_of("threads", value, 0, most_threads));
    }
    options.check();
    check_needs(options, usual);
    return call;
}

void set_recorded(const option_list& options, const nb::dict& recorded) {
    for (const option& one : options) {
        if (!recorded.contains(one.name.c_str())) continue;
        const nb::object value = recorded[one.name.c_str()];
        if (nb::isinstance<nb::bool_>(value))
            one.set(nb::cast<bool>(value));
        else  // amounts of memory are recorded in bytes
            one.set_text(nb::cast<std::string>(value) +
                         (one.kind == option_kind::memory ? "B" : ""));
    }
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
                    "placeholder", &option::placeholder, "command_line", on_command_line,
                    "required", &option::is_required);
}

}  // namespace spikeweave::python
