#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"

/// Options described once. Every struct of options has a function `describe` that lists its fields
/// with their names, ranges and texts. The checks in the library, the options of the command line,
/// the keyword arguments of Python, the parameters in `run.json` and the tables of the
/// documentation are all made from this list.
namespace spikeweave {

/// The value of an option; null if it is not set.
using option_value =
    std::variant<std::nullptr_t, bool, std::uint64_t, double, duration, std::string>;

/// The form of an option's value.
enum class option_kind : std::uint8_t {
    flag,    ///< bool
    whole,   ///< std::uint64_t
    number,  ///< double
    length,  ///< double, in micrometres; text with a unit on the command line
    time,    ///< duration; text with a unit on the command line
    memory,  ///< std::uint64_t, in bytes; text with a unit on the command line
    choice,  ///< std::string, one of `choices`
    text,    ///< std::string in a form of its own
};

/// One option: a field of a struct, and its complete description.
struct SPIKEWEAVE_API option {
    /// "min_count"; the command line writes "--min-count".
    std::string name{};
    /// The effect of the option, as a phrase without a full stop and without the default.
    std::string help{};
    /// For flags that are on by default: what switching them off does.
    std::string help_off{};
    option_kind kind = option_kind::text;
    /// The heading under which the option is listed.
    std::string group{};
    /// The placeholder of a value in help and tables, such as "N" or "LOW-HIGH,...".
    std::string placeholder{};
    /// The default in words, if the value alone does not explain it.
    std::string default_text{};
    std::vector<std::string> choices{};
    /// An option without which this one changes nothing; may be empty.
    std::string needs{};
    /// Options that cannot be given together with this one.
    std::vector<std::string> excludes{};

    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    bool above_least = false;    ///< `least` itself is out of range
    bool zero_is_unset = false;  ///< 0 in the field means "not set", and cannot be given
    std::string zero_name{};     ///< the name by which 0 is given and shown; may be empty
    bool may_be_unset = false;
    bool is_required = false;  ///< it has to be given: the value that the field begins with is none
    bool repeats = false;      ///< a list whose elements are given one by one
    bool is_basic = false;     ///< one that a first use may need: the short help lists it

    std::function<option_value()> get{};
    /// Sets a value of the right kind without a check of its range.
    std::function<void(const option_value&)> put{};
    /// A pointer to the field, for callers that know its type and a richer form of it.
    std::any field{};
    /// Throws invalid_argument if the field's value breaks a rule specific to it; may be empty.
    std::function<void()> rule{};

    option& at_least(double bound) { return least = bound, *this; }
    option& above(double bound) { return above_least = true, at_least(bound); }
    option& at_most(double bound) { return most = bound, *this; }
    /// 0 in the field means "not set"; `meaning` describes the default then.
    option& unset_is(std::string meaning) {
        zero_is_unset = may_be_unset = true;
        return by_default(std::move(meaning)).above(0);
    }
    /// 0 in the field is written by this name, such as "auto", and is within any range.
    option& zero_is(std::string word) { return zero_name = std::move(word), *this; }
    option& by_default(std::string meaning) { return default_text = std::move(meaning), *this; }
    option& written(std::string form) { return placeholder = std::move(form), *this; }
    option& only_with(std::string other) { return needs = std::move(other), *this; }
    option& not_with(std::vector<std::string> others) {
        return excludes = std::move(others), *this;
    }
    /// It has to be given. For fields that can be unset (`may_be_unset`).
    option& required() { return is_required = true, *this; }
    /// The field is a list of texts, which may have commas. The command line repeats the option.
    option& repeated() { return repeats = may_be_unset = true, *this; }
    /// The short help lists it, because a first use may need it.
    option& basic() { return is_basic = true, *this; }
    option& off_means(std::string text) { return help_off = std::move(text), *this; }
    option& obeys(std::function<void()> more) { return rule = std::move(more), *this; }
    option& in_micrometres() { return kind = option_kind::length, written("LENGTH"); }
    option& in_bytes() { return kind = option_kind::memory, written("SIZE"); }

    /// Makes the option set this field, with the kind, the range and the choices of its type.
    template <class Field>
    option& bind(Field& target);

