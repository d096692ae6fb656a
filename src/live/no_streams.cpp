// Stands for what needs simdjson and ZeroMQ in a build without them.

#include "live/sinks/receivers.hpp"
#include "live/sources/streams.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/live/spike_sender.hpp"

namespace spikeweave::live {
namespace {

[[noreturn]] void refuse_streams() {
    throw invalid_argument(
        "this build of spikeweave cannot read streams: it was built without simdjson and ZeroMQ "
        "(libsimdjson-dev, libzmq3-dev); for Python, pip install . "
        "--config-settings=cmake.define.SPIKEWEAVE_LIVE=ON in the source adds them");
}

[[noreturn]] void refuse_destination(const std::string& to) {
    throw invalid_argument("to", "this build of spikeweave cannot send to " + to +
                                     ": it was built without ZeroMQ (libzmq3-dev)");
}

}  // namespace

std::unique_ptr<source> json_lines_stream(const std::string&, const std::vector<std::string>&,
                                          const std::stop_token&, duration) {
    refuse_streams();
}

std::unique_ptr<source> open_ephys(open_ephys_sender, const std::string&, const std::string&,
                                   const std::vector<std::string>&, const std::stop_token&) {
    refuse_streams();
}

std::unique_ptr<sample_stream> open_ephys_continuous(const std::string&, const std::string&,
                                                     const recording_description&, double,
                                                     const std::stop_token&,
                                                     std::chrono::milliseconds) {
    refuse_streams();
}

std::unique_ptr<source> acknowledged_stream(const std::string&, senders&&, const std::stop_token&) {
    refuse_streams();
}

std::unique_ptr<line_output> zeromq_publisher(const std::string&,
                                              const std::shared_ptr<delivery_report>& report, int) {
    refuse_destination(report->to());
}

std::unique_ptr<reaction> network_events(const destination& to,
                                         const std::shared_ptr<delivery_report>&) {
    refuse_destination(to.text);
}

}  // namespace spikeweave::live

namespace spikeweave {

class spike_sender::connection {};

spike_sender::spike_sender(const std::string&, const std::vector<std::string>&,
                           const spike_sender_options&) {
    live::refuse_streams();
}

spike_sender::~spike_sender() = default;

void spike_sender::add_units(std::span<const std::string>) {}

void spike_sender::send(std::span<const std::int64_t>, std::span<const unit_id>, std::int64_t) {}

void spike_sender::finish() {}

spike_sender_counts spike_sender::counts() const {
    return {};
}

}  // namespace spikeweave
