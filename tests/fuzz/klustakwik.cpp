#include <algorithm>

#include "fuzz/spikes.hpp"
#include "spikeweave/sort/files.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(klustakwik, parts, nullptr) {
    write_parts(folder, bytes, {"a.res.1", "a.clu.1", "a.xml"});
    read_and_write_again(folder, folder.path() / "a.res.1", spike_format::klustakwik, bytes);
}

// Reads only clusters, as `sort --start` does.
SPIKEWEAVE_FUZZ_TARGET(clusters, bytes, nullptr) {
    const auto lines = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
    static_cast<void>(
        read_clusters(folder.file("b.clu.1", bytes), lines > 0 ? lines - 1 : 0, one_thread()));
}

}  // namespace spikeweave::fuzz
