#include "record/filter/across_channels.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace spikeweave::record {
namespace {

// Medians of consecutive frames. Most channels are outside a bracket around the last median, and
// one comparison decides on which side. All channels are examined only if the median itself is
// outside or if there are few channels.
class running_median {
public:
    explicit running_median(std::size_t channels) : room_(channels) {}

    double of(std::span<const double> values) {
        const std::size_t middle = values.size() / 2;
        if (values.size() >= fewest) {
            const double low = last_ - width_;
            const double high = last_ + width_;
            std::size_t below = 0;
            std::size_t inside = 0;
            for (const double value : values) {
                room_[inside] = value;
                inside += static_cast<std::size_t>(value >= low) &
                          static_cast<std::size_t>(value <= high);
                below += static_cast<std::size_t>(value < low);
            }
            if (below < middle && middle < below + inside) {
                if (inside > values.size() / most_inside) width_ *= narrower;
                return last_ = selected(middle - below, inside, values.size());
            }
        }
        std::copy(values.begin(), values.end(), room_.begin());
        last_ = selected(middle, values.size(), values.size());
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        width_ = std::max(wider * width_, (*most - *least) / values_across);
        return last_;
    }

private:
    static constexpr std::size_t fewest = 32;
    static constexpr std::size_t most_inside = 8;  // at most one value in 8 is inside
    static constexpr double narrower = 0.95;
    static constexpr double wider = 1.5;
    static constexpr double values_across = 32;

    // Returns the value of this rank among the first `size` values of the buffer; for an even
    // number of channels, its mean with the previous one.
    double selected(std::size_t rank, std::size_t size, std::size_t channels) {
        const auto begin = room_.begin();
        const auto middle = begin + static_cast<std::ptrdiff_t>(rank);
        std::nth_element(begin, middle, begin + static_cast<std::ptrdiff_t>(size));
        if (channels % 2 == 1) return *middle;
        return (*middle + *std::max_element(begin, middle)) / 2;
    }

    std::vector<double> room_;
    double last_ = 0;
    double width_ = 0;
};

constexpr std::size_t columns_together = 16;
constexpr std::size_t rows_together = 4;

// Keeps a tile of the product, some frames by some channels, in registers.
template <std::size_t rows>
void multiply(const float* from, const float* matrix, std::size_t channels, std::size_t columns,
              float* to) {
    std::array<std::array<float, columns_together>, rows> sums{};
    for (std::size_t k = 0; k < channels; ++k) {
        std::array<float, columns_together> weights{};
        std::copy_n(matrix + k * channels, columns, weights.begin());
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns_together; ++c)
                sums[r][c] += from[r * channels + k] * weights[c];
    }
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(sums[r].begin(), columns, to + r * channels);
}

}  // namespace

void subtract_medians(std::size_t channels, std::span<const std::uint32_t> referenced,
                      std::span<double> frames) {
    running_median median(referenced.size());
    std::vector<double> some(referenced.size());
    const bool all = referenced.size() == channels;
    for (std::size_t at = 0; at < frames.size(); at += channels) {
        const std::span<double> frame = frames.subspan(at, channels);
        if (all) {
            const double taken = median.of(frame);
            for (double& value : frame) value -= taken;
            continue;
        }
        for (std::size_t i = 0; i < some.size(); ++i) some[i] = frame[referenced[i]];
        const double taken = median.of(some);
        for (const std::uint32_t c : referenced) frame[c] -= taken;
    }
}

void whiten_frames(std::span<const float> matrix, std::size_t channels, std::span<float> frames) {
    std::vector<float> from(rows_together * channels);
    for (std::size_t at = 0; at < frames.size(); at += from.size()) {
        const std::span<float> some = frames.subspan(at, std::min(from.size(), frames.size() - at));
        std::copy(some.begin(), some.end(), from.begin());
        const std::size_t rows = some.size() / channels;
        for (std::size_t c = 0; c < channels; c += columns_together) {
            const std::size_t columns = std::min(columns_together, channels - c);
            if (rows == rows_together) {
                multiply<rows_together>(from.data(), matrix.data() + c, channels, columns,
                                        some.data() + c);
                continue;
            }
            for (std::size_t r = 0; r < rows; ++r)
                multiply<1>(from.data() + r * channels, matrix.data() + c, channels, columns,
                            some.data() + r * channels + c);
        }
    }
}

}  // namespace spikeweave::record
