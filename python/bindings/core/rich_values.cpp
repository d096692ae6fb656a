#include "bindings/core/rich_values.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
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

template <class Values, class Show>
nb::list shown_list(const Values& values, Show show) {
    nb::list out;
    for (const auto& one : values) out.append(show(one));
    return out;
}

// How Python gives and shows the fields of a type. The library calls none of these with a field
// that is not set.
template <class Field>
struct form;

template <>
struct form<std::vector<delay_interval>> {
    using field = std::vector<delay_interval>;
    static constexpr std::string_view type = "Delays";

    static delay_interval interval(const char* name, nb::handle value) {
        if (nb::isinstance<nb::str>(value)) return parse_delay_interval(text_of(name, value));
        if (length_of(value) != 2U)
            refuse_type(name, "delay intervals such as (0.001, 0.005) or '1-5ms'", value);
        const nb::list bounds = items_of(name, value);
        return {time_of(name, bounds[0]), time_of(name, bounds[1])};
    }
    // One interval stands for a list of one.
    static void take(const char* name, nb::handle value, field& into) {
        if (nb::isinstance<nb::str>(value))
            into = parse_delays(text_of(name, value));
        else if (length_of(value) == 2U && !length_of(nb::object(value[nb::int_(0)])))
            into = {interval(name, value)};
        else
            take_list(name, value, into, interval);
    }
    static nb::object show(const field& value) {
        return shown_list(value, [](const delay_interval& one) {
            return nb::make_tuple(to_seconds(one.low), to_seconds(one.high));
        });
    }
};

// The value is a number, "auto", or a mapping from sizes to numbers.
template <>
struct form<min_occ_choice> {
    static constexpr std::string_view type = "MinOcc";
    static void take(const char* name, nb::handle value, min_occ_choice& into) {
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
    static nb::object show(const min_occ_choice& value) {
        if (const auto* number = std::get_if<std::uint32_t>(&value)) return nb::cast(*number);
        const auto* by_size = std::get_if<min_occ_by_size>(&value);
        if (by_size == nullptr) return nb::str("auto");
        nb::dict out;
        for (const auto& [size, number] : *by_size) out[nb::cast(size)] = number;
        return out;
    }
};

// Each rule is a mapping from the names of its thresholds to numbers.
template <>
struct form<std::vector<pattern_rule>> {
    static constexpr std::string_view type = "Rules";
    static constexpr std::array<std::pair<const char*, std::uint32_t pattern_rule::*>, 4>
        thresholds{{{"min_occ", &pattern_rule::min_occ},
                    {"min_spikes", &pattern_rule::min_spikes},
                    {"max_spikes", &pattern_rule::max_spikes},
                    {"min_neu", &pattern_rule::min_neu}}};

