#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spikeweave::report {

/// An SVG picture in our common style. Its width follows from what was drawn.
class drawing {
public:
    static constexpr double margin = 28;

    template <typename... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    }
    /// @param kind  a class of the style: head, title, note, tick, …; heads and notes widen the
    /// picture to their width in a wide font
    void text(double x, double y, std::string_view kind, std::string_view words);
    /// Draws a heading and a note in grey.
    void title(double y, std::string_view what, std::string_view note);
    void line(double x1, double y1, double x2, double y2, std::string_view kind);
    void reach(double x);
    /// Returns the whole picture.
    /// @param more  content of `style` and `defs` in addition to the common one
    std::string drawn(double height, std::string_view more = {}) const;

private:
    std::string body_;
    double width_ = 480;
};

/// Positions for at most `most` marks of an axis: multiples of 1, 2 or 5 times a power of ten, at
/// least `least_step` apart.
std::vector<double> axis_marks(double low, double high, std::size_t most, double least_step = 0);

/// Colours that can be told apart, also with colour blindness.
std::string_view distinct_colour(std::size_t number);

}  // namespace spikeweave::report
