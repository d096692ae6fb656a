#!/usr/bin/env bash
# Runs fuzz targets concurrently and prints a table: TARGET, executions, messages in the inputs of parsers of streams,
# faults, faults in libhdf5, time-outs.
#   run_fuzz.sh [--jobs N] [--seed S] FOLDER BUDGET [TARGET...]
#     FOLDER   has bin/fuzz_TARGET, corpus/TARGET, seeds/TARGET and dictionaries/TARGET.dict; found/TARGET gets the faults
#     BUDGET   seconds for each target, such as 60s, or a number of executions
#     --seed S the stored inputs and the same mutants of them in every run; targets with HDF5, which take 20 times as
#              long, get a twentieth of the executions
# The exit status is 1 if anything was found.
set -euo pipefail

jobs=$(nproc)
export seed=
[[ ${1:-} != --jobs ]] || { jobs=$2; shift 2; }
[[ ${1:-} != --seed ]] || { seed=$2; shift 2; }
[[ -d ${1:-} && ${2:-} =~ ^[0-9]+s?$ ]] || {
  echo "usage: run_fuzz.sh [--jobs N] [--seed S] FOLDER BUDGET [TARGET...]" >&2
  exit 2
}
folder=$(realpath "$1") budget=$2
shift 2

# Runs one target until its budget is used up, restarting it after each fault.
run_target() {
  local target=$1 budget=$2 folder=$3 began=$SECONDS
  local found=$folder/found/$target
  rm -rf "$found"
  mkdir -p "$found/inputs" "$found/corpus" "$folder/corpus/$target" "$folder/seeds/$target"
  local options=(-print_final_stats=1 -timeout=20 -rss_limit_mb=3000 -malloc_limit_mb=1000 -max_len=16384 -verbosity=1
    "-artifact_prefix=$found/inputs/")
  [[ ! -e $folder/dictionaries/$target.dict ]] || options+=("-dict=$folder/dictionaries/$target.dict")
  if [[ -n $seed ]]; then
    # Neither coverage nor compared values choose the mutants; inputs without new coverage are kept.
    options+=("-seed=$seed" -keep_seed=1 -use_cmp=0 -reduce_inputs=0)
    [[ $target != kwik* && $target != nwb* || $budget == *s ]] || budget=$((budget / 20))
  fi
  local executions=0 messages=0 ours=0 theirs=0 slow=0 round=0 wanted=1
  while ((wanted > 0 && round < 500)); do
    if [[ $budget == *s ]]; then
      wanted=$((${budget%s} - (SECONDS - began)))
      ((wanted > 0)) || break
      limit=-max_total_time=$wanted
    else
      wanted=$((budget - executions))
      ((wanted > 0)) || break
      limit=-runs=$wanted
    fi
    local log=$found/log.$round status=0 before
    before=$(find "$found/inputs" -type f | wc -l)
    round=$((round + 1))
    "$folder/bin/fuzz_$target" "${options[@]}" "$limit" "$found/corpus" "$folder/corpus/$target" "$folder/seeds/$target" \
      >"$log" 2>&1 </dev/null || status=$?
    local done_now
    done_now=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    executions=$((executions + ${done_now:-0}))
    done_now=$(sed -n 's/^stat::messages: *//p' "$log")
    messages=$((messages + ${done_now:-0}))
    if ((status == 0)); then
      rm "$log"
      if [[ $budget == *s ]]; then break; else continue; fi
    fi
    if grep -q '^==.*ERROR: libFuzzer: timeout\|^ALARM:' "$log"; then
      slow=$((slow + 1))
    elif awk '/^ *#[0-9]+ 0x/ && !/libasan|sanitizer|fuzzer::|libc[.-]|\/lib\/.*libc\.so|in (raise|abort|__interceptor)/ {
        print; exit}' "$log" | grep -q 'libhdf5'; then
      theirs=$((theirs + 1))
    else
      ours=$((ours + 1))
    fi
    # A fault of an input that is already known occurs in every round, so the loop ends.
    (($(find "$found/inputs" -type f | wc -l) > before)) || break
  done
  printf '%s\t%d\t%d\t%d\t%d\t%d\n' "$target" "$executions" "$messages" "$ours" "$theirs" "$slow" >"$found/result"
}
export -f run_target

targets=("$@")
((${#targets[@]})) || mapfile -t targets < <(cd "$folder/bin" && printf '%s\n' fuzz_* | sed s/^fuzz_//)
# Targets write their files to memory.
work=$(mktemp -d -p /dev/shm spikeweave-fuzz.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS="suppressions=$folder/leaks.supp:print_suppressions=0"
printf '%s\n' "${targets[@]}" |
  xargs -P "$jobs" -I TARGET bash -euo pipefail -c 'run_target TARGET "$0" "$1"' "$budget" "$folder"

{
  printf 'target\texecutions\tmessages\tfaults\tin libhdf5\ttime-outs\n'
  for target in "${targets[@]}"; do cat "$folder/found/$target/result"; done
} | awk -F'\t' '{printf "%-20s %12s %12s %8s %12s %10s\n", $1, $2, $3, $4, $5, $6; bad += $4 + $5 + $6} END {exit bad > 0}' || {
  echo "What was found is in $folder/found/TARGET: the inputs, and what the target said of each in log.N."
  exit 1
}
