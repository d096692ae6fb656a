#include "report/recorded_part.hpp"

#include <utility>

#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::report {

json contents_of(const spike_sequence& spikes) {
    json contents{{"spikes", spikes.size()},
                  {"units", spikes.unit_count()},
                  {"begin_s", to_seconds(spikes.span().begin)},
                  {"end_s", to_seconds(spikes.span().end)}};
    if (spikes.epochs().empty()) return contents;
    contents["observed_s"] = to_seconds(spikes.observed_time());
    contents["epochs_s"] = spans_json(spikes.epochs());
    return contents;
}

spike_sequence recorded_part(spike_sequence spikes, const json& input) {
    const auto time_of = [](const json& seconds) {
        return duration_from_seconds(seconds.get<double>());
    };
    if (const auto found = input.find("epochs_s"); found != input.end())
        return within_epochs(spikes, spans_from(*found));
    const time_span span{time_of(input.at("begin_s")), time_of(input.at("end_s"))};
    return span == spikes.span() ? std::move(spikes) : within_span(spikes, span);
}

}  // namespace spikeweave::report
