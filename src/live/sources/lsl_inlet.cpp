#include "live/sources/lsl_inlet.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// LSL asks again, in other ways, after half a second.
constexpr double to_find_s = 1;

}  // namespace

// Of a stream.
class lsl_inlet::description {
public:
    description(const lsl_library& lsl, lsl_library::info info) : lsl_(&lsl), info_(info) {}
    ~description() {
        if (info_ != nullptr) lsl_->destroy_streaminfo(info_);
    }
    description(const description&) = delete;
    description& operator=(const description&) = delete;
    description(description&& other) noexcept
        : lsl_(other.lsl_), info_(std::exchange(other.info_, nullptr)) {}

    lsl_library::info get() const { return info_; }

private:
    const lsl_library* lsl_;
    lsl_library::info info_;
};

lsl_inlet::lsl_inlet(std::string name, std::int32_t most_waiting, const std::stop_token& stop,
                     std::function<void(lsl_library::info)> check)
    : lsl_(load_lsl()),
      name_(std::move(name)),
      most_waiting_(most_waiting),
      check_(std::move(check)) {
    constexpr std::chrono::seconds patience{10};
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!stop.stop_requested() && !connect(find("name", name_, to_find_s)))
        if (std::chrono::steady_clock::now() >= end)
            fail("is not there: no sender has announced it, or none can be reached");
}

void lsl_inlet::fail(std::string_view problem) const {
    throw io_error(fmt::format("the LSL stream '{}' {}", name_, problem));
}

std::vector<lsl_inlet::description> lsl_inlet::find(const char* property, const std::string& value,
                                                    double timeout_s, std::int32_t least) const {
    std::array<lsl_library::info, 2> found{};
    const std::int32_t count =
        lsl_.resolve_byprop(found.data(), found.size(), property, value.c_str(), least, timeout_s);
    std::vector<description> streams;
    streams.reserve(found.size());
    for (std::int32_t i = 0; i < count; ++i)
        streams.emplace_back(lsl_, found[static_cast<std::size_t>(i)]);
    return streams;
}

// Returns false if no stream was found, or it does not answer.
bool lsl_inlet::connect(const std::vector<description>& found) {
    constexpr double to_answer_s = 5;
    constexpr std::int32_t as_sent = 0, does_not_recover = 0;
    if (found.empty()) return false;
    const lsl_library::info stream = found.front().get();
    if (!was_connected_ && find("name", name_, to_find_s, 2).size() > 1)
        fail("is there more than once: give one of them another name");
    if (!was_connected_) check_(stream);
    source_id_ = lsl_.get_source_id(stream);
    inlet_ = lsl_.create_inlet(stream, most_waiting_, as_sent, does_not_recover);
    if (inlet_ == nullptr) return false;
    std::int32_t error = lsl_library::no_error;
    lsl_.open_stream(inlet_, to_answer_s, &error);
    if (error == lsl_library::no_error)
        offset_s_ = lsl_.time_correction(inlet_, to_answer_s, &error);
    was_connected_ |= error == lsl_library::no_error;
    if (error != lsl_library::no_error) disconnect();
    return error == lsl_library::no_error;
}

void lsl_inlet::connect_again() {
    connect(source_id_.empty() ? find("name", name_, to_find_s)
                               : find("source_id", source_id_, to_find_s));
}

void lsl_inlet::disconnect() {
    if (inlet_ != nullptr) lsl_.destroy_inlet(std::exchange(inlet_, nullptr));
}

}  // namespace spikeweave::live
