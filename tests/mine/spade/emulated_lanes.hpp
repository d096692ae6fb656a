#pragma once

#include <atomic>
#include <barrier>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "mine/spade/devices/maxima_device.hpp"
#include "mine/spade/devices/root_search.hpp"

/// Runs the code of the search on devices on the CPU: each lane is a thread.
namespace spikeweave::spade {

struct cpu_words {
    static std::uint32_t bits(std::uint32_t word) {
        return static_cast<std::uint32_t>(std::popcount(word));
    }
    static std::uint32_t first(std::uint32_t word) {
        return static_cast<std::uint32_t>(std::countr_zero(word));
    }
    static std::uint32_t load(const std::uint32_t* place) {
        return std::atomic_ref(*const_cast<std::uint32_t*>(place)).load();
    }
    static void raise(std::uint32_t* place, std::uint32_t value) {
        std::atomic_ref at(*place);
        std::uint32_t now = at.load();
        while (now < value && !at.compare_exchange_weak(now, value)) {
        }
    }
    static std::uint32_t add(std::uint32_t* place, std::uint32_t value) {
        return std::atomic_ref(*place).fetch_add(value);
    }
    static std::uint32_t set_bits(std::uint32_t* place, std::uint32_t bits) {
        return std::atomic_ref(*place).fetch_or(bits);
    }
};

/// A warp of one lane, which needs no other.
struct one_lane : cpu_words {
    static constexpr std::uint32_t size = 1;
    static std::uint32_t lane() { return 0; }
    static void sync() {}
    static std::uint32_t ballot(bool own) { return own ? 1 : 0; }
    static std::uint32_t min(std::uint32_t value) { return value; }
    static std::uint32_t sum(std::uint32_t value) { return value; }
    static std::uint32_t first_lane(std::uint32_t value) { return value; }
};

/// A warp of four lanes, each a thread.
class four_lanes : public cpu_words {
public:
    static constexpr std::uint32_t size = 4;
    struct meeting {
        std::barrier<> all{size};
        std::uint32_t values[size]{};
    };

    four_lanes(meeting& with, std::uint32_t lane) : with_(&with), lane_(lane) {}

    std::uint32_t lane() const { return lane_; }
    void sync() const { with_->all.arrive_and_wait(); }
    std::uint32_t ballot(bool own) const {
        return fold(own ? 1U << lane_ : 0, [](auto a, auto b) { return a | b; });
    }
    std::uint32_t min(std::uint32_t value) const {
        return fold(value, [](auto a, auto b) { return a < b ? a : b; });
    }
    std::uint32_t sum(std::uint32_t value) const {
        return fold(value, [](auto a, auto b) { return a + b; });
    }
    std::uint32_t first_lane(std::uint32_t value) const {
        return fold(value, [](auto a, auto) { return a; });
    }

private:
    template <class Both>
    std::uint32_t fold(std::uint32_t own, Both both) const {
        with_->values[lane_] = own;
        sync();
        std::uint32_t out = with_->values[0];
        for (std::uint32_t i = 1; i < size; ++i) out = both(out, with_->values[i]);
        sync();
        return out;
    }

    meeting* with_;
    std::uint32_t lane_;
};

class cpu_block : public cpu_words {
public:
    cpu_block(std::barrier<>& all, std::uint32_t thread, std::uint32_t threads)
        : all_(&all), thread_(thread), threads_(threads) {}

    std::uint32_t thread() const { return thread_; }
    std::uint32_t threads() const { return threads_; }
    void sync() const { all_->arrive_and_wait(); }

private:
    std::barrier<>* all_;
    std::uint32_t thread_;
    std::uint32_t threads_;
};

/// The memory of a warp.
struct owned_warp_space {
    owned_warp_space(const maxima_shape& shape, std::uint32_t arena_words)
        : unit_words(shape.units),
          marked(shape.units),
          path(warp_space::most_path),
          pattern(warp_space::most_path),
          touched(shape.units),
          found(shape.items()),
          counts(shape.items()),
          full(shape.items()),
          nodes(warp_space::most_depth),
          arena(arena_words) {}

    warp_space view() {
        return {unit_words.data(),
                marked.data(),
                path.data(),
                touched.data(),
                pattern.data(),
                found.data(),
                counts.data(),
                full.data(),
                nodes.data(),
                arena.data(),
                static_cast<std::uint32_t>(arena.size())};
    }

