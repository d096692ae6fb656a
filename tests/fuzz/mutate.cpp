#include <algorithm>
#include <random>

#include "fuzz/harness.hpp"
#include "io/little_endian.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace spikeweave::fuzz {
namespace {

std::string mutated(std::string_view bytes, std::size_t most) {
    std::string out(bytes);
    out.resize(std::max(most, bytes.size()));
    out.resize(
        LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(out.data()), bytes.size(), out.size()));
    return out;
}

// Returns the offset of the items of a numpy array; 0 for other bytes.
std::size_t items_at(std::string_view bytes) {
    constexpr std::size_t before_text = 10;
    if (!bytes.starts_with("\x93NUMPY\x01") || bytes.size() < before_text) return 0;
    const std::size_t at = before_text + io::load<std::uint16_t>(bytes.data() + 8);
    return at < bytes.size() ? at : 0;
}

}  // namespace

std::string mutated_part(std::string_view bytes, std::size_t most, unsigned seed) {
    std::minstd_rand random(seed);
    named_bytes parts = parts_of(bytes);
    if (parts.empty() || random() % 8 == 0) return mutated(bytes, most);
    std::string& part = parts[random() % parts.size()].second;
    const std::size_t room = most > bytes.size() ? most - bytes.size() : 0;
    const std::size_t begin = items_at(part);
    if (begin == 0 || random() % 4 == 0) {
        part = mutated(part, part.size() + room);
    } else {
        const std::size_t size = part.size() - begin;
        std::string items = mutated(std::string_view(part).substr(begin), size);
        items.resize(size);
        part.replace(begin, size, items);
    }
    return joined(parts);
}

}  // namespace spikeweave::fuzz
