#include <fmt/format.h>

#include <string>
#include <utility>

#include "io/atomic_file.hpp"
#include "synfire/simulate/spikes.hpp"

namespace synfire {
namespace {

// The chain that takes this step, or "-".
std::string chain_of(const planted_edge& edge, const std::vector<std::vector<unit_id>>& chains) {
    for (std::size_t c = 0; c < chains.size(); ++c)
        for (std::size_t i = 1; i < chains[c].size(); ++i)
            if (chains[c][i - 1] == edge.from && chains[c][i] == edge.to) return std::to_string(c);
    return "-";
}

}  // namespace

void write_truth(const std::filesystem::path& path, const simulated_spikes& simulated) {
    io::atomic_file file(path);
    file.write("from\tto\tdelay_ms\tprobability\tchain\n");
    for (const planted_edge& edge : simulated.truth)
        file.write(fmt::format("{}\t{}\t{}\t{}\t{}\n", simulated.spikes.name(edge.from),
                               simulated.spikes.name(edge.to),
                               static_cast<double>(edge.delay.count()) / 1000, edge.probability,
                               chain_of(edge, simulated.chains)));
    file.commit();
}

}  // namespace synfire
