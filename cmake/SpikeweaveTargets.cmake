# What every target of the project is built with, and how tests, benchmarks and the installation are declared.

find_program(SPIKEWEAVE_CCACHE ccache)
if(SPIKEWEAVE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SPIKEWEAVE_CCACHE})
endif()

function(spikeweave_configure target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Contraction would let simulated spikes differ between processors with and without fused multiply-add.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow
    -ffp-contract=off $<$<BOOL:${SPIKEWEAVE_WERROR}>:-Werror>>)
  if(SPIKEWEAVE_CUDA)
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow -Xptxas=-v
      $<$<BOOL:${SPIKEWEAVE_WERROR}>:-Werror=all-warnings>>)
  endif()
  if(SPIKEWEAVE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${SPIKEWEAVE_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${SPIKEWEAVE_SANITIZE})
  endif()
endfunction()

# All that the thread sanitizer has to build, and all that script/gpu carries away.
add_custom_target(spikeweave_threads_tests)
add_custom_target(spikeweave_gpu_run)

# spikeweave_add_test(NAME [GPU] src... LABELS a b): one CTest test per executable, skipped when it exits with 77. With GPU
# it runs on a device, and is built only with SPIKEWEAVE_CUDA.
function(spikeweave_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU" "" "LABELS")
  if(arg_GPU AND NOT SPIKEWEAVE_CUDA)
    return()
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE spikeweave_test_support)
  spikeweave_configure(${name})
  if(arg_GPU)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/gpu_main.cpp)
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
    add_dependencies(spikeweave_gpu_run ${name})
    list(APPEND arg_LABELS gpu)
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77)
  if(arg_GPU)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu)
  endif()
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(spikeweave_threads_tests ${name})
  endif()
endfunction()

# What Open MPI needs to start more ranks than cores, as root and without a network, as in a container.
set(SPIKEWEAVE_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_plm=isolated
  OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none)

# spikeweave_add_mpi_test(NAME RANKS 1 2): runs the executable of spikeweave_add_test once more on each number of ranks. It
# finds in SPIKEWEAVE_TEST_RANKS where it is: `mpi`, or `none` for one that has to skip itself because MPI was left out.
function(spikeweave_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "RANKS")
  foreach(ranks IN LISTS arg_RANKS)
    if(SPIKEWEAVE_MPI)
      add_test(NAME ${name}_on_${ranks}_ranks
        COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${name}> --gtest_brief=1)
    else()
      add_test(NAME ${name}_on_${ranks}_ranks COMMAND ${name} --gtest_brief=1)
    endif()
    set_tests_properties(${name}_on_${ranks}_ranks PROPERTIES LABELS mpi SKIP_RETURN_CODE 77 TIMEOUT 120
      PROCESSORS ${ranks} ENVIRONMENT "SPIKEWEAVE_TEST_RANKS=$<IF:$<BOOL:${SPIKEWEAVE_MPI}>,mpi,none>;${SPIKEWEAVE_MPI_ENVIRONMENT}")
  endforeach()
endfunction()

# spikeweave_add_benchmark(NAME src...)
function(spikeweave_add_benchmark name)
  add_executable(${name} ${ARGN} ${PROJECT_SOURCE_DIR}/benchmarks/support/main.cpp)
  target_link_libraries(${name} PRIVATE spikeweave benchmark::benchmark fmt::fmt)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  spikeweave_configure(${name})
  if(name MATCHES "_gpu_bench$")
    add_dependencies(spikeweave_gpu_run ${name})
  endif()
endfunction()

function(spikeweave_install)
  include(CMakePackageConfigHelpers)
  install(TARGETS spikeweave EXPORT spikeweaveTargets FILE_SET HEADERS)
  if(SPIKEWEAVE_COMMAND)
    install(TARGETS spikeweave_cli)
  endif()
  install(EXPORT spikeweaveTargets NAMESPACE spikeweave:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spikeweave)
  configure_package_config_file(cmake/spikeweaveConfig.cmake.in ${PROJECT_BINARY_DIR}/spikeweaveConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spikeweave)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/spikeweaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/spikeweaveConfig.cmake ${PROJECT_BINARY_DIR}/spikeweaveConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/spikeweave)
endfunction()