    /// The requirement on a value: "a whole number of at least 1".
    std::string expected() const;
    /// Sets a value.
    /// @throws invalid_argument with the name if the value is out of range.
    void set(const option_value& value) const;
    /// Sets a value from its text on a command line.
    /// @throws invalid_argument with the name and the text.
    void set_text(std::string_view text) const;
    /// Sets the elements of a list. @throws invalid_argument with the name.
    void set_list(const std::vector<std::string>& elements) const;
    /// @throws invalid_argument with the name if the field's value is out of range.
    void check() const;
    /// The value as it is given: null if the field has none, and the name of 0 if 0 has one.
    option_value value() const;
    /// Whether the field has a value.
    bool is_set() const;

private:
    void take(const option_value& value) const;
    void check_rule() const;
    void check_choice(const option_value& value) const;
};

/// The functions that show and read fields of a type. Stages specialise it for their own types.
template <class Field>
struct option_codec;

template <>
struct option_codec<bool> {
    static constexpr auto kind = option_kind::flag;
    static option_value show(bool field) { return field; }
    static bool read(const option_value& value) { return std::get<bool>(value); }
};

template <class Integer>
requires(std::is_integral_v<Integer>) struct option_codec<Integer> {
    static constexpr auto kind = option_kind::whole;
    static constexpr double most = static_cast<double>(std::numeric_limits<Integer>::max());
    static option_value show(Integer field) { return static_cast<std::uint64_t>(field); }
    static Integer read(const option_value& value) {
        return static_cast<Integer>(std::get<std::uint64_t>(value));
    }
};

template <>
struct option_codec<double> {
    static constexpr auto kind = option_kind::number;
    static option_value show(double field) { return field; }
    static double read(const option_value& value) { return std::get<double>(value); }
};

template <>
struct option_codec<duration> {
    static constexpr auto kind = option_kind::time;
    static option_value show(duration field) { return field; }
    static duration read(const option_value& value) { return std::get<duration>(value); }
};

template <>
struct option_codec<std::string> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const std::string& field) { return field; }
    static std::string read(const option_value& value) { return std::get<std::string>(value); }
};

/// The path of a file; empty means "not set".
template <>
struct SPIKEWEAVE_API option_codec<std::filesystem::path> {
    static constexpr auto kind = option_kind::text;
    static constexpr bool may_be_unset = true;
    static option_value show(const std::filesystem::path& field);
    static std::filesystem::path read(const option_value& value);
};

/// Names, separated by commas.
template <>
struct SPIKEWEAVE_API option_codec<std::vector<std::string>> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const std::vector<std::string>& field);
    static std::vector<std::string> read(const option_value& value);
};

/// Whole numbers, separated by commas.
template <>
struct SPIKEWEAVE_API option_codec<std::vector<std::uint32_t>> {
    static constexpr auto kind = option_kind::text;
    static constexpr bool may_be_unset = true;
    static option_value show(const std::vector<std::uint32_t>& field);
    static std::vector<std::uint32_t> read(const option_value& value);
};

/// Devices, as `parse_devices` reads them.
template <>
struct SPIKEWEAVE_API option_codec<std::optional<std::vector<int>>> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const std::optional<std::vector<int>>& field);
    static std::optional<std::vector<int>> read(const option_value& value);
};

template <class Enum>
requires std::is_enum_v<Enum>
struct option_codec<Enum> {
    static constexpr auto kind = option_kind::choice;
    static option_value show(Enum field) { return std::string(to_string(field)); }
    static Enum read(const option_value& value) {
        return value_named<Enum>(std::get<std::string>(value));
    }
};

template <class Value>
struct option_codec<std::optional<Value>> {
    static constexpr auto kind = option_codec<Value>::kind;
    static option_value show(const std::optional<Value>& field) {
        return field ? option_codec<Value>::show(*field) : nullptr;
    }
    static std::optional<Value> read(const option_value& value) {
        if (std::holds_alternative<std::nullptr_t>(value)) return {};
        return option_codec<Value>::read(value);
    }
};

template <class Field>
constexpr bool is_optional = false;
template <class Value>
constexpr bool is_optional<std::optional<Value>> = true;