    static pattern_rule rule(const char* name, nb::handle value) {
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
    static void take(const char* name, nb::handle value, std::vector<pattern_rule>& into) {
        take_list(name, value, into, rule);
    }
    static nb::object show(const std::vector<pattern_rule>& value) {
        return shown_list(value, [](const pattern_rule& one) {
            nb::dict out;
            for (const auto& [name, threshold] : thresholds) out[name] = one.*threshold;
            return out;
        });
    }
};

template <>
struct form<std::vector<time_span>> {
    static constexpr std::string_view type = "Epochs";
    static time_span epoch(const char* name, nb::handle value) {
        const nb::list ends = items_of(name, value);
        if (nb::len(ends) != 2) refuse_type(name, "pairs of a begin and an end", value);
        return {time_of(name, ends[0]), time_of(name, ends[1])};
    }
    static void take(const char* name, nb::handle value, std::vector<time_span>& into) {
        take_list(name, value, into, epoch);
    }
    static nb::object show(const std::vector<time_span>& value) {
        return shown_list(value, [](const time_span& one) {
            return nb::make_tuple(to_seconds(one.begin), to_seconds(one.end));
        });
    }
};

template <>
struct form<std::optional<std::array<std::uint32_t, 3>>> {
    using field = std::optional<std::array<std::uint32_t, 3>>;
    static constexpr std::string_view type = "Triple";
    static void take(const char* name, nb::handle value, field& into) {
        const nb::list given = exactly(3, "three numbers h, k, l", name, value);
        into = {whole_32(name, given[0]), whole_32(name, given[1]), whole_32(name, given[2])};
    }
    static nb::object show(const field& value) {
        return nb::make_tuple(value->at(0), value->at(1), value->at(2));
    }
};

// The value is a number of subsets, or (delta, epsilon).
template <>
struct form<std::optional<stability_options>> {
    using field = std::optional<stability_options>;
    static constexpr std::string_view type = "Stability";
    static void take(const char* name, nb::handle value, field& into) {
        into.emplace();
        if (!length_of(value)) {
            into->n_subsets = whole_of(name, value);
            return;
        }
        const nb::list both = exactly(2, "a number, or two: (delta, epsilon)", name, value);
        into->delta = number_of(name, both[0]);
        into->epsilon = number_of(name, both[1]);
    }
    static nb::object show(const field& value) {
        if (value->n_subsets > 0) return nb::cast(value->n_subsets);
        return nb::make_tuple(value->delta, value->epsilon);
    }
};

template <>
struct form<stability> {
    static constexpr std::string_view type = "Pair";
    static void take(const char* name, nb::handle value, stability& into) {
        const nb::list both = exactly(2, "two numbers (intensional, extensional)", name, value);
        into = {number_of(name, both[0]), number_of(name, both[1])};
    }
    static nb::object show(const stability& value) {
        return nb::make_tuple(value.intensional, value.extensional);
    }
};

template <>
struct form<std::filesystem::path> {
    static constexpr std::string_view type = "FilePath";
    static bool is_path(nb::handle value) {
        return nb::isinstance<nb::str>(value) || nb::hasattr(value, "__fspath__");
    }
    static void take(const char* name, nb::handle value, std::filesystem::path& into) {
        if (!is_path(value)) refuse_type(name, "a path", value);
        into = nb::cast<std::filesystem::path>(value);
        if (into.empty()) throw invalid_argument(name, "expected a path, found an empty text");
    }
    static nb::object show(const std::filesystem::path& value) {
        return value.empty() ? nb::object(nb::none()) : nb::cast(value.string());
    }
};

template <>
struct form<std::vector<std::uint32_t>> {
    static constexpr std::string_view type = "Numbers";
    static void take(const char* name, nb::handle value, std::vector<std::uint32_t>& into) {
        take_list(name, value, into, [](auto... one) { return whole_32(one...); });
    }
    static nb::object show(const std::vector<std::uint32_t>& value) { return nb::cast(value); }
};

// The value is a file that holds clusters, or the label of each spike.
template <>
struct form<start_clusters> {
    using files = form<std::filesystem::path>;
    static constexpr std::string_view type = "StartClusters";
    static void take(const char* name, nb::handle value, start_clusters& into) {
        into = {};
        if (files::is_path(value)) return files::take(name, value, into.file);
        form<std::vector<std::uint32_t>>::take(name, value, into.labels);
    }
    static nb::object show(const start_clusters& value) {
        if (value.labels.empty()) return files::show(value.file);
        return nb::cast(to_numpy(std::span{value.labels}));
    }
};

// Calls `work` with the form and the field of the option, if its field has one of these types.
template <class... Fields, class Work>
bool with_form_among(const option& one, Work& work) {
    const auto matches = [&]<class Field>(Field* const* field) {
        if (field != nullptr) work(form<Field>{}, **field);
        return field != nullptr;
    };
    return (matches(std::any_cast<Fields*>(&one.field)) || ...);
}
template <class Work>
bool with_form(const option& one, Work work) {
    return with_form_among<std::vector<delay_interval>, min_occ_choice, std::vector<pattern_rule>,
                           std::vector<time_span>, std::optional<std::array<std::uint32_t, 3>>,
                           std::optional<stability_options>, stability, std::filesystem::path,
                           std::vector<std::uint32_t>, start_clusters>(one, work);
}

}  // namespace

std::string_view rich_type(const option& one) {
    std::string_view type;
    with_form(one, [&](auto form, const auto& /*field*/) { type = form.type; });
    return type;
}

void take_rich(const option& one, nb::handle value) {
    with_form(one, [&](auto form, auto& field) { form.take(one.name.c_str(), value, field); });
}

nb::object show_rich(const option& one) {
    nb::object out = nb::none();
    with_form(one, [&](auto form, const auto& field) { out = form.show(field); });
    return out;
}

}  // namespace spikeweave::python
