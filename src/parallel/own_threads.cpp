#include <exception>
#include <future>
#include <vector>

#include "parallel/parallel_for.hpp"

namespace spikeweave::parallel {

void on_own_threads(std::size_t n, const std::function<void(std::size_t)>& work) {
    std::vector<std::future<void>> calls;
    calls.reserve(n);
    for (std::size_t i = 0; i < n; ++i)
        calls.push_back(std::async(i == 0 ? std::launch::deferred : std::launch::async,
                                   [&work, i] { work(i); }));
    std::exception_ptr failure;
    for (std::future<void>& call : calls) {
        try {
            call.get();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace spikeweave::parallel
