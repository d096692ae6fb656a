#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "call.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::python {

/// TypeError: "NAME: expected WHAT, found VALUE (TYPE)".
[[noreturn]] void refuse_type(const char* name, const char* expected, nb::handle value);

/// The keyword arguments of a call, taken one by one into a struct of options: what was not given,
/// or is None, leaves the default that stands there. Defaults are therefore the library's alone.
///
/// `take` throws TypeError for a value of another kind and ValueError for one out of range, both
/// with the argument's name.
class keyword_arguments {
public:
    explicit keyword_arguments(nb::dict arguments);

    /// The argument, which then counts as known; nothing if it was not given.
    std::optional<nb::handle> find(const char* name);

    void take(const char* name, bool& into);
    void take(const char* name, double& into);
    void take(const char* name, std::string& into);
    /// Seconds, a text such as "5ms", a `datetime.timedelta` or a quantity of time.
    void take(const char* name, duration& into);
    template <class Integer>
    requires(std::integral<Integer> && !std::same_as<Integer, bool>) void take(const char* name,
                                                                               Integer& into) {
        const auto value = find(name);
        if (value)
            into = static_cast<Integer>(
                whole(name, *value, static_cast<std::int64_t>(std::numeric_limits<Integer>::min()),
                      static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())));
    }
    template <class Value>
    void take(const char* name, std::optional<Value>& into) {
        if (!find(name)) return;
        Value value{};
        take(name, value);
        into = value;
    }
    /// A list of any of these.
    template <class Value>
    void take(const char* name, std::vector<Value>& into) {
        const auto list = find(name);
        if (!list) return;
        into.clear();
        for (const nb::handle item : items(name, *list)) {
            if (item.is_none()) refuse_type(name, "values, none of them None", *list);
            nb::dict one;
            one[name] = item;
            keyword_arguments element(one);
            Value value{};
            element.take(name, value);
            into.push_back(value);
        }
    }
    /// A text that `parse` reads, such as the name of a strategy.
    template <class Value, class Parse>
    void take(const char* name, Value& into, Parse parse) {
        const auto value = find(name);
        if (value) naming(name, [&] { into = parse(text(name, *value)); });
    }

    /// Threads, device and progress.
    call_options take_call();
    /// Progress alone, where threads and device are described options.
    call_options take_progress();
    /// @throws TypeError for arguments that nothing took.
    void check_all_known() const;

    /// What `what` throws, with the argument's name in front unless it is there already.
    template <class Work>
    static void naming(const char* name, Work what) {
        try {
            what();
        } catch (const invalid_argument& error) {
            if (!error.field().empty()) throw;
            throw invalid_argument(std::string(name), error.what());
        }
    }

    static void read(const char* name, nb::handle value, bool& into);
    static double number(const char* name, nb::handle value);
    static duration time(const char* name, nb::handle value);
    static std::string text(const char* name, nb::handle value);
    /// How many elements a sequence has, a text among them; nothing for what is none, such as a
    /// number that NumPy or quantities wrap.
    static std::optional<std::size_t> length(nb::handle value);
    /// A list or tuple as such, of anything that can be iterated; not a text.
    static nb::list items(const char* name, nb::handle value);
    static std::uint64_t whole(const char* name, nb::handle value, std::int64_t least,
                               std::uint64_t most);

private:
    nb::dict arguments_;
    std::vector<std::string> known_;
};

}  // namespace spikeweave::python
