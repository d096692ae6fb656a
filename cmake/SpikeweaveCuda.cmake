# CUDA for the GPUs of today, and what CMake 3.25 does not know of nvcc.

# Machine code for A100, H100/H200 and B200; what is newer compiles the last one's at its start.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100 CACHE STRING "GPUs to compile for")
endif()
if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()

# Notes what ptxas says of each kernel, for tools/check_kernels.py.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(CMAKE_CUDA_COMPILER_LAUNCHER ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/record_kernels.py
  ${CMAKE_CXX_COMPILER_LAUNCHER})

enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 (Debian 12)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
