#include "simulate/option_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace spikeweave::simulate {
namespace {

constexpr double longest_s = 365.0 * 24 * 3600;

std::vector<std::uint32_t> numbers_in(const option_value& value) {
    const auto& text = std::get<std::string>(value);
    std::vector<std::uint32_t> numbers;
    if (text == "none") return numbers;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        numbers.push_back(
            option_codec<std::vector<std::uint32_t>>::read(text.substr(begin, end - begin)).at(0));
        begin = end + 1;
    }
    return numbers;
}

}  // namespace

option& add_numbers(option_list& list, std::string name, std::vector<std::uint32_t>& numbers,
                    std::string help) {
    option& one = list.add(std::move(name), numbers, std::move(help));
    one.get = [&numbers]() -> option_value {
        return numbers.empty() ? std::string("none") : fmt::format("{}", fmt::join(numbers, ","));
    };
    one.put = [&numbers](const option_value& given) { numbers = numbers_in(given); };
    one.may_be_unset = false;
    return one;
}

void add_number_of(option_list& list, std::string name, std::uint32_t& field, std::string help) {
    list.add(std::move(name), field, std::move(help)).at_least(1);
}

void add_length(option_list& list, duration& length) {
    list.add("length", length, "length of the recording").above(0).at_most(longest_s);
}

void add_seed(option_list& list, std::uint64_t& seed) {
    list.add("seed", seed, "random seed; the same seed gives the same result on every machine")
        .basic();
}

}  // namespace spikeweave::simulate
