// The gain in speed of detection on several ranks, one thread each, from a recording in memory to
// spikes with features:
//   for n in 1 2 4; do mpirun --bind-to none -n $n detection_ranks [SECONDS]; done
// Each rank simulates the recording for itself. Rank 0 prints the time of three detections, and the
// number of spikes and a sum of their features, which must not depend on the number of ranks.

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <numeric>

#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/simulate/recording.hpp"

int main(int argc, char** argv) {
    using namespace spikeweave;
    const double seconds = argc > 1 ? std::atof(argv[1]) : 120;
    const simulated_recording made = simulate_recording(
        {.channels = 32,
         .length = std::chrono::duration_cast<duration>(std::chrono::duration<double>(seconds)),
         .units = 20,
         .seed = 1});
    const execution run{.threads = 1, .ranks = mpi_ranks()};
    for (int i = 0; i < 3; ++i) {
        run.ranks->gather("");  // so that all begin together
        const auto began = std::chrono::steady_clock::now();
        const detection_result found = detect_spikes(made.traces, {}, run);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        if (run.ranks->rank() == 0)
            fmt::print("{} ranks: {:.2f} s, {} spikes, {:.6f}\n", run.ranks->size(), took.count(),
                       found.size(),
                       std::accumulate(found.features.begin(), found.features.end(), 0.0));
    }
    return 0;
}
