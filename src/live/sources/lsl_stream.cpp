#include "live/sources/streams.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "live/sources/arrivals.hpp"
#include "live/sources/lsl_frames.hpp"
#include "live/sources/lsl_inlet.hpp"
#include "live/sources/lsl_samples.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// liblsl counts what may wait in hundreds of samples.
constexpr std::int32_t most_hundreds_waiting = 10'000;
constexpr std::uint32_t most_samples_waiting = 100U * most_hundreds_waiting;
constexpr double between_looks_s =
    std::chrono::duration<double>(arrival_bound::between_looks).count();

class lsl_source : public source {
public:
    lsl_source(std::string name, std::vector<std::string> unit_names, std::stop_token stop,
               duration lateness)
        : stop_(std::move(stop)),
          samples_(std::move(unit_names), lateness),
          inlet_(std::move(name), most_hundreds_waiting, stop_,
                 [this](lsl_library::info stream) { check(stream); }) {}

    const std::vector<std::string>& unit_names() const override { return samples_.unit_names(); }

    std::chrono::steady_clock::time_point arrived_after() const override {
        return arrived_.since();
    }

    std::optional<source_block> next() override {
        const auto end = clock::now() + longest_silence;
        while (!stop_.stop_requested()) {
            if (auto block = samples_.next()) return block;
            if (inlet_.handle() != nullptr)
                take_samples();
            else
                inlet_.connect_again();
            if (auto block = samples_.next()) return block;
            if (clock::now() >= end) return source_block{};
        }
        return {};
    }

private:
    using clock = std::chrono::steady_clock;

    void check(lsl_library::info stream) {
        const lsl_library& lsl = inlet_.library();
        if (lsl.get_channel_count(stream) != 1)
            inlet_.fail(fmt::format("has {} channels, expected one that says the unit of a spike",
                                    lsl.get_channel_count(stream)));
        if (lsl.get_nominal_srate(stream) != lsl_library::irregular_rate)
            inlet_.fail(
                fmt::format("has {} samples a second, expected spikes, which have no such rate",
                            lsl.get_nominal_srate(stream)));
        const std::int32_t format = lsl.get_channel_format(stream);
        if (format != lsl_library::text && format != lsl_library::int_8 &&
            format != lsl_library::int_16 && format != lsl_library::int_32 &&
            format != lsl_library::int_64)
            inlet_.fail("has neither text nor whole numbers, expected the units of spikes");
        has_text_ = format == lsl_library::text;
    }

    // Spikes of a burst are not kept waiting until all of it has come. When no sample may wait any
    // more, liblsl drops the oldest without telling.
    void take_samples() {
        constexpr std::size_t most_at_once = 500;
        if (lsl().samples_available(inlet_.handle()) >= most_samples_waiting) samples_.add_loss();
        std::int32_t error = lsl_library::no_error;
        double wait_s = between_looks_s;
        std::size_t taken = 0;
        arrived_.begin_read();
        for (; taken < most_at_once; ++taken, wait_s = 0)
            if (!(has_text_ ? take_text(wait_s, error) : take_number(wait_s, error))) break;
        arrived_.looked(taken < most_at_once);
        if (error == lsl_library::no_error || error == lsl_library::timeout) return;
        inlet_.disconnect();
        samples_.connection_broke();
    }

    bool take_text(double wait_s, std::int32_t& error) {
        char* text = nullptr;
        std::uint32_t size = 0;
        const double time_s =
            lsl().pull_sample_buf(inlet_.handle(), &text, &size, 1, wait_s, &error);
        if (time_s == 0 || error != lsl_library::no_error) return false;
        samples_.take(time_s + inlet_.offset_s(), std::string_view(text, size));
        lsl().destroy_string(text);
        return true;
    }

    bool take_number(double wait_s, std::int32_t& error) {
        std::int64_t number = 0;
        const double time_s = lsl().pull_sample_l(inlet_.handle(), &number, 1, wait_s, &error);
        if (time_s == 0 || error != lsl_library::no_error) return false;
        samples_.take(time_s + inlet_.offset_s(), number);
        return true;
    }

    const lsl_library& lsl() const { return inlet_.library(); }

    std::stop_token stop_;
    lsl_samples samples_;
    arrival_bound arrived_{};
    bool has_text_ = false;
    lsl_inlet inlet_;  // the last member: it is checked when it is connected
};

