#include "live/sources/streams.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "live/network/lsl.hpp"
#include "live/sources/arrivals.hpp"
#include "live/sources/lsl_samples.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// liblsl counts what may wait in hundreds of samples.
constexpr std::int32_t most_hundreds_waiting = 10'000;
constexpr std::uint32_t most_samples_waiting = 100U * most_hundreds_waiting;
constexpr double between_looks_s =
    std::chrono::duration<double>(arrival_bound::between_looks).count();
// LSL asks again, in other ways, after half a second.
constexpr double to_find_s = 1;

// A description of a stream.
class lsl_description {
public:
    lsl_description(const lsl_library& lsl, lsl_library::info info) : lsl_(&lsl), info_(info) {}
    ~lsl_description() {
        if (info_ != nullptr) lsl_->destroy_streaminfo(info_);
    }
    lsl_description(const lsl_description&) = delete;
    lsl_description& operator=(const lsl_description&) = delete;
    lsl_description(lsl_description&& other) noexcept
        : lsl_(other.lsl_), info_(std::exchange(other.info_, nullptr)) {}

    lsl_library::info get() const { return info_; }

private:
    const lsl_library* lsl_;
    lsl_library::info info_;
};

class lsl_source : public source {
public:
    lsl_source(std::string name, std::vector<std::string> unit_names, std::stop_token stop,
               duration lateness)
        : lsl_(load_lsl()),
          name_(std::move(name)),
          stop_(std::move(stop)),
          samples_(std::move(unit_names), lateness) {
        const auto end = clock::now() + patience;
        while (!stop_.stop_requested() && !connect(find("name", name_, to_find_s)))
            if (clock::now() >= end)
                fail("is not there: no sender has announced it, or none can be reached");
    }

    ~lsl_source() override { disconnect(); }
    lsl_source(const lsl_source&) = delete;
    lsl_source& operator=(const lsl_source&) = delete;

    const std::vector<std::string>& unit_names() const override { return samples_.unit_names(); }

    std::chrono::steady_clock::time_point arrived_after() const override {
        return arrived_.since();
    }

