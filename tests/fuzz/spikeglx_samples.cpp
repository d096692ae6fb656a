#include "live/sources/spikeglx_samples.hpp"

#include <algorithm>

#include "fuzz/harness.hpp"

namespace spikeweave::fuzz {
namespace {

// The bytes are all that SpikeGLX sends; an answer ends with a line, at the earliest.
class sent_bytes : public live::spikeglx_bytes {
public:
    explicit sent_bytes(std::string_view bytes) : rest_(bytes) {}

    void send(std::string_view command) override {
        require(command.ends_with('\n') && std::ranges::count(command, '\n') == 1,
                "a command is no line");
        count_messages(1);
    }

    std::size_t receive(std::span<char> into) override {
        if (rest_.empty()) throw live::spikeglx_broken("the end");
        const std::size_t line = std::min(rest_.find('\n'), rest_.size() - 1) + 1;
        const std::size_t count = std::min(line, into.size());
        std::copy_n(rest_.begin(), count, into.begin());
        rest_.remove_prefix(count);
        return count;
    }

    bool is_over() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

// Two channels.
named_bytes spikeglx_answers() {
    const std::string described =
        "1\nOK\n1\nOK\n30000.123456\nOK\n0 1 2 4\nOK\n2 2 1\nOK\n"
        "head_partNumber=NP1000\nhead_numShanks=2\nhead_shankPitch=250\nhead_shankWidth=70\n"
        "ch0_s=0\nch0_x=27\nch0_z=0\nch0_u=1\nch1_s=1\nch1_x=59\nch1_z=20\nch1_u=1\nOK\n";
    std::string gains;
    for (int channel = 0; channel < 2; ++channel) gains += "-0.6 0.6\nOK\n512\nOK\n500 250\nOK\n";
    const std::string frames =
        "BINARY_DATA 2 2 uint64(100)\nabcdefghOK\nBINARY_DATA 2 0 uint64(102)\nOK\n";
    return {
        {"run", described + gains + "100\nOK\n" + frames},
        {"lost", described + gains + "100\nOK\n" + frames +
                     "ERROR FETCH: Too late.\n1000\nOK\nBINARY_DATA 2 1 uint64(1000)\nabcdOK\n"},
        {"stopped", "0\nOK\n" + described + gains + "100\nOK\n" +
                        "ERROR FETCH: Not running or stream not enabled.\n" + described +
                        "-0.6 0.6\nOK\n512\nOK\n500 250\nOK\n7\nOK\n"
                        "BINARY_DATA 2 1 uint64(0)\nabcdOK\n"}};
}

}  // namespace

SPIKEWEAVE_FUZZ_TARGET(spikeglx_samples, bytes, spikeglx_answers) {
    live::spikeglx_samples samples("", {});
    sent_bytes sent(bytes);
    live::spikeglx_client client(sent);
    std::optional<std::int64_t> end;
    live::spikeglx_samples::clock::time_point now{std::chrono::hours{1}};
    while (!sent.is_over()) {
        std::optional<live::sample_block> block;
        now += std::chrono::milliseconds{10};
        try {
            block = samples.ask(client, now);
        } catch (const live::spikeglx_broken& why) {
            check_message(why.what() + folder.path().string());
            continue;
        } catch (const io_error& why) {
            check_message(why.what() + folder.path().string());
            return;  // another probe, which ends a session
        }
        if (!block || block->counts.empty()) continue;
        const std::size_t channels = samples.description().channels.size();
        require(block->counts.size() % channels == 0, "a frame is cut");
        require(!end || block->begins_epoch ||
                    block->first - *end == static_cast<std::int64_t>(block->missing),
                "frames are neither there nor missing");
        end = block->first + static_cast<std::int64_t>(block->counts.size() / channels);
    }
}

}  // namespace spikeweave::fuzz
