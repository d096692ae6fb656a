# The compile options of all targets, and functions that declare tests and benchmarks.

find_program(SPIKEWEAVE_CCACHE ccache)
if(SPIKEWEAVE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SPIKEWEAVE_CCACHE})
endif()

function(spikeweave_configure target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # In a unity build, private names of one file may shadow those of another. clang warns about more conversions than
  # g++; only the warnings of g++ are enforced.
  set(shadow -Wshadow)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(shadow -Wno-shadow -Wno-sign-conversion)
  elseif(CMAKE_UNITY_BUILD)
    set(shadow -Wshadow=local -Wno-subobject-linkage)
    # Inline as much as in small units, because g++ inlines less in large ones.
    set(inlining --param=large-unit-insns=1000000)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Otherwise g++ collects garbage from 128 MB on, which took 6 % of the time of the unit of reports.
    set(memory --param=ggc-min-heapsize=1000000)
  endif()
  # Without the last option, position-independent code would call every exported function through a table, so that
  # another library could replace it, and would not inline it.
  # With contraction, simulated spikes would differ between processors with and without fused multiply-add.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wconversion ${shadow}
    -ffp-contract=off ${inlining} ${memory} -fno-semantic-interposition $<$<BOOL:${SPIKEWEAVE_WERROR}>:-Werror>>)
  if(SPIKEWEAVE_CUDA)
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
    list(JOIN shadow "," host_shadow)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,${host_shadow} -Xptxas=-v
      $<$<BOOL:${SPIKEWEAVE_WERROR}>:-Werror=all-warnings>>)
  endif()
  if(SPIKEWEAVE_SANITIZE)
    # The address sanitizer finds an access through a null pointer or outside of an object anyway, and there are no
    # downcasts: these checks would only take time to compile.
    target_compile_options(${target} PRIVATE -fsanitize=${SPIKEWEAVE_SANITIZE}
      -fno-sanitize=null,object-size,pointer-overflow,vptr -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${SPIKEWEAVE_SANITIZE})
  endif()
  if(SPIKEWEAVE_FUZZ_GUIDED)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# spikeweave_compile_quickly(TARGET [LEVEL]): for targets that parse, print and check, while the library computes. They
# are optimized with LEVEL, by default with -Og, which compiles as fast as -O0, because it inlines small functions. It
# makes g++ 12 believe that libstdc++ reads variables before they are set.
function(spikeweave_compile_quickly target)
  set(level ${ARGN})
  if(NOT level)
    set(level -Og $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  if(SPIKEWEAVE_SANITIZE)  # because its checks take long to optimize
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${level}>")
  endif()
endfunction()

# spikeweave_unite_stages(TARGET): with CMAKE_UNITY_BUILD, one translation unit per stage, which takes a third of the time.
# The largest folders have units of their own, and so does what is built only with CUDA or MPI, or only without, because
# all other objects are then the same in every build and the compiler cache shares them. CMake does not unite kernels;
# those of a folder are included in one source, which is compiled with their options.
function(spikeweave_unite_stages target)
  get_target_property(sources ${target} SOURCES)
  set(kernel_folders "")
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE path)
    if(CMAKE_UNITY_BUILD AND path MATCHES "[.]cu$")
      cmake_path(GET path PARENT_PATH folder)
      list(APPEND kernel_folders ${folder})
      string(APPEND kernels_in_${folder} "#include \"${path}\"\n")
      get_source_file_property(own ${source} COMPILE_OPTIONS)
      if(DEFINED options_in_${folder} AND NOT "${options_in_${folder}}" STREQUAL "${own}")
        message(FATAL_ERROR "The kernels in src/${folder} have different COMPILE_OPTIONS, so they cannot be one source.")
      endif()
      set(options_in_${folder} "${own}")
      set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
      continue()
    endif()
    string(REGEX MATCH "^(assess/surrogates|mine/episodes|mine/spade|sort/masked_gmm|[a-z]+)" group "${path}")
    if(target MATCHES "_(hdf5|live)$" OR path MATCHES "/no_(cuda|mpi)[.]cpp$"
        OR (target MATCHES "_setup_and_reports$" AND NOT group MATCHES "^(live|pipeline|report)$"))
      set(group small)  # Parsing their headers takes most of the time.
    elseif(path MATCHES "/cuda(/|[.]cpp$)")
      string(APPEND group "_optional")
    elseif(path MATCHES "_server[.]cpp$")  # with Boost.Beast, which takes long to compile: not with every change of the others
      set(group servers)
    endif()
    string(REPLACE "/" "_" group "${group}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  list(REMOVE_DUPLICATES kernel_folders)
  foreach(folder IN LISTS kernel_folders)
    set(united ${CMAKE_CURRENT_BINARY_DIR}/united/${folder}/kernels.cu)
    file(CONFIGURE OUTPUT ${united} CONTENT "${kernels_in_${folder}}" @ONLY)
    target_sources(${target} PRIVATE ${united})
    if(options_in_${folder})
      set_source_files_properties(${united} PROPERTIES COMPILE_OPTIONS "${options_in_${folder}}")
    endif()
  endforeach()
endfunction()

# All test executables, and everything that script/gpu copies.
add_custom_target(spikeweave_tests)
add_custom_target(spikeweave_gpu_run)

# Defines the executable for the tests of a folder when the first of them is declared.
function(spikeweave_test_executable name gpu)
  if(TARGET ${name})
    return()
  endif()
  add_executable(${name})
  target_link_libraries(${name} PRIVATE spikeweave_test_support)
  spikeweave_configure(${name})
  if(name MATCHES "^(assess|mine|sort)_(gpu_)?test$")  # they compute what they compare with
    spikeweave_compile_quickly(${name} -O1)
  else()
    # In a unity build, these are one translation unit, because parsing the headers takes most of their time.
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
    spikeweave_compile_quickly(${name} -O0)
  endif()
  add_dependencies(spikeweave_tests ${name})
  if(gpu)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/gpu_main.cpp)
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
    add_dependencies(spikeweave_gpu_run ${name})
  endif()
