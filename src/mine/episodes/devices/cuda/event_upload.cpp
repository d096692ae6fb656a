#include "mine/episodes/devices/cuda/event_upload.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "mine/episodes/devices/plan.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {
namespace {

// Spikes that are converted and copied together, up to 8 MB of them: few milliseconds even of one
// thread, and enough that waiting for each other costs little beside.
constexpr std::size_t piece_size = std::size_t{1} << 20;
// Pieces that are under way at once.
constexpr std::size_t upload_slots = 3;
// Spikes that one thread converts at a time.
constexpr std::size_t task_size = std::size_t{1} << 15;

// Page-locked memory for one piece, and when the copies from it have ended.
struct slot {
    slot(std::size_t size, std::span<const event_buffers> to) : times(size), units(size) {
        copied.reserve(to.size());
        for (const event_buffers& target : to) {
            const device::scoped_device scope(target.ordinal);
            copied.emplace_back();
        }
    }

    // Units as they go: 16 bits each, or 32.
    std::uint16_t* narrow() const { return reinterpret_cast<std::uint16_t*>(units.data()); }

    device::host_buffer<std::uint32_t> times;
    device::host_buffer<std::uint32_t> units;
    std::vector<device::event> copied;
};

// Page-locked memory must not go while it is copied from, not even when something failed.
class end_of_copies {
public:
    explicit end_of_copies(std::span<const event_buffers> of) : of_(of) {}
    ~end_of_copies() {
        for (const event_buffers& target : of_) cudaStreamSynchronize(target.on->get());
    }
    end_of_copies(const end_of_copies&) = delete;
    end_of_copies& operator=(const end_of_copies&) = delete;

private:
    std::span<const event_buffers> of_;
};

template <class T>
void copy(T* to, const T* from, std::size_t n, const device::stream& on) {
    device::check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyHostToDevice, on.get()));
}

class upload {
public:
    upload(std::span<const std::int64_t> times, std::span<const unit_id> units,
           std::int64_t origin_us, std::span<const event_buffers> to, execution run)
        : times_(times),
          units_(units),
          origin_(static_cast<std::uint64_t>(origin_us)),
          to_(to),
          narrow_(to.front().narrow_unit != nullptr),
          run_(std::move(run)) {
        run_.on_progress = nullptr;  // the caller's own tasks are what is reported
    }

    void run_all() {
        const std::size_t pieces = pieces_of(times_.size(), piece_size);
        std::vector<slot> slots;
        slots.reserve(std::min(pieces, upload_slots));
        const end_of_copies before_slots_go(to_);
        for (std::size_t i = 0; i < pieces; ++i) {
            if (i < upload_slots) {
                slots.emplace_back(std::min(piece_size, times_.size()), to_);
            } else {
                for (const device::event& copied : slots[i % upload_slots].copied) copied.wait();
            }
            const std::size_t begin = i * piece_size;
            const std::size_t size = std::min(piece_size, times_.size() - begin);
            convert(begin, size, slots[i % upload_slots]);
            send(begin, size, slots[i % upload_slots]);
        }
        for (const event_buffers& target : to_) target.on->wait();
    }

private:
    void convert(std::size_t begin, std::size_t size, const slot& to) const {
        parallel::parallel_for(pieces_of(size, task_size), run_, "upload", [&](std::size_t task) {
            const std::size_t end = std::min(size, (task + 1) * task_size);
            for (std::size_t i = task * task_size; i < end; ++i)
                to.times.data()[i] = static_cast<std::uint32_t>(
                    static_cast<std::uint64_t>(times_[begin + i]) - origin_);
            if (narrow_) {
                for (std::size_t i = task * task_size; i < end; ++i)
                    to.narrow()[i] = static_cast<std::uint16_t>(to_index(units_[begin + i]));
            } else {
                for (std::size_t i = task * task_size; i < end; ++i)
                    to.units.data()[i] = static_cast<std::uint32_t>(to_index(units_[begin + i]));
            }
        });
    }

    void send(std::size_t begin, std::size_t size, const slot& from) const {
        for (std::size_t d = 0; d < to_.size(); ++d) {
            const event_buffers& target = to_[d];
            const device::scoped_device scope(target.ordinal);
            copy(target.time_low + begin, from.times.data(), size, *target.on);
            if (narrow_) {
                copy(target.narrow_unit + begin, from.narrow(), size, *target.on);
            } else {
                copy(target.unit + begin, from.units.data(), size, *target.on);
            }
            from.copied[d].record(*target.on);
        }
    }

    std::span<const std::int64_t> times_;
    std::span<const unit_id> units_;
    std::uint64_t origin_;
    std::span<const event_buffers> to_;
    bool narrow_;
    execution run_;
};

}  // namespace

void upload_events(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
                   std::int64_t origin_us, std::span<const event_buffers> to,
                   const execution& run) {
    if (times_us.empty() || to.empty()) return;
    // Others wait for the spikes: this thread must not take up work of theirs meanwhile.
    parallel::isolate([&] { upload(times_us, units, origin_us, to, run).run_all(); });
}

}  // namespace spikeweave::episodes
