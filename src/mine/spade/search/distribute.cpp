#include "mine/spade/search/distribute.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "parallel/ordered_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave::spade {
namespace {

constexpr std::string_view task_name = "mining patterns";

// Parts as bytes. They are only exchanged between ranks of one program.
class packer {
public:
    template <class T>
    void put(const T& value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class T>
    void put(const std::vector<T>& values) {
        put(values.size());
        bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    }
    std::string bytes{};
};

class unpacker {
public:
    explicit unpacker(std::string_view bytes) : bytes_(bytes) {}
    template <class T>
    void get(T& value) {
        std::memcpy(&value, next(sizeof value), sizeof value);
    }
    template <class T>
    void get(std::vector<T>& values) {
        std::size_t size = 0;
        get(size);
        values.resize(size);
        if (size > 0) std::memcpy(values.data(), next(size * sizeof(T)), size * sizeof(T));
    }

private:
    const char* next(std::size_t bytes) {
        const char* at = bytes_.data();
        bytes_.remove_prefix(bytes);
        return at;
    }
    std::string_view bytes_;
};

template <class Archive, class Part>
void visit(Archive&& each, Part& part) {
    each(part.summary);
    each(part.patterns.window_bins);
    each(part.patterns.item_offsets);
    each(part.patterns.items);
    each(part.patterns.counts);
    each(part.patterns.occurrence_offsets);
    each(part.patterns.occurrences);
}

std::uint64_t bytes_of(const pattern_table& table) {
    const auto of = [](const auto& values) { return values.size() * sizeof(values[0]); };
    return of(table.item_offsets) + of(table.items) + of(table.counts) +
           of(table.occurrence_offsets) + of(table.occurrences);
}

// The memory of all parts that wait for their turn.
class held_parts {
public:
    // Records a new part, or the growth of a part.
    void set(std::uint64_t& own, std::uint64_t now) {
        held_ += now;
        held_ -= std::exchange(own, now);
    }
    bool too_much() const { return held_ > most; }

private:
    static constexpr std::uint64_t most = std::uint64_t{64} << 20U;
    std::atomic<std::uint64_t> held_{0};
};

// A part, with the size that was last recorded for it.
struct told_part {
    mined_part part{};
    std::uint64_t bytes = 0;
};

// One block of parts, made by all ranks and handed on by rank 0.
void exchange(std::size_t begin, std::span<const double> costs, const execution& run,
              const std::function<mined_part(std::size_t, const part_taker&)>& make,
              const std::function<void(mined_part)>& consume) {
    const std::vector<std::vector<std::size_t>> shares =
        parallel::balance(costs, run.ranks->size());
    const std::vector<std::size_t>& own = shares[static_cast<std::size_t>(run.ranks->rank())];
    packer out;
    parallel::for_each_in_order(
        own.size(), run, task_name,
        [&](std::size_t i) { return make(begin + own[i], [](mined_part&) {}); },
        [&](std::size_t, const mined_part& part) {
            visit([&](const auto& value) { out.put(value); }, part);
        });
    const std::vector<std::string> all = run.ranks->gather(std::move(out.bytes));
    if (run.ranks->rank() != 0) return;
    std::vector<std::size_t> owner(costs.size());
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
        for (const std::size_t i : shares[rank]) owner[i] = rank;
    std::vector<unpacker> in(all.begin(), all.end());
    for (const std::size_t rank : owner) {
        mined_part part;
        visit([&](auto& value) { in[rank].get(value); }, part);
        consume(std::move(part));
    }
}

}  // namespace

void for_each_part(std::span<const double> costs, const execution& run,
                   const std::function<mined_part(std::size_t, const part_taker&)>& make,
                   const std::function<void(mined_part)>& consume) {
    if (!run.ranks || run.ranks->size() == 1) {
        held_parts held;
        parallel::for_each_in_turn(
            costs.size(), run, task_name,
            [&](std::size_t i, const parallel::order_turn& turn) {
                told_part out;
                out.part = make(i, [&](mined_part& so_far) {
                    held.set(out.bytes, bytes_of(so_far.patterns));
                    if (!turn.is_own() && !held.too_much()) return;
                    turn.wait();
                    consume(std::exchange(so_far, {}));
                    held.set(out.bytes, 0);
                });
                held.set(out.bytes, bytes_of(out.part.patterns));
                return out;
            },
            [&](std::size_t, told_part one) {
                held.set(one.bytes, 0);
                consume(std::move(one.part));
            });
        return;
    }
    // Works block by block, so that rank 0 never holds more than one block of the patterns.
    const std::size_t block = 64 * static_cast<std::size_t>(run.ranks->size());
    for (std::size_t begin = 0; begin < costs.size(); begin += block)
        exchange(begin, costs.subspan(begin, std::min(block, costs.size() - begin)), run, make,
                 consume);
}

}  // namespace spikeweave::spade