// Samples of all channels. liblsl drops the oldest ones that wait without telling.
class lsl_continuous : public sample_stream {
public:
    lsl_continuous(std::string name, recording_description of, double gain_uv, std::stop_token stop)
        : stop_(std::move(stop)),
          frames_(std::move(of), gain_uv),
          inlet_(std::move(name), longest_wait_s, stop_,
                 [this](lsl_library::info stream) { check(stream); }) {}

    const recording_description& description() const override { return frames_.description(); }
    std::optional<std::chrono::steady_clock::time_point> arrived_after() const override {
        return arrived_.since();
    }

    std::optional<sample_block> next() override {
        const auto end = clock::now() + longest_silence;
        while (!stop_.stop_requested()) {
            if (auto block = frames_.next()) return block;
            if (inlet_.handle() != nullptr)
                take();
            else
                inlet_.connect_again();
            if (auto block = frames_.next()) return block;
            if (clock::now() >= end) return sample_block{};
        }
        return {};
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::int32_t longest_wait_s = 5;
    static constexpr double most_taken_s = 0.1;
    // liblsl waits until so many have come, or for this time.
    static constexpr double to_wait_s = 0.001;

    void check(lsl_library::info stream) {
        const lsl_library& lsl = inlet_.library();
        const std::int32_t format = lsl.get_channel_format(stream);
        is_whole_ = format == lsl_library::int_8 || format == lsl_library::int_16;
        if (!is_whole_ && format != lsl_library::float_32 && format != lsl_library::float_64)
            inlet_.fail("has other samples than int16, float32 or double64");
        if (const std::string problem =
                frames_.begin(static_cast<std::size_t>(lsl.get_channel_count(stream)),
                              lsl.get_nominal_srate(stream), is_whole_);
            !problem.empty())
            inlet_.fail(problem);
        const auto most =
            static_cast<std::size_t>(frames_.description().rate_hz * most_taken_s) + 1;
        times_s_.resize(most);
        counts_.resize(is_whole_ ? most * channels() : 0);
        microvolts_.resize(is_whole_ ? 0 : most * channels());
    }

    std::size_t channels() const { return frames_.description().channels.size(); }

    void take() {
        const lsl_library& lsl = inlet_.library();
        const double most_waiting = longest_wait_s * frames_.description().rate_hz;
        if (lsl.samples_available(inlet_.handle()) + 1 >= most_waiting) frames_.add_loss();
        arrived_.begin_read();
        std::int32_t error = lsl_library::no_error;
        const unsigned long values =
            is_whole_ ? lsl.pull_chunk_s(inlet_.handle(), counts_.data(), times_s_.data(),
                                         counts_.size(), times_s_.size(), to_wait_s, &error)
                      : lsl.pull_chunk_f(inlet_.handle(), microvolts_.data(), times_s_.data(),
                                         microvolts_.size(), times_s_.size(), to_wait_s, &error);
        const std::size_t frames = values / channels();
        for (double& time_s : std::span(times_s_).first(frames)) time_s += inlet_.offset_s();
        const std::span<const double> times_s = std::span(times_s_).first(frames);
        if (is_whole_)
            frames_.take(std::span(counts_).first(values), times_s);
        else
            frames_.take(std::span(microvolts_).first(values), times_s);
        arrived_.looked(frames < times_s_.size());
        if (error == lsl_library::no_error || error == lsl_library::timeout) return;
        inlet_.disconnect();
        frames_.add_loss();
    }

    std::stop_token stop_;
    lsl_frames frames_;
    arrival_bound arrived_{};
    bool is_whole_ = false;
    std::vector<double> times_s_{};
    std::vector<std::int16_t> counts_{};
    std::vector<float> microvolts_{};
    lsl_inlet inlet_;  // the last member: it is checked when it is connected
};

}  // namespace

std::unique_ptr<source> lsl_stream(const std::string& name,
                                   const std::vector<std::string>& unit_names,
                                   const std::stop_token& stop, duration lateness) {
    return std::make_unique<lsl_source>(name, unit_names, stop, lateness);
}

std::unique_ptr<sample_stream> lsl_sample_stream(const std::string& name,
                                                 const recording_description& of, double gain_uv,
                                                 const std::stop_token& stop) {
    return std::make_unique<lsl_continuous>(name, of, gain_uv, stop);
}

}  // namespace spikeweave::live
