#include "parallel/ranks.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using parallel::mpi_ranks_in_pieces;

namespace {

void check(int code, std::string_view call) {
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw std::runtime_error(fmt::format(
        "{}: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

// Waits for a request without keeping the core busy, as MPI's own waiting would, so that other
// ranks can use the core. A rank that is stopped abandons the request: there is no other way out of
// a collective call, and after that the rank may only call `abort`.
//
// A long message moves on by a few hundred kilobytes each time that it is tested, so that pauses
// have to be short.
void wait(MPI_Request request, std::string_view call, const std::stop_token& stop,
          std::size_t bytes) {
    using namespace std::chrono_literals;
    constexpr std::size_t is_long = std::size_t{1} << 17;
    const std::chrono::microseconds longest = bytes > is_long ? 5us : 500us;
    std::chrono::microseconds pause = 1us;
    for (int done = 0;;) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
        if (done != 0) return;
        core::throw_if_stopped(stop);
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, longest);
    }
}

// Bytes that are being sent. They are kept if this rank is stopped, because the receiver may still
// read them.
class sent_bytes {
public:
    explicit sent_bytes(std::string bytes) : bytes_(new std::string(std::move(bytes))) {}
    ~sent_bytes() {
        if (std::uncaught_exceptions() == 0) delete bytes_;
    }
    sent_bytes(const sent_bytes&) = delete;
    sent_bytes& operator=(const sent_bytes&) = delete;

    std::string& get() { return *bytes_; }

private:
    std::string* bytes_;
};

// The number of cores that this process may use, divided among the processes of this machine that
// may use the same ones. Launchers bind processes to cores, to sockets or not at all.
int cores_for_this_rank(MPI_Comm all) {
    MPI_Comm here = MPI_COMM_NULL;
    check(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
          "MPI_Comm_split_type");
    cpu_set_t mine;
    CPU_ZERO(&mine);
    if (::sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_SET(0, &mine);
    const int own = CPU_COUNT(&mine);
    int wanted = 0;
    cpu_set_t any;
    check(MPI_Allreduce(&own, &wanted, 1, MPI_INT, MPI_SUM, here), "MPI_Allreduce");
    check(MPI_Allreduce(&mine, &any, sizeof any, MPI_BYTE, MPI_BOR, here), "MPI_Allreduce");
    MPI_Comm_free(&here);
    return std::max(1, own * CPU_COUNT(&any) / wanted);
}

// Initialises and finalises MPI, and owns a communicator that keeps our messages apart from those
// of the calling program.
class mpi_library {
public:
    mpi_library() {
        constexpr int needed = MPI_THREAD_SERIALIZED;
        int running = 0;
        check(MPI_Initialized(&running), "MPI_Initialized");
        int provided = 0;
        if (running != 0) {
            check(MPI_Query_thread(&provided), "MPI_Query_thread");
        } else {
            check(MPI_Init_thread(nullptr, nullptr, needed, &provided), "MPI_Init_thread");
            ours_ = true;
        }
        if (provided < needed)
            throw invalid_argument(
                "MPI must be initialised with MPI_THREAD_SERIALIZED or more for spikeweave");
        check(MPI_Comm_dup(MPI_COMM_WORLD, &all_), "MPI_Comm_dup");
        check(MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        cores_ = cores_for_this_rank(all_);
    }
    ~mpi_library() {
        int over = 0;
        if (MPI_Finalized(&over) != MPI_SUCCESS || over != 0) return;
        MPI_Comm_free(&all_);
        if (ours_) MPI_Finalize();
    }
    mpi_library(const mpi_library&) = delete;
    mpi_library& operator=(const mpi_library&) = delete;

    MPI_Comm all() const { return all_; }
    int cores() const { return cores_; }

private:
    MPI_Comm all_ = MPI_COMM_NULL;
    int cores_ = 1;
    bool ours_ = false;
};

const mpi_library& mpi() {
    static const mpi_library library;
    return library;
}

class mpi_communicator final : public communicator {
public:
    mpi_communicator(std::size_t piece_bytes, std::stop_token stop)
        : all_(mpi().all()), cores_(mpi().cores()), piece_(piece_bytes), stop_(std::move(stop)) {
        check(MPI_Comm_rank(all_, &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(all_, &size_), "MPI_Comm_size");
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int cores() const override { return cores_; }

    std::vector<std::string> gather(std::string bytes) override {
        const std::vector<std::uint64_t> sizes = gather_size(bytes.size());
        if (rank_ != 0) {
            sent_bytes out(std::move(bytes));
            in_pieces(out.get().data(), out.get().size(), piece_, [&](char* from, int count) {
                MPI_Request sent = MPI_REQUEST_NULL;
                check(MPI_Isend(from, count, MPI_BYTE, 0, tag, all_, &sent), "MPI_Isend");
                wait(sent, "MPI_Isend", stop_, static_cast<std::size_t>(count));
            });
            return {};
        }
        std::vector<std::string> gathered(sizes.size());
        gathered[0] = std::move(bytes);
        for (int from = 1; from < size_; ++from) {
            std::string& one = gathered[static_cast<std::size_t>(from)];
            one.resize(sizes[static_cast<std::size_t>(from)]);
            in_pieces(one.data(), one.size(), piece_, [&](char* into, int count) {
                MPI_Request received = MPI_REQUEST_NULL;
                check(MPI_Irecv(into, count, MPI_BYTE, from, tag, all_, &received), "MPI_Irecv");
                wait(received, "MPI_Irecv", stop_, static_cast<std::size_t>(count));
            });
        }
        return gathered;
    }

    std::string broadcast(std::string bytes) override {
        std::uint64_t size = bytes.size();
        from_rank_0(&size, sizeof size);
        bytes.resize(size);
        sent_bytes out(std::move(bytes));
        in_pieces(out.get().data(), size, piece_,
                  [&](char* piece, int count) { from_rank_0(piece, count); });
        return std::move(out.get());
    }

    void sum(std::span<std::uint64_t> values) override {
        const std::size_t most = std::max<std::size_t>(1, piece_ / sizeof(std::uint64_t));
        in_pieces(values.data(), values.size(), most, [&](std::uint64_t* piece, int count) {
            MPI_Request summed = MPI_REQUEST_NULL;
            check(MPI_Iallreduce(MPI_IN_PLACE, piece, count, MPI_UINT64_T, MPI_SUM, all_, &summed),
                  "MPI_Iallreduce");
            wait(summed, "MPI_Iallreduce", stop_,
                 static_cast<std::size_t>(count) * sizeof(std::uint64_t));
        });
    }

    [[noreturn]] void abort(int exit_code) override {
        MPI_Abort(all_, exit_code);
        std::_Exit(exit_code);
    }

private:
    static constexpr int tag = 0;

    template <class Value, class Move>
    static void in_pieces(Value* values, std::size_t n, std::size_t most, const Move& move) {
        for (std::size_t at = 0; at < n; at += most)
            move(values + at, static_cast<int>(std::min(most, n - at)));
    }

    std::vector<std::uint64_t> gather_size(std::uint64_t own) {
        std::vector<std::uint64_t> sizes(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
        MPI_Request gathered = MPI_REQUEST_NULL;
        check(MPI_Igather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, all_, &gathered),
              "MPI_Igather");
        wait(gathered, "MPI_Igather", stop_, sizeof own);
        return sizes;
    }

    void from_rank_0(void* bytes, int count) {
        MPI_Request arrived = MPI_REQUEST_NULL;
        check(MPI_Ibcast(bytes, count, MPI_BYTE, 0, all_, &arrived), "MPI_Ibcast");
        wait(arrived, "MPI_Ibcast", stop_, static_cast<std::size_t>(count));
    }

    MPI_Comm all_;
    int rank_ = 0;
    int size_ = 1;
    int cores_;
    std::size_t piece_;
    std::stop_token stop_;
};

}  // namespace

namespace parallel {

std::shared_ptr<communicator> mpi_ranks_in_pieces(std::size_t piece_bytes, std::stop_token stop) {
    return std::make_shared<mpi_communicator>(piece_bytes, std::move(stop));
}

}  // namespace parallel

std::shared_ptr<communicator> mpi_ranks(std::stop_token stop) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 28;
    return mpi_ranks_in_pieces(piece_bytes, std::move(stop));
}

}  // namespace spikeweave
