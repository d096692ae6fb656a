#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Messages as the plugins of Open Ephys send them.
namespace spikeweave::live::stand_in {

using message = std::vector<std::string>;

inline const std::string data_topic("DATA\0", 5);
inline const std::string event_topic("EVENT\0", 6);

inline message data_message(std::uint64_t number, std::int64_t sample, std::int64_t samples,
                            double rate = 30000, std::string_view stream = "probe",
                            std::int64_t channel = 0) {
    return {data_topic,
            fmt::format(
                R"({{"message_num":{},"type":"data","content":{{"stream":"{}","channel_num":{},)"
                R"("channel_name":"CH{}","num_samples":{},"sample_num":{},"sample_rate":{}}},)"
                R"("data_size":{},"timestamp":0}})",
                number, stream, channel, channel + 1, samples, sample, rate, 4 * samples),
            std::string(64, '\0')};
}

/// Data with their samples, in microvolts.
inline message samples_message(std::uint64_t number, std::int64_t sample, std::int64_t channel,
                               const std::vector<float>& microvolts, double rate = 30000,
                               std::string_view stream = "probe") {
    message out = data_message(number, sample, static_cast<std::int64_t>(microvolts.size()), rate,
                               stream, channel);
    out[2].resize(microvolts.size() * sizeof(float));
    std::memcpy(out[2].data(), microvolts.data(), out[2].size());
    return out;
}

inline message spike_message(std::uint64_t number, std::int64_t sample, std::string_view electrode,
                             int sorted = 0, std::string_view stream = "probe") {
    return {event_topic,
            fmt::format(
                R"({{"message_num":{},"type":"spike","spike":{{"stream":"{}","source_node":101,)"
                R"("electrode":"{}","sample_num":{},"num_channels":1,"num_samples":40,)"
                R"("sorted_id":{},"threshold":[-50]}},"timestamp":0}})",
                number, stream, electrode, sample, sorted),
            std::string(160, '\0')};
}

inline message ttl_message(std::uint64_t number) {
    return {
        event_topic,
        fmt::format(R"({{"message_num":{},"type":"event","content":{{"stream":"probe",)"
                    R"("source_node":100,"type":3,"sample_num":5}},"data_size":0,"timestamp":0}})",
                    number)};
}

/// A spike of the Event Broadcaster.
inline message broadcast_message(std::int64_t sample, std::string_view electrode,
                                 double rate = 30000) {
    return {std::string("\1\0", 2),
            fmt::format(R"({{"event_type":"spike","stream":"probe","source_node":101,)"
                        R"("electrode":"{}","num_channels":1,"sample_rate":{},)"
                        R"("sample_number":{},"sorted_id":0,"amp1":-61.2}})",
                        electrode, rate, sample)};
}

}  // namespace spikeweave::live::stand_in
