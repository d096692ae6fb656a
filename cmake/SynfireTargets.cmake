# What every target of the project is built with, and how tests, benchmarks and the installation are declared.

find_program(SYNFIRE_CCACHE ccache)
if(SYNFIRE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SYNFIRE_CCACHE})
endif()

function(synfire_configure target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Contraction would let simulated spikes differ between processors with and without fused multiply-add.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow
    -ffp-contract=off $<$<BOOL:${SYNFIRE_WERROR}>:-Werror>>)
  if(SYNFIRE_CUDA)
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow -Xptxas=-v
      $<$<BOOL:${SYNFIRE_WERROR}>:-Werror=all-warnings>>)
  endif()
  if(SYNFIRE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${SYNFIRE_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${SYNFIRE_SANITIZE})
  endif()
endfunction()

# All that the thread sanitizer has to build, and all that script/gpu carries away.
add_custom_target(synfire_threads_tests)
add_custom_target(synfire_gpu_run)

# synfire_add_test(NAME [GPU] src... LABELS a b): one CTest test per executable, skipped when it exits with 77. With GPU
# it runs on a device, and is built only with SYNFIRE_CUDA.
function(synfire_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU" "" "LABELS")
  if(arg_GPU AND NOT SYNFIRE_CUDA)
    return()
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE synfire_test_support)
  synfire_configure(${name})
  if(arg_GPU)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/gpu_main.cpp)
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
    add_dependencies(synfire_gpu_run ${name})
    list(APPEND arg_LABELS gpu)
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77)
  if(arg_GPU)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu)
  endif()
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(synfire_threads_tests ${name})
  endif()
endfunction()

# What Open MPI needs to start more ranks than cores, as root and without a network, as in a container.
set(SYNFIRE_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_plm=isolated
  OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none)

# synfire_add_mpi_test(NAME RANKS 1 2): runs the executable of synfire_add_test once more on each number of ranks. It
# finds in SYNFIRE_TEST_RANKS where it is: `mpi`, or `none` for one that has to skip itself because MPI was left out.
function(synfire_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "RANKS")
  foreach(ranks IN LISTS arg_RANKS)
    if(SYNFIRE_MPI)
      add_test(NAME ${name}_on_${ranks}_ranks
        COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${name}> --gtest_brief=1)
    else()
      add_test(NAME ${name}_on_${ranks}_ranks COMMAND ${name} --gtest_brief=1)
    endif()
    set_tests_properties(${name}_on_${ranks}_ranks PROPERTIES LABELS mpi SKIP_RETURN_CODE 77 TIMEOUT 120
      PROCESSORS ${ranks} ENVIRONMENT "SYNFIRE_TEST_RANKS=$<IF:$<BOOL:${SYNFIRE_MPI}>,mpi,none>;${SYNFIRE_MPI_ENVIRONMENT}")
  endforeach()
endfunction()

# synfire_add_benchmark(NAME src...)
function(synfire_add_benchmark name)
  add_executable(${name} ${ARGN} ${PROJECT_SOURCE_DIR}/benchmarks/support/main.cpp)
  target_link_libraries(${name} PRIVATE synfire benchmark::benchmark fmt::fmt)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  synfire_configure(${name})
  if(name MATCHES "_gpu_bench$")
    add_dependencies(synfire_gpu_run ${name})
  endif()
endfunction()

function(synfire_install)
  include(CMakePackageConfigHelpers)
  install(TARGETS synfire EXPORT synfireTargets FILE_SET HEADERS)
  if(SYNFIRE_COMMAND)
    install(TARGETS synfire_cli)
  endif()
  install(EXPORT synfireTargets NAMESPACE synfire:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/synfire)
  configure_package_config_file(cmake/synfireConfig.cmake.in ${PROJECT_BINARY_DIR}/synfireConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/synfire)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/synfireConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/synfireConfig.cmake ${PROJECT_BINARY_DIR}/synfireConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/synfire)
endfunction()
