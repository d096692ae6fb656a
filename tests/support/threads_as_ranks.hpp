#pragma once

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/little_endian.hpp"
#include "spikeweave/parallel/communicator.hpp"

/// Ranks that are threads of this process, for what must be the same on any number of them.
class threads_as_ranks {
public:
    /// Calls `body` once a rank, all at once.
    static void run(
        int ranks,
        const std::function<void(int rank, std::shared_ptr<spikeweave::communicator>)>& body) {
        threads_as_ranks all(ranks);
        std::vector<std::thread> running;
        running.reserve(static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank)
            running.emplace_back([&, rank] { body(rank, std::make_shared<member>(all, rank)); });
        for (std::thread& one : running) one.join();
    }

private:
    class member final : public spikeweave::communicator {
    public:
        member(threads_as_ranks& all, int rank) : all_(all), rank_(rank) {}
        int rank() const override { return rank_; }
        int size() const override { return static_cast<int>(all_.parts_.size()); }
        int cores() const override { return 1; }
        std::vector<std::string> gather(std::string bytes) override {
            all_.parts_[static_cast<std::size_t>(rank_)] = std::move(bytes);
            all_.wait();
            std::vector<std::string> out;
            if (rank_ == 0) out = all_.parts_;
            all_.wait();
            return out;
        }
        std::string broadcast(std::string bytes) override {
            if (rank_ == 0) all_.parts_[0] = std::move(bytes);
            all_.wait();
            std::string out = all_.parts_[0];
            all_.wait();
            return out;
        }
        void sum(std::span<std::uint64_t> values) override {
            std::string own;
            for (const std::uint64_t value : values) spikeweave::io::append(own, value);
            std::string total(own.size(), '\0');
            for (const std::string& part : gather(std::move(own)))
                for (std::size_t at = 0; at < part.size(); at += sizeof(std::uint64_t)) {
                    const std::uint64_t value = number(part, at) + number(total, at);
                    std::memcpy(total.data() + at, &value, sizeof value);
                }
            total = broadcast(std::move(total));
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = number(total, i * sizeof(std::uint64_t));
        }
        [[noreturn]] void abort(int exit_code) override { std::exit(exit_code); }

    private:
        static std::uint64_t number(const std::string& bytes, std::size_t at) {
            return spikeweave::io::load<std::uint64_t>(bytes.data() + at);
        }

        threads_as_ranks& all_;
        int rank_;
    };

    explicit threads_as_ranks(int ranks) : parts_(static_cast<std::size_t>(ranks)) {}

    void wait() {
        std::unique_lock lock(access_);
        const std::size_t round = round_;
        if (++waiting_ == parts_.size()) {
            waiting_ = 0;
            ++round_;
            all_here_.notify_all();
        } else {
            all_here_.wait(lock, [&] { return round_ != round; });
        }
    }

    std::vector<std::string> parts_;
    std::mutex access_;
    std::condition_variable all_here_;
    std::size_t waiting_ = 0;
    std::size_t round_ = 0;
};
