#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spikeweave::report {

/// An SVG picture in the style of all of ours. It is as wide as what was drawn reaches.
class drawing {
public:
    static constexpr double margin = 28;

    template <typename... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    }
    /// @param kind  a class of the style: head, title, note, tick, …; heads and notes widen the
    /// picture to what they take in a wide font
    void text(double x, double y, std::string_view kind, std::string_view words);
    /// A heading and, in grey, what is said to it.
    void title(double y, std::string_view what, std::string_view note);
    void line(double x1, double y1, double x2, double y2, std::string_view kind);
    void reach(double x);
    /// The whole picture.
    /// @param more  what stands in `style` and `defs` beside what is common
    std::string drawn(double height, std::string_view more = {}) const;

private:
    std::string body_;
    double width_ = 480;
};

/// Places for the marks of an axis, at most `most`: multiples of 1, 2 or 5 times a power of ten,
/// and at least `least_step` apart.
std::vector<double> axis_marks(double low, double high, std::size_t most, double least_step = 0);

/// Colours that are told apart, also by those who see few.
std::string_view distinct_colour(std::size_t number);

}  // namespace spikeweave::report
