#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/time.hpp"

/// These functions read the values of arguments. Each takes the name of the argument for its
/// messages, and throws TypeError for a value of another kind.
namespace spikeweave::python {

namespace nb = nanobind;

/// Throws TypeError: "NAME: expected WHAT, found VALUE (TYPE)".
[[noreturn]] void refuse_type(const char* name, const char* expected, nb::handle value);

/// Throws TypeError: "there is no argument 'NAME'".
[[noreturn]] void refuse_argument(const std::string& name);
/// Calls `work`, and puts the name in front of what it throws unless it is there already.
template <class Work>
void naming(const char* name, Work work) {
    try {
        work();
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

}  // namespace spikeweave::python
