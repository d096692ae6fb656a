#include "assess/rank_blocks.hpp"

#include <cstdint>
#include <utility>

#include "io/little_endian.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave::assess {

rank_block block_of_rank(std::size_t n, const execution& run) {
    if (!run.ranks) return {0, n};
    const auto rank = static_cast<std::size_t>(run.ranks->rank());
    const auto ranks = static_cast<std::size_t>(run.ranks->size());
    const std::size_t each = n / ranks;
    const std::size_t more = n % ranks;  // the first ranks take one more piece
    const auto begin = [&](std::size_t r) { return r * each + (r < more ? r : more); };
    return {begin(rank), begin(rank + 1)};
}

std::vector<std::string> gather_on_all(std::string bytes, const execution& run) {
    if (!run.ranks || run.ranks->size() == 1) return {std::move(bytes)};
    std::string packed;
    for (const std::string& part : run.ranks->gather(std::move(bytes))) {
        io::append(packed, static_cast<std::uint64_t>(part.size()));
        packed += part;
    }
    packed = run.ranks->broadcast(std::move(packed));
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < packed.size();) {
        const auto size = static_cast<std::size_t>(io::load<std::uint64_t>(packed.data() + at));
        at += sizeof(std::uint64_t);
        parts.push_back(packed.substr(at, size));
        at += size;
    }
    return parts;
}

}  // namespace spikeweave::assess
