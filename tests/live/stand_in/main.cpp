// A stand-in for the Open Ephys GUI. Prints its addresses, and at the end what it sent and dropped.
//   open_ephys_gui --zmq-interface tcp://127.0.0.1:5556 --seconds 10 --spikes-per-s 20000

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>

#include "live/stand_in/open_ephys_gui.hpp"

namespace {

using spikeweave::live::stand_in::gui_counts;
using spikeweave::live::stand_in::gui_options;
using spikeweave::live::stand_in::open_ephys_gui;

std::atomic<bool> is_to_stop{false};

gui_options read_options(int argc, char** argv) {
    gui_options options;
    const std::map<std::string, std::string*> texts{
        {"--zmq-interface", &options.zmq_interface},
        {"--event-broadcaster", &options.event_broadcaster},
        {"--network-events", &options.network_events}};
    const std::map<std::string, double*> numbers{{"--seconds", &options.seconds},
                                                 {"--spikes-per-s", &options.spikes_per_s},
                                                 {"--burst-per-s", &options.burst_per_s}};
    const std::map<std::string, std::int64_t*> whole_numbers{
        {"--units", &options.units},
        {"--rate-hz", &options.rate_hz},
        {"--block-samples", &options.block_samples},
        {"--held-back-samples", &options.held_back_samples},
        {"--channels", &options.channels},
        {"--high-water-mark", &options.high_water_mark},
        {"--unsent-every", &options.unsent_every}};
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--waits-for-subscriber") {
            options.waits_for_subscriber = true;
            continue;
        }
        if (++i == argc) throw std::runtime_error(name + " has no value");
        if (const auto text = texts.find(name); text != texts.end())
            *text->second = argv[i];
        else if (const auto number = numbers.find(name); number != numbers.end())
            *number->second = std::stod(argv[i]);
        else if (const auto whole = whole_numbers.find(name); whole != whole_numbers.end())
            *whole->second = std::stoll(argv[i]);
        else
            throw std::runtime_error("there is no option " + name);
    }
    return options;
}

}  // namespace

int main(int argc, char** argv) try {
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { is_to_stop = true; });
    open_ephys_gui gui(read_options(argc, argv));
    fmt::print("{}\n", gui.addresses());
    std::fflush(stdout);
    const gui_counts counts = gui.run(is_to_stop);
    fmt::print(R"({{"acquisitions":{},"spikes":{},"unsent":{},"sent":{},"dropped":{},)"
               R"("dropped_spikes":{},)"
               R"("broadcast":{},"broadcast_dropped":{}}})"
               "\n",
               counts.acquisitions, counts.spikes, counts.unsent, counts.zmq_interface.sent,
               counts.zmq_interface.dropped, counts.dropped_spikes, counts.event_broadcaster.sent,
               counts.event_broadcaster.dropped);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "open_ephys_gui: {}\n", error.what());
    return 2;
}
