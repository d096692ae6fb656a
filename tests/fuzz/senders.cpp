#include "live/sources/senders.hpp"

#include <array>
#include <map>
#include <vector>

#include "fuzz/harness.hpp"
#include "io/little_endian.hpp"

namespace spikeweave::fuzz {
namespace {

using live::answer_message;
using live::hello_message;
using live::read_answer;
using live::sender_progress;
using live::senders;
using live::spike_event;
using live::spike_frame_message;

// A message is a byte that chooses its connection and whether blocks are taken before it, two bytes
// with its size, and its content.
void append_message(std::string& bytes, char connection, const std::string& content) {
    bytes += connection;
    io::append(bytes, static_cast<std::uint16_t>(content.size()));
    bytes += content;
}

named_bytes sender_seeds() {
    const std::array<std::int64_t, 2> times{5, 3};
    const std::array<unit_id, 2> units{unit_id{1}, unit_id{0}};
    std::string one, two;
    append_message(one, 0, hello_message({.source = "s", .clock = "c", .units = {"a", "b"}}));
    append_message(one, 0, spike_frame_message(1, 4, false, times, units));
    append_message(one, 4, spike_frame_message(2, 9, true, times, units));
    append_message(one, 0, hello_message({.source = "s", .clock = "d", .units = {"b"}, .next = 2}));
    for (const char from : {char{0}, char{1}})
        append_message(two, from,
                       hello_message({.source = std::string(1, static_cast<char>('s' + from)),
                                      .clock = "c",
                                      .units = {std::string(1, static_cast<char>('a' + from))}}));
    append_message(two, 1, spike_frame_message(1, 4, false, {}, {}));
    append_message(two, 0, spike_frame_message(1, 5, false, {}, {}));
    append_message(two, 4, spike_frame_message(3, 5, false, {}, {}));
    return {{"one", one}, {"two", two}};
}

// Each frame is taken once, watermarks of an epoch rise, and neither they nor spikes leap further
// than a window may have to be mined for.
class checked_blocks {
public:
    void take(senders& from) {
        while (const auto block = from.next_block()) {
            units_ += block->new_units.size();
            if (block->begins_epoch) watermark_us_.reset();
            for (const spike_event& spike : block->spikes)
                require(to_index(spike.unit) < units_, "a spike is of a unit that was not told");
            for (const sender_progress& one : block->senders) {
                require(one.last >= last_[one.name], "a sender goes back");
                last_[one.name] = one.last;
            }
            if (!block->watermark_us) continue;
            require(!watermark_us_ || *block->watermark_us > *watermark_us_,
                    "a watermark goes back");
            watermark_us_ = block->watermark_us;
        }
        from.acknowledge(from.blocks());
        require(from.all_is_acknowledged(), "something is not acknowledged");
        require(from.unit_names().size() == units_, "a unit appears that was not told");
        for (const senders::answer& answer : from.take_answers()) {
            require(answer.connection.size() == 1, "an answer goes to nobody");
            require(read_answer(answer_message(answer.what)) == answer.what ||
                        !answer.what.error.empty(),
                    "an answer comes back as another");
        }
    }

private:
    std::size_t units_ = 1;
    std::optional<std::int64_t> watermark_us_{};
    std::map<std::string, std::uint64_t> last_{};
};

}  // namespace

SPIKEWEAVE_FUZZ_TARGET(senders, bytes, sender_seeds) {
    constexpr std::size_t head = 3;
    senders from({"n0"});
    checked_blocks blocks;
    while (bytes.size() >= head) {
        const char choice = bytes.front();
        const std::string_view content =
            bytes.substr(head, io::load<std::uint16_t>(bytes.data() + 1));
        bytes.remove_prefix(head + content.size());
        if ((choice & 4) != 0) blocks.take(from);
        count_messages(1);
        const char connection = static_cast<char>('0' + (choice & 3));
        from.take({&connection, 1}, {&content, 1});
    }
    blocks.take(from);
}

}  // namespace spikeweave::fuzz
