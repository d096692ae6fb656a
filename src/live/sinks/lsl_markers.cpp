#include "live/sinks/receivers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "live/network/lsl.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// Receivers know a stream by it that was started again.
std::string source_id_of(const std::string& name) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    return fmt::format("spikeweave {} {}", name, host.data());
}

class lsl_marker_stream : public reaction {
public:
    lsl_marker_stream(const destination& to, std::shared_ptr<delivery_report> report)
        : reaction(to, std::move(report)), lsl_(load_lsl()) {
        constexpr std::int32_t one_channel = 1, as_pushed = 0, most_hundreds_waiting = 360;
        const lsl_library::info info = lsl_.create_streaminfo(
            to.address.c_str(), "Markers", one_channel, lsl_library::irregular_rate,
            lsl_library::text, source_id_of(to.address).c_str());
        if (info != nullptr) {
            outlet_ = lsl_.create_outlet(info, as_pushed, most_hundreds_waiting);
            lsl_.destroy_streaminfo(info);
        }
        if (outlet_ == nullptr)
            throw io_error(fmt::format("cannot make the LSL stream '{}'", to.address));
    }

    // Markers that are on their way would be lost with the stream.
    ~lsl_marker_stream() override {
        constexpr std::chrono::milliseconds to_arrive{200};
        if (lsl_.have_consumers(outlet_) != 0) std::this_thread::sleep_for(to_arrive);
        lsl_.destroy_outlet(outlet_);
    }

    lsl_marker_stream(const lsl_marker_stream&) = delete;
    lsl_marker_stream& operator=(const lsl_marker_stream&) = delete;

private:
    void react(const detection& what) override {
        const std::string text = marker_text(what);
        const char* marker = text.c_str();
        if (lsl_.push_sample_str(outlet_, &marker) == lsl_library::no_error)
            report().tell_delivered();
        else
            report().tell_lost("liblsl did not take it");
    }

    const lsl_library& lsl_;
    lsl_library::outlet outlet_ = nullptr;
};

}  // namespace

std::unique_ptr<reaction> lsl_markers(const destination& to,
                                      std::shared_ptr<delivery_report> report) {
    return std::make_unique<lsl_marker_stream>(to, std::move(report));
}

}  // namespace spikeweave::live
