#include "published/occurrences/cuda/occurrences.hpp"

#include <fmt/format.h>

#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {

void throw_occurrence_capacity_exceeded(int ordinal, std::uint64_t most) {
    throw device_error(
        fmt::format("GPU {} has too little memory: one spike begins more partial occurrences than "
                    "the {} there is room for (the strategy latest-start lists none)",
                    ordinal, most));
}

}  // namespace spikeweave::episodes
