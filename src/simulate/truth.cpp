#include <fmt/format.h>

#include <string>
#include <system_error>

#include "io/atomic_file.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/network.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {
namespace {

// Returns the chain that contains this step, or "-".
std::string chain_of(const planted_edge& edge, const std::vector<std::vector<unit_id>>& chains) {
    for (std::size_t c = 0; c < chains.size(); ++c)
        for (std::size_t i = 1; i < chains[c].size(); ++i)
            if (chains[c][i - 1] == edge.from && chains[c][i] == edge.to) return std::to_string(c);
    return "-";
}

double milliseconds(duration d) {
    return static_cast<double>(d.count()) / 1e3;
}

double seconds(duration d) {
    return static_cast<double>(d.count()) / 1e6;
}

template <class Values, class Format>
std::string joined(const Values& values, Format format) {
    std::string out;
    for (const auto& value : values)
        out += fmt::format("{}{}", out.empty() ? "" : ",", format(value));
    return out;
}

void put_truth(io::atomic_file& file, const simulated_spikes& simulated) {
    file.write("from\tto\tdelay_ms\tprobability\tchain\n");
    for (const planted_edge& edge : simulated.truth)
        file.write(fmt::format("{}\t{}\t{}\t{}\t{}\n", simulated.spikes.name(edge.from),
                               simulated.spikes.name(edge.to), milliseconds(edge.delay),
                               edge.probability, chain_of(edge, simulated.chains)));
}

void put_truth(io::atomic_file& file, const simulated_patterns& simulated) {
    file.write("pattern\tsize\tunits\tlags_ms\tcount\tduration_ms\ttimes_s\n");
    std::size_t number = 0;
    for (const planted_pattern& pattern : simulated.truth)
        file.write(fmt::format(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\n", number++, pattern.units.size(),
            joined(pattern.units, [&](unit_id unit) { return simulated.spikes.name(unit); }),
            joined(pattern.lags, milliseconds), pattern.times.size(),
            milliseconds(pattern.lags.back()), joined(pattern.times, seconds)));
}

void put_truth(io::atomic_file& file, const simulated_network& simulated) {
    file.write("from\tto\tdelay_ms\tweight_mv\n");
    for (const synapse& one : simulated.truth)
        file.write(fmt::format("{}\t{}\t{}\t{:.4f}\n", simulated.spikes.name(one.from),
                               simulated.spikes.name(one.to), milliseconds(one.delay),
                               one.weight_mv));
}

template <class Simulated>
void write_both(const std::filesystem::path& path, const Simulated& simulated, const execution& run,
                bool overwrite) {
    const std::filesystem::path truth = truth_path(path);
    // An earlier truth stays with its spikes until these are replaced, because one without the
    // other would be mistaken for the truth of other spikes.
    io::atomic_file file(truth, overwrite);
    put_truth(file, simulated);
    file.finish();
    write_spikes(path, simulated.spikes, run, overwrite);
    try {
        file.commit();
    } catch (const io_error& error) {
        std::error_code ignored;
        if (overwrite) std::filesystem::remove(truth, ignored);
        throw io_error(fmt::format("'{}': cannot be written, but its spikes were: {}",
                                   truth.string(), error.what()));
    }
}

}  // namespace

void write_truth(const std::filesystem::path& path, const simulated_spikes& simulated) {
    io::atomic_file file(path);
    put_truth(file, simulated);
    file.commit();
}

void write_truth(const std::filesystem::path& path, const simulated_patterns& simulated) {
    io::atomic_file file(path);
    put_truth(file, simulated);
    file.commit();
}

void write_truth(const std::filesystem::path& path, const simulated_network& simulated) {
    io::atomic_file file(path);
    put_truth(file, simulated);
    file.commit();
}

std::filesystem::path truth_path(const std::filesystem::path& spikes) {
    std::filesystem::path stem = spikes;
    if (stem.extension() == ".gz") stem.replace_extension();
    return stem.replace_extension(".truth.tsv");
}

void write_simulation(const std::filesystem::path& path, const simulated_spikes& simulated,
                      const execution& run, bool overwrite) {
    write_both(path, simulated, run, overwrite);
}

void write_simulation(const std::filesystem::path& path, const simulated_patterns& simulated,
                      const execution& run, bool overwrite) {
    write_both(path, simulated, run, overwrite);
}

void write_simulation(const std::filesystem::path& path, const simulated_network& simulated,
                      const execution& run, bool overwrite) {
    write_both(path, simulated, run, overwrite);
}

}  // namespace spikeweave