endfunction()

# Sets `out` to the name of the test in a source: that of tests/mine/spade/rules_test.cpp is mine_spade_rules_test. The
# same source for a GPU is mine_spade_rules_gpu_test.
function(spikeweave_name_test out source gpu)
  cmake_path(ABSOLUTE_PATH source)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
  cmake_path(REMOVE_EXTENSION source)
  string(REPLACE "/" "_" name "${source}")
  if(gpu)
    string(REGEX REPLACE "(_gpu)?_test$" "_gpu_test" name "${name}")
  endif()
  set(${out} ${name} PARENT_SCOPE)
endfunction()

# spikeweave_add_test([GPU] source LABELS a b): adds the source to the executable of its stage, STAGE_test or
# STAGE_gpu_test. Its test suites are one CTest test, which is skipped if all of them are (exit status 77). With GPU it
# runs on a device and is built only with SPIKEWEAVE_CUDA. SPIKEWEAVE_TEST_LABEL leaves out tests without this label.
function(spikeweave_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "GPU" "" "LABELS")
  spikeweave_name_test(name ${arg_UNPARSED_ARGUMENTS} ${arg_GPU})
  if((arg_GPU AND NOT SPIKEWEAVE_CUDA)
      OR (SPIKEWEAVE_TEST_LABEL AND NOT SPIKEWEAVE_TEST_LABEL IN_LIST arg_LABELS))
    return()
  endif()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  if(arg_GPU)
    set(executable ${folder}_gpu_test)
    list(APPEND arg_LABELS gpu)
  else()
    set(executable ${folder}_test)
  endif()
  spikeweave_test_executable(${executable} ${arg_GPU})
  target_sources(${executable} PRIVATE ${arg_UNPARSED_ARGUMENTS})

  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_UNPARSED_ARGUMENTS})
  file(STRINGS ${arg_UNPARSED_ARGUMENTS} tests REGEX "^(TYPED_)?TEST(_[FP])?\\(")
  list(TRANSFORM tests REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+).*" "\\1")
  list(REMOVE_DUPLICATES tests)
  set(filter "")
  foreach(suite IN LISTS tests)  # plain, typed and parameterized suites
    list(APPEND filter ${suite}.* ${suite}/* */${suite}.*)
  endforeach()
  list(JOIN filter ":" filter)
  add_test(NAME ${name} COMMAND ${executable} --gtest_brief=1 --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77)
  set_property(DIRECTORY PROPERTY spikeweave_${name} "${executable};--gtest_filter=${filter}")
  if(arg_GPU)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu)
  endif()
endfunction()

# The settings with which Open MPI starts more ranks than cores, as root and without a network, as in a container.
set(SPIKEWEAVE_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_plm=isolated
  OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none)

# spikeweave_add_mpi_test(source RANKS 1 2): runs the test of spikeweave_add_test on each number of ranks as well.
# SPIKEWEAVE_TEST_RANKS is `mpi` there, or `none` in a build without MPI, where the test has to skip itself.
function(spikeweave_add_mpi_test source)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "RANKS")
  spikeweave_name_test(name ${source} FALSE)
  get_property(test DIRECTORY PROPERTY spikeweave_${name})
  if(NOT test)
    return()
  endif()
  list(POP_FRONT test executable)
  set(launch "")
  foreach(ranks IN LISTS arg_RANKS)
    if(SPIKEWEAVE_MPI)
      set(launch ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks})
    endif()
    add_test(NAME ${name}_on_${ranks}_ranks COMMAND ${launch} $<TARGET_FILE:${executable}> --gtest_brief=1 ${test})
    set_tests_properties(${name}_on_${ranks}_ranks PROPERTIES LABELS mpi SKIP_RETURN_CODE 77 TIMEOUT 120
      PROCESSORS ${ranks}
      ENVIRONMENT "SPIKEWEAVE_TEST_RANKS=$<IF:$<BOOL:${SPIKEWEAVE_MPI}>,mpi,none>;${SPIKEWEAVE_MPI_ENVIRONMENT}")
  endforeach()
endfunction()

# spikeweave_add_benchmark(NAME src...)
function(spikeweave_add_benchmark name)
  add_executable(${name} ${ARGN} ${PROJECT_SOURCE_DIR}/benchmarks/support/main.cpp)
  target_link_libraries(${name} PRIVATE spikeweave::static benchmark::benchmark fmt::fmt)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  spikeweave_configure(${name})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)  # all of them contain main.cpp
  if(name MATCHES "_gpu_bench$")
    add_dependencies(spikeweave_gpu_run ${name})
  endif()
endfunction()

# spikeweave_begin_first(test...): tests that take long although they calculate little, because they wait. They begin
# before all others, one at a time, so that others run beside them.
function(spikeweave_begin_first)
  set_tests_properties(${ARGN} PROPERTIES COST 1000 RESOURCE_LOCK waiting)
endfunction()