    std::vector<std::uint32_t> unit_words;
    std::vector<std::uint8_t> marked;
    std::vector<std::uint32_t> path, pattern, touched, found, counts, full;
    std::vector<pattern_node> nodes;
    std::vector<std::uint32_t> arena;
};

/// A device with one block, of one warp of one lane, or of two warps of four lanes.
class emulated_device : public maxima_device {
public:
    emulated_device(maxima_rules rules, bool has_many_lanes, std::uint32_t arena_words = 1U << 16U)
        : rules_(std::move(rules)), has_many_lanes_(has_many_lanes), arena_words_(arena_words) {}

    std::uint32_t most_recordings(const maxima_shape&) override { return 3; }
    void begin(const maxima_input& given) override {
        const maxima_shape& shape = given.shape;
        const std::size_t rows = std::size_t{shape.recordings} * shape.units;
        std::vector<std::uint32_t> rasters(rows * shape.row_words);
        for (std::size_t row = 0; row < rows; ++row)
            for (std::uint64_t i = given.offsets[row]; i < given.offsets[row + 1]; ++i) {
                const std::uint32_t at = shape.pad_words * 32 + given.bins[i];
                rasters[row * shape.row_words + at / 32] |= 1U << at % 32;
            }
        found_.most.assign(std::size_t{shape.recordings} * shape.maxima(), 0);
        found_.left_out.assign(shape.recordings, 0);
        std::vector<std::uint32_t> lowest(shape.durations > 1 ? found_.most.size() : 0);
        std::uint32_t next = 0;
        const maxima_batch batch{
            .shape = shape,
            .rules = {rules_.rules.data(), static_cast<std::uint32_t>(rules_.rules.size())},
            .least_occ = rules_.least_occ,
            .max_occ = rules_.max_occ,
            .drop_window_subsets = rules_.drop_window_subsets,
            .bins = given.bins.data(),
            .offsets = given.offsets.data(),
            .roots = given.roots.data(),
            .rasters = rasters.data(),
            .most = found_.most.data(),
            .lowest = lowest.empty() ? found_.most.data() : lowest.data(),
            .left_out = found_.left_out.data(),
            .next = &next};
        if (has_many_lanes_)
            run_many_lanes(batch);
        else
            run_one_lane(batch);
    }
    maxima_output end(const std::stop_token&) override { return found_; }

private:
    struct owned_root_space {
        explicit owned_root_space(const maxima_shape& shape)
            : counts(shape.items()),
              places(shape.most_windows + 1),
              items(shape.items()),
              words(std::size_t{shape.items()} * shape.most_planes()),
              excluded(std::size_t{shape.units} * shape.most_planes()) {}
        root_space view() {
            return {counts.data(), places.data(), items.data(), words.data(), excluded.data()};
        }
        std::vector<std::uint32_t> counts, places, items, words, excluded;
    };

    void run_one_lane(const maxima_batch& batch) const {
        owned_root_space root(batch.shape);
        owned_warp_space own(batch.shape, arena_words_);
        root_state state{};
        std::barrier<> alone(1);
        search_roots(cpu_block(alone, 0, 1), one_lane{}, batch, root.view(), own.view(), state,
                     [] { return false; });
    }
    void run_many_lanes(const maxima_batch& batch) const {
        constexpr std::uint32_t warps = 2;
        constexpr std::uint32_t threads = warps * four_lanes::size;
        owned_root_space root(batch.shape);
        root_state state{};
        std::barrier<> all(threads);
        std::vector<four_lanes::meeting> meetings(warps);
        std::vector<std::unique_ptr<owned_warp_space>> own;
        for (std::uint32_t w = 0; w < warps; ++w)
            own.push_back(std::make_unique<owned_warp_space>(batch.shape, arena_words_));
        std::vector<std::jthread> running;
        for (std::uint32_t t = 0; t < threads; ++t)
            running.emplace_back([&, t] {
                const std::uint32_t w = t / four_lanes::size;
                search_roots(cpu_block(all, t, threads),
                             four_lanes(meetings[w], t % four_lanes::size), batch, root.view(),
                             own[w]->view(), state, [] { return false; });
            });
    }

    maxima_rules rules_;
    bool has_many_lanes_;
    std::uint32_t arena_words_;
    maxima_output found_{};
};

}  // namespace spikeweave::spade
