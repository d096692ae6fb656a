#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "device/cuda.hpp"
#include "spikeweave/core/device.hpp"

namespace spikeweave {
namespace {

std::string cuda_version(int number) {
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

// The driver's own version; the runtime only knows which CUDA version the driver supports.
std::string driver_version() {
    std::ifstream file("/sys/module/nvidia/version");
    std::string text;
    std::getline(file, text);
    return text;
}

device_info describe(int ordinal) {
    const device::scoped_device on(ordinal);
    cudaDeviceProp properties{};
    device::check(cudaGetDeviceProperties(&properties, ordinal));
    std::size_t free = 0;
    std::size_t total = 0;
    device::check(cudaMemGetInfo(&free, &total));
    int cuda = 0;
    device::check(cudaDriverGetVersion(&cuda));
    return {.ordinal = ordinal,
            .name = properties.name,
            .total_bytes = total,
            .free_bytes = free,
            .multiprocessors = properties.multiProcessorCount,
            .compute_major = properties.major,
            .compute_minor = properties.minor,
            .driver = driver_version(),
            .driver_cuda = cuda_version(cuda)};
}

}  // namespace

std::vector<device_info> devices() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return {};
    }
    std::vector<device_info> all;
    all.reserve(static_cast<std::size_t>(count));
    for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(describe(ordinal));
    return all;
}

std::string device_unavailable_reason() {
    int count = 0;
    const cudaError_t found = cudaGetDeviceCount(&count);
    cudaGetLastError();
    if (found == cudaSuccess && count > 0) return "";
    int driver = 0;
    int runtime = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
        return "there is no NVIDIA driver (an NVIDIA GPU needs one of version 580 or newer)";
    cudaRuntimeGetVersion(&runtime);
    if (found == cudaErrorInsufficientDriver)
        return fmt::format("the NVIDIA driver supports CUDA {}, but CUDA {} is needed",
                           cuda_version(driver), cuda_version(runtime));
    if (found == cudaErrorNoDevice || found == cudaSuccess) {
        const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
        return visible == nullptr
                   ? "the NVIDIA driver finds no GPU"
                   : fmt::format("the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES is '{}')",
                                 visible);
    }
    return fmt::format("the NVIDIA driver failed: {} ({})", cudaGetErrorString(found),
                       cudaGetErrorName(found));
}

}  // namespace spikeweave
