#pragma once

#include <cmath>

#include "bindings/core/values.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/time.hpp"

/// These functions read the values of arguments. Each has a parameter for the name of the argument
/// in its messages, and throws TypeError for a value of another kind.
namespace spikeweave::python {

/// Throws TypeError: "NAME: expected WHAT, found VALUE (TYPE)".
[[noreturn]] void refuse_type(const char* name, const char* expected, nb::handle value);

/// Throws TypeError: "there is no argument 'NAME'".
[[noreturn]] void refuse_argument(const std::string& name);
/// Returns the result of `work`, and puts the name in front of its error messages unless it is
/// there.
template <class Work>
auto naming(const char* name, Work work) {
    try {
        return work();
    } catch (const invalid_argument& error) {
        if (!error.field().empty()) throw;
        throw invalid_argument(name, error.what());
    }
}

bool flag_of(const char* name, nb::handle value);
double number_of(const char* name, nb::handle value);
/// Reads seconds, a text such as "5ms", a `datetime.timedelta` or a quantity of time.
duration time_of(const char* name, nb::handle value);
std::string text_of(const char* name, nb::handle value);
/// @throws invalid_argument if the number is not from `least` to `most`.
std::uint64_t whole_of(const char* name, nb::handle value, std::uint64_t least = 0,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
/// Returns the number of elements of a sequence, and a text is one. Other values have none, such as
/// a number that NumPy or quantities wrap.
std::optional<std::size_t> length_of(nb::handle value);
/// Returns the elements of anything that can be iterated, except a text.
nb::list items_of(const char* name, nb::handle value);

/// Reads what `plain` makes of a struct that has a description, or of a member of it.
template <class Value>
void restore(const char* name, nb::handle value, Value& into) {
    if constexpr (is_described<Value>) {
        each_member(into, [&](const char* of, auto& member) { restore(of, value[of], member); });
    } else if constexpr (is_vector<Value>) {
        using element = typename Value::value_type;
        if constexpr (std::is_arithmetic_v<element>)
            into = copied(nb::cast<array_in<element>>(value));
        else
            for (const nb::handle one : items_of(name, value))
                restore(name, one, into.emplace_back());
    } else if constexpr (std::is_integral_v<Value>) {
        into = static_cast<Value>(whole_of(name, value, 0, std::numeric_limits<Value>::max()));
    } else if constexpr (std::is_enum_v<Value>) {
        into = value_named<Value>(text_of(name, value));
    } else if constexpr (std::is_same_v<Value, duration>) {
        into = duration_from_seconds(number_of(name, value));
    } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
        const double figure = number_of(name, value);
        if (!std::isnan(figure)) into = figure;
    } else {
        into = nb::cast<Value>(value);
    }
}

}  // namespace spikeweave::python