    std::optional<source_block> next() override {
        const auto end = clock::now() + longest_silence;
        while (!stop_.stop_requested()) {
            if (auto block = samples_.next()) return block;
            if (inlet_ != nullptr)
                take_samples();
            else
                connect_again();
            if (auto block = samples_.next()) return block;
            if (clock::now() >= end) return source_block{};
        }
        return {};
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds patience{10};

    [[noreturn]] void fail(std::string_view problem) const {
        throw io_error(fmt::format("the LSL stream '{}' {}", name_, problem));
    }

    std::vector<lsl_description> find(const char* property, const std::string& value,
                                      double timeout_s, std::int32_t least = 1) const {
        std::array<lsl_library::info, 2> found{};
        const std::int32_t count = lsl_.resolve_byprop(found.data(), found.size(), property,
                                                       value.c_str(), least, timeout_s);
        std::vector<lsl_description> streams;
        streams.reserve(found.size());
        for (std::int32_t i = 0; i < count; ++i)
            streams.emplace_back(lsl_, found[static_cast<std::size_t>(i)]);
        return streams;
    }

    void check(lsl_library::info stream) {
        if (find("name", name_, to_find_s, 2).size() > 1)
            fail("is there more than once: give one of them another name");
        if (lsl_.get_channel_count(stream) != 1)
            fail(fmt::format("has {} channels, expected one that says the unit of a spike",
                             lsl_.get_channel_count(stream)));
        if (lsl_.get_nominal_srate(stream) != lsl_library::irregular_rate)
            fail(fmt::format("has {} samples a second, expected spikes, which have no such rate",
                             lsl_.get_nominal_srate(stream)));
        const std::int32_t format = lsl_.get_channel_format(stream);
        if (format != lsl_library::text && format != lsl_library::int_8 &&
            format != lsl_library::int_16 && format != lsl_library::int_32 &&
            format != lsl_library::int_64)
            fail("has neither text nor whole numbers, expected the units of spikes");
        has_text_ = format == lsl_library::text;
        source_id_ = lsl_.get_source_id(stream);
    }

    // Connects to the stream that was found. Returns false if none was, or it does not answer.
    bool connect(const std::vector<lsl_description>& found) {
        constexpr double to_answer_s = 5;
        constexpr std::int32_t as_sent = 0, does_not_recover = 0;
        if (found.empty()) return false;
        const lsl_library::info stream = found.front().get();
        if (!was_connected_) check(stream);
        // It would recover by itself without telling that samples were lost.
        inlet_ = lsl_.create_inlet(stream, most_hundreds_waiting, as_sent, does_not_recover);
        if (inlet_ == nullptr) return false;
        std::int32_t error = lsl_library::no_error;
        lsl_.open_stream(inlet_, to_answer_s, &error);
        if (error == lsl_library::no_error)
            offset_s_ = lsl_.time_correction(inlet_, to_answer_s, &error);
        was_connected_ |= error == lsl_library::no_error;
        if (error != lsl_library::no_error) disconnect();
        return error == lsl_library::no_error;
    }

    // A sender that was started again is known by its identifier, if it has one.
    void connect_again() {
        connect(source_id_.empty() ? find("name", name_, to_find_s)
                                   : find("source_id", source_id_, to_find_s));
    }

    void disconnect() {
        if (inlet_ != nullptr) lsl_.destroy_inlet(std::exchange(inlet_, nullptr));
    }

    // Spikes of a burst are not kept waiting until all of it has come. When no sample may wait any
    // more, liblsl drops the oldest without telling.
    void take_samples() {
        constexpr std::size_t most_at_once = 500;
        if (lsl_.samples_available(inlet_) >= most_samples_waiting) samples_.add_loss();
        std::int32_t error = lsl_library::no_error;
        double wait_s = between_looks_s;
        std::size_t taken = 0;
        arrived_.begin_read();
        for (; taken < most_at_once; ++taken, wait_s = 0)
            if (!(has_text_ ? take_text(wait_s, error) : take_number(wait_s, error))) break;
        arrived_.looked(taken < most_at_once);
        if (error == lsl_library::no_error || error == lsl_library::timeout) return;
        disconnect();
        samples_.connection_broke();
    }

    bool take_text(double wait_s, std::int32_t& error) {
        char* text = nullptr;
        std::uint32_t size = 0;
        const double time_s = lsl_.pull_sample_buf(inlet_, &text, &size, 1, wait_s, &error);
        if (time_s == 0 || error != lsl_library::no_error) return false;
        samples_.take(time_s + offset_s_, std::string_view(text, size));
        lsl_.destroy_string(text);
        return true;
    }

    bool take_number(double wait_s, std::int32_t& error) {
        std::int64_t number = 0;
        const double time_s = lsl_.pull_sample_l(inlet_, &number, 1, wait_s, &error);
        if (time_s == 0 || error != lsl_library::no_error) return false;
        samples_.take(time_s + offset_s_, number);
        return true;
    }

    const lsl_library& lsl_;
    std::string name_;
    std::stop_token stop_;
    lsl_samples samples_;
    arrival_bound arrived_{};
    bool was_connected_ = false;
    bool has_text_ = false;
    std::string source_id_{};
    lsl_library::inlet inlet_ = nullptr;  // null: not connected yet
    double offset_s_ = 0;                 // from the sender's clock to that of this computer
};

}  // namespace

std::unique_ptr<source> lsl_stream(const std::string& name,
                                   const std::vector<std::string>& unit_names,
                                   const std::stop_token& stop, duration lateness) {
    return std::make_unique<lsl_source>(name, unit_names, stop, lateness);
}

}  // namespace spikeweave::live
