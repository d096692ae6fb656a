#include "live/sources/lsl_samples.hpp"

#include <bit>
#include <cstdlib>

#include "fuzz/harness.hpp"
#include "io/little_endian.hpp"

namespace spikeweave::fuzz {
namespace {

// The first byte of a sample selects what happens before it, and whether it is text.
enum lsl_step : unsigned char { has_text = 1, loss = 2, broken = 4, blocks_are_taken = 8 };

void append_sample(std::string& bytes, unsigned char step, double time_s, std::string_view name) {
    bytes += static_cast<char>(step | has_text);
    io::append(bytes, std::bit_cast<std::uint64_t>(time_s));
    bytes += static_cast<char>(name.size());
    bytes += name;
}

named_bytes lsl_seeds() {
    std::string names, numbers;
    append_sample(names, 0, 1.5, "n0");
    append_sample(names, blocks_are_taken, 1.501, "b");
    append_sample(names, loss, 1.502, "");
    append_sample(names, broken, 1e6, "\xc3\xa4");
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{7}, std::int64_t{-1}}) {
        numbers += static_cast<char>(number == 0 ? 0 : blocks_are_taken);
        io::append(numbers, std::bit_cast<std::uint64_t>(0.25));
        io::append(numbers, number);
    }
    return {{"names", names}, {"numbers", numbers}};
}

// Spikes of an epoch do not leap further than a window may have to be mined for.
class checked_samples {
public:
    void take(live::lsl_samples& from) {
        while (const auto block = from.next()) {
            units_ += block->new_units.size();
            if (block->begins_epoch) last_us_.reset();
            for (const live::spike_event& spike : block->spikes) {
                require(to_index(spike.unit) < units_, "a spike is of a unit that was not told");
                require(!last_us_ || std::abs(spike.time_us - *last_us_) <=
                                         live::stream_clock::longest_leap_us,
                        "a spike leaps");
                last_us_ = spike.time_us;
            }
            require(block->spikes.size() + block->missing + block->unreadable > 0 ||
                        block->begins_epoch || !block->new_units.empty(),
                    "a block is empty");
        }
        require(from.unit_names().size() == units_, "a unit appears that was not told");
    }

private:
    std::size_t units_ = 1;
    std::optional<std::int64_t> last_us_{};
};

}  // namespace

SPIKEWEAVE_FUZZ_TARGET(lsl_samples, bytes, lsl_seeds) {
    constexpr std::size_t head = 1 + sizeof(double);
    live::lsl_samples from({"n0"});
    checked_samples blocks;
    while (bytes.size() >= head + sizeof(std::int64_t)) {
        const auto step = static_cast<unsigned char>(bytes.front());
        const auto time_s = io::load<double>(bytes.data() + 1);
        bytes.remove_prefix(head);
        count_messages(1);
        if ((step & blocks_are_taken) != 0) blocks.take(from);
        if ((step & loss) != 0) from.add_loss();
        if ((step & broken) != 0) from.connection_broke();
        if ((step & has_text) != 0) {
            const std::string_view name =
                bytes.substr(1, static_cast<unsigned char>(bytes.front()));
            from.take(time_s, name);
            bytes.remove_prefix(1 + name.size());
        } else {
            from.take(time_s, io::load<std::int64_t>(bytes.data()));
            bytes.remove_prefix(sizeof(std::int64_t));
        }
    }
    blocks.take(from);
}

}  // namespace spikeweave::fuzz
