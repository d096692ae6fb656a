#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "core/text.hpp"
#include "report/document.hpp"
#include "report/several.hpp"
#include "report/text.hpp"

namespace spikeweave::report {

std::string several_bursts_data(std::vector<named_result> results) {
    json document = head_of("bursts-comparison");
    json& recordings = document["recordings"] = json::array();
    std::uint64_t bursts = 0;
    std::uint64_t of_network = 0;
    for (named_result& one : results) {
        const json& found = one.document.at("run").at("bursts");
        bursts += found.at("bursts").get<std::uint64_t>();
        of_network += found.at("network_bursts").get<std::uint64_t>();
        recordings.push_back({{"name", one.name},
                              {"run", std::move(one.document.at("run"))},
                              {"unit_names", std::move(one.document.at("unit_names"))},
                              {"summary", std::move(one.document.at("summary"))},
                              {"units", std::move(one.document.at("units"))}});
    }
    add_verdict(document, "recordings",
                fmt::format("{} of units and {} of the network in {} recordings",
                            plural(bursts, "burst", "bursts"), core::grouped(of_network),
                            core::grouped(results.size())) +
                    ".");
    return compact(document);
}

}  // namespace spikeweave::report
