#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

# Gets a tool: downloads it if TOOLS is download and the file DOWNLOADS has an entry, and builds it otherwise. It prints
# the number of the step among STEPS, the names of all tools of this run, and how long this and the later ones took last
# time.
#   test/tools/step.sh PROGRAM COMMAND-THAT-BUILDS-IT...
set -euo pipefail
program=$1 bin=$(dirname "$1") name=$(basename "$1")
shift
times=$bin/step-times.txt # NAME SECONDS; the last line of a name counts
mkdir -p "$bin"
touch "$times"

awk -v name="$name" -v steps="$STEPS" -v verb="$([ "$TOOLS" = build ] && echo building || echo getting)" '
  {took[$1] = $2}
  END {
    count = split(steps, names)
    for (i = 1; i <= count; i++) {
      if (names[i] == name) step = i
      if (!step) continue
      if (names[i] in took) rest += took[names[i]]; else unknown = 1
    }
    printf "step %d of %d: %s %s", step, count, verb, name
    if (rest) printf "; this and the rest took %s%d s last time", unknown ? "at least " : "", rest
    print ""
  }' "$times"

code=3 # no entry
if [ "$TOOLS" = download ]; then
  code=0
  "$bin/download" -entries "$DOWNLOADS" install "$program" || code=$?
fi
if [ $code = 3 ]; then
  code=0
  "$@" || code=$?
fi
[ $code = 0 ] && echo "$name $SECONDS" >> "$times"
exit $code
