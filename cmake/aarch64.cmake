# A toolchain file for aarch64 on a Debian for another processor, which has the package g++-aarch64-linux-gnu. The
# libraries of Debian's packages for arm64 are in CMAKE_SYSROOT; script/test-aarch64 gets them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# Otherwise CMake would ask this machine's h5cc.
set(HDF5_ROOT ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/hdf5/serial)