namespace detail {
template <class Field>
struct value_type {
    using type = Field;
};
template <class Value>
struct value_type<std::optional<Value>> {
    using type = Value;
};
}  // namespace detail

template <class Field>
option& option::bind(Field& target) {
    using codec = option_codec<Field>;
    using value = typename detail::value_type<Field>::type;
    kind = codec::kind;
    above_least = zero_is_unset = false;
    may_be_unset = is_optional<Field> || requires {
        codec::may_be_unset;
    };
    if constexpr (requires { option_codec<value>::most; })
        at_least(0).at_most(option_codec<value>::most);
    if constexpr (std::is_enum_v<value>) choices = names_of<value>();
    get = [&target] { return codec::show(target); };
    put = [&target](const option_value& given) { target = codec::read(given); };
    field = &target;
    return *this;
}

/// A name that was an option of a list.
struct moved_option {
    std::string name{};
    std::string instead{};  ///< the replacement: "spikeweave count FILE EPISODES does this"
};

/// The options of a struct, in display order. It refers to the struct's fields, which must outlive
/// it.
class SPIKEWEAVE_API option_list {
public:
    /// The following options are listed under this heading.
    void begin_group(std::string heading) { group_ = std::move(heading); }

    template <class Field>
    option& add(std::string name, Field& field, std::string help) {
        option& added = options_.emplace_back();
        added.name = std::move(name);
        added.help = std::move(help);
        added.group = group_;
        added.placeholder = usual_placeholder(added.bind(field).kind);
        return added;
    }
    /// Adds the options of a part of the struct.
    void add_all(option_list others);
    /// Notes names that are no options any more, so that messages can say where they are now.
    void add_moved(const std::vector<std::string>& names, const std::string& instead);
    const std::vector<moved_option>& moved() const { return moved_; }
    /// Moves the options under this heading to the end.
    void put_last(std::string_view heading);

    auto begin() const { return options_.begin(); }
    auto end() const { return options_.end(); }
    std::size_t size() const { return options_.size(); }
    bool has(std::string_view name) const;
    /// @throws invalid_argument if there is no such option.
    const option& find(std::string_view name) const;
    option& change(std::string_view name);
    /// Removes an option. The others no longer need or exclude it.
    void remove(std::string_view name);
    /// Checks the values of all fields.
    /// @throws invalid_argument with the name of the first option that is out of range, or that
    /// cannot be given together with another one.
    void check() const;

private:
    static std::string usual_placeholder(option_kind kind);

    std::string group_{};
    std::vector<option> options_{};
    std::vector<moved_option> moved_{};
};

/// Checks the values of all fields of a struct of options.
/// @throws invalid_argument like `option_list::check`.
template <class Options>
void check_options(Options options) {
    describe(options).check();
}

/// A value as in JSON: null if not given or unlimited, a boolean, a number, or text (including
/// times with their unit).
using parameter_value = std::variant<std::nullptr_t, bool, std::uint64_t, double, std::string>;
/// Names and values in display order.
using parameter_list = std::vector<std::pair<std::string, parameter_value>>;

/// The values of all options, for the record of a run.
SPIKEWEAVE_API parameter_list parameters_of(const option_list& options);

/// Sets the options of these names to values as `parameters_of` returns them.
/// @throws invalid_argument with the name if there is no such option, or the value is out of range.
SPIKEWEAVE_API void set_parameters(const option_list& options, const parameter_list& values);

/// The default of an option in words: "10 ms", "no bound"; empty if none needs to be stated.
SPIKEWEAVE_API std::string default_of(const option& one);

/// "--min-count" of "min_count"; "--no-min-count" if `off`.
SPIKEWEAVE_API std::string command_line_name(std::string_view option, bool off = false);

/// The message of an error for the command line: a name of an option between backquotes becomes
/// "--min-count", and `min_count=2` becomes "--min-count 2".
SPIKEWEAVE_API std::string with_command_line_names(std::string_view message);
/// The same message as Python has it: min_count, min_count=2, dither="4ms".
SPIKEWEAVE_API std::string with_plain_names(std::string_view message);

}  // namespace spikeweave
