#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// The commands of SpikeGLX's remote interface: a line of text each, which is answered by lines and
/// OK, or by ERROR and a text (SpikeGLX-CPP-SDK, SpikeGLX-MATLAB-SDK).
namespace spikeweave::live {

/// Bytes to and from SpikeGLX.
class spikeglx_bytes {
public:
    spikeglx_bytes() = default;
    virtual ~spikeglx_bytes() = default;
    spikeglx_bytes(const spikeglx_bytes&) = delete;
    spikeglx_bytes& operator=(const spikeglx_bytes&) = delete;

    /// @throws spikeglx_broken
    virtual void send(std::string_view bytes) = 0;
    /// Waits for bytes, and returns how many there are, at least one.
    /// @throws spikeglx_broken
    virtual std::size_t receive(std::span<char> into) = 0;
};

/// The connection is of no use any more.
struct spikeglx_broken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An answer that is not as documented, after which the next one cannot be found.
struct spikeglx_unreadable : spikeglx_broken {
    using spikeglx_broken::spikeglx_broken;
};

/// SpikeGLX has answered ERROR and this text.
struct spikeglx_refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Frames of a stream, channels fastest.
struct spikeglx_frames {
    std::int64_t first = 0;  ///< counted from the first frame of the run
    std::vector<std::int16_t> counts{};
};

/// A contact, in micrometres; x is counted from the left edge of its shank.
struct spikeglx_contact {
    std::uint32_t shank = 0;
    double x_um = 0;
    double y_um = 0;
};

class spikeglx_client {
public:
    static constexpr std::int64_t most_frames = std::int64_t{1} << 53;
    static constexpr std::uint64_t most_channels = 1 << 14;
    static constexpr std::uint64_t most_frames_fetched = 1 << 16;

    /// @param bytes  have to live longer
    explicit spikeglx_client(spikeglx_bytes& bytes) : bytes_(&bytes) {}

    /// All functions throw `spikeglx_refusal`, after which the next command can be sent, and
    /// `spikeglx_broken`. Probes are numbered from 0.
    bool is_running();
    std::uint64_t probe_count();
    double rate_hz(std::uint64_t probe);
    /// Number of channels of the band of spikes.
    std::uint64_t spike_channels(std::uint64_t probe);
    /// Numbers of the channels of all bands that are saved.
    std::vector<std::uint64_t> saved_channels(std::uint64_t probe);
    /// Microvolts per count of a channel of the band of spikes, as `.meta` files have it.
    double gain_uv(std::uint64_t probe, std::uint64_t channel);
    /// One for each channel of the band of spikes.
    std::vector<spikeglx_contact> contacts(std::uint64_t probe);
    /// Frames since the run began.
    std::int64_t frame_count(std::uint64_t probe);
    /// At most `most` frames from `first` on; none if there is none yet.
    /// @param channels  as "0#1#5#"
    /// @throws io_error if it sends another number of channels.
    spikeglx_frames fetch(std::uint64_t probe, std::int64_t first, std::uint64_t most,
                          std::string_view channels);

private:
    void send(const std::string& command);
    std::string next_line();
    std::vector<std::string> lines(const std::string& command);
    std::string only_line(const std::string& command);
    std::vector<double> numbers(const std::string& command, std::size_t count);
    std::uint64_t whole_number(const std::string& command);
    void fill();
    void take(std::span<char> into);

    spikeglx_bytes* bytes_;
    std::string received_{};
    std::size_t begin_ = 0;  // of what is not taken yet
};

}  // namespace spikeweave::live
