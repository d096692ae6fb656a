# Sets up CUDA for current GPUs, with what CMake 3.25 does not know about nvcc. Sets SPIKEWEAVE_CUDA to what is built.

set(SPIKEWEAVE_OLDEST_CUDA 13.0)  # older versions were not tested; nvcc 11.8 of Debian 12 does not support C++20
if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
if(SPIKEWEAVE_CUDA STREQUAL "AUTO")
  find_program(nvcc nvcc NAMES ${CMAKE_CUDA_COMPILER} $ENV{CUDACXX} NO_CACHE)
  set(version "")
  if(nvcc)
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE version ERROR_QUIET)
    string(REGEX MATCH "release ([0-9.]+)" version "${version}")
    set(version "${CMAKE_MATCH_1}")
  endif()
  if(NOT version)
    set(cuda_report "no: there is no nvcc (it is part of CUDA ${SPIKEWEAVE_OLDEST_CUDA}, apt package cuda-toolkit of NVIDIA's repository)")
    set(SPIKEWEAVE_CUDA OFF)
  elseif(version VERSION_LESS SPIKEWEAVE_OLDEST_CUDA)
    set(cuda_report "no: found CUDA ${version}, expected ${SPIKEWEAVE_OLDEST_CUDA} or newer (-D SPIKEWEAVE_CUDA=ON tries it)")
    set(SPIKEWEAVE_CUDA OFF)
  endif()
endif()
if(NOT SPIKEWEAVE_CUDA)
  return()
endif()
set(SPIKEWEAVE_CUDA ON)

# Makes machine code for the GPUs of this machine. Without a GPU it is made for A100; newer GPUs compile it at the first
# start.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80)
  if(EXISTS /proc/driver/nvidia/version)
    set(CMAKE_CUDA_ARCHITECTURES native)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES} CACHE STRING "GPUs to compile for")
endif()

# Records the output of ptxas about each kernel for tools/check_kernels.py.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(CMAKE_CUDA_COMPILER_LAUNCHER ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/record_kernels.py
  ${CMAKE_CXX_COMPILER_LAUNCHER})

enable_language(CUDA)
if(NOT TARGET CUDA::nvToolsExt)  # CMake 3.25.1 expects it, and CUDA 13 has none
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
find_package(CUDAToolkit REQUIRED)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 (Debian 12)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(cuda_report "yes: CUDA ${CMAKE_CUDA_COMPILER_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")
