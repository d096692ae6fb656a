#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace spikeweave::report
