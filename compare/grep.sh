#!/usr/bin/env bash
# Times bloom build + bloom filter against grep, awk, and sort and join, on
# synthetic keys (keygen): 2 M known, a stream of 5 M lines, half of them known.
#
#   compare/grep.sh [FOLDER]     makes the keys in FOLDER (120 MB; default: a temporary folder)
#
# It prints wall time and peak memory of each run. The locale is the caller's: sort and
# join are faster under LC_ALL=C.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-$(mktemp -d)}
[ -f "$folder/stream" ] || go run ./keygen "$folder"
(cd ../cmd/bloom && go build -o "$folder/bloom" .)
cd "$folder"
export TIMEFORMAT='%3R s'
echo "locale: ${LC_ALL:-${LANG:-none}}"
for run in 1 2 3 4 5 6 7; do
  printf 'bloom build + filter:  '
  time { ./bloom build -o known.bloom known; ./bloom filter known.bloom stream > passed; }
done
for run in 1 2 3; do
  printf 'sort + join:           '
  time { sort known > known.sorted; sort stream > stream.sorted; join known.sorted stream.sorted > joined; }
done
for run in 1 2 3; do
  printf 'awk:                   '
  time awk 'NR == FNR { known[$0]; next } $0 in known' known stream > exact
done
printf 'grep -F -x -f:         '
time grep -F -x -f known stream > grepped
cmp exact grepped
printf 'lines: %s known, %s passed by the filter, %s of the known ones missing\n' \
  "$(wc -l < exact)" "$(wc -l < passed)" "$(LC_ALL=C comm -23 <(LC_ALL=C sort exact) <(LC_ALL=C sort passed) | wc -l)"
if [ -x /usr/bin/time ]; then
  /usr/bin/time -f 'peak memory of bloom build: %M KB' ./bloom build -o known.bloom known
  /usr/bin/time -f 'peak memory of bloom filter: %M KB' ./bloom filter known.bloom stream > passed
fi
