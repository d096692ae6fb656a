#include "spikeweave/sort/sorting.hpp"

#include "fuzz/harness.hpp"
#include "spikeweave/sort/files.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(sorting, parts, nullptr) {
    const auto path = folder.file(
        "sorting.npz", bytes.starts_with("PK") ? std::string(bytes) : zip_of(parts_of(bytes)));
    const sorting first = read_sorting(path);
    const auto again = folder.path() / "again.npz";
    write_sorting(again, first);
    require(read_sorting(again) == first, "a sorting comes back as another");
}

}  // namespace spikeweave::fuzz
