#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace spikeweave::episodes {

/// A vector that loses elements in front.
template <class Element>
class front_queue {
public:
    void push_back(Element element) { elements_.push_back(std::move(element)); }
    void drop(std::size_t count) {
        first_ += count;
        // Fewer elements are moved than go, so each is moved less than once on average.
        if (first_ <= elements_.size() / 2) return;
        elements_.erase(elements_.begin(), elements_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
    template <class Condition>
    std::size_t drop_while(Condition condition) {
        std::size_t count = 0;
        while (count < size() && condition((*this)[count])) ++count;
        drop(count);
        return count;
    }
    std::size_t size() const { return elements_.size() - first_; }
    bool empty() const { return size() == 0; }
    const Element& operator[](std::size_t i) const { return elements_[first_ + i]; }
    const Element& front() const { return elements_[first_]; }
    std::span<const Element> view() const { return std::span{elements_}.subspan(first_); }

private:
    std::vector<Element> elements_{};  // those before `first_` are dropped
    std::size_t first_ = 0;
};

}  // namespace spikeweave::episodes
