#!/usr/bin/env bash
# Runs the programs that script/gpu put into this folder on the GPUs of this machine.
#   ./run [TEST...]      the GPU tests, all of them unless named
#   ./run --bench [BENCHMARK OPTION...]    the benchmarks; results as JSON in results/
# Property tests draw a fiftieth of their cases unless SPIKEWEAVE_PROPERTY_SHARE is set, because every strategy counts
# each.
# UNDER="compute-sanitizer --tool memcheck --error-exitcode 9" precedes each test command, GTEST_FILTER selects cases.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
export SPIKEWEAVE_REQUIRE_GPU=1 SPIKEWEAVE_PROPERTY_SHARE=${SPIKEWEAVE_PROPERTY_SHARE:-0.02}
if [[ -d data/wagenaar2006 ]]; then export SPIKEWEAVE_SHARED_DATA=${SPIKEWEAVE_SHARED_DATA:-$PWD/data}; fi

bin/spikeweave devices || exit 1
if [[ ${1:-} == --bench ]]; then
  shift
  mkdir -p results
  status=0
  shopt -s nullglob
  for benchmark in benchmarks/*_gpu_bench; do
    echo "== ${benchmark##*/}"
    "$benchmark" --benchmark_context="commit=$(<commit)" --benchmark_context="gpu=$(bin/spikeweave devices | head -n1 | tr -d ',=')" \
      --benchmark_context="processor=$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | head -n1)" \
      --benchmark_out="results/$(date -u +%F)-${benchmark##*/}.json" --benchmark_out_format=json "$@" || status=1
  done
  exit "$status"
fi

tests=("$@")
((${#tests[@]})) || mapfile -t tests < <(find tests -type f -name '*_gpu_test' -printf '%f\n' | sort)
passed=0
failed=()
for test in "${tests[@]}"; do
  began=$SECONDS
  echo "== $test"
  # shellcheck disable=SC2086
  if ${UNDER:-} "tests/$test" --gtest_brief=1; then passed=$((passed + 1)); else failed+=("$test"); fi
  echo "== $test: $((SECONDS - began)) s"
done
for test in ${failed[@]+"${failed[@]}"}; do echo "FAILED   $test"; done
echo "$passed passed, ${#failed[@]} failed"
((${#failed[@]} == 0 && passed > 0))
