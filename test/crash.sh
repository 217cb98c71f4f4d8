#!/usr/bin/env bash
# Kills the broker with SIGKILL in the middle of `broker perf --persistent --confirm`, again and again, and looks after each
# restart whether every message is there that was confirmed.
#
#   test/crash.sh [ROUNDS (100)] [BINARY (bin/broker)]
#
# A line a round tells how long the life was and what was found; the first lost message ends it with a failure.
set -euo pipefail

rounds=${1:-100}
binary=$(realpath "${2:-bin/broker}")
dir=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || kill -9 "$broker" 2>/dev/null || true; rm -rf "$dir"' EXIT

# start runs the broker and waits until it serves; $uri is where.
start() {
	rm -f "$dir/ready"
	"$binary" serve --data-dir "$dir/data" --amqp-addr 127.0.0.1:0 --http-addr none --metrics-addr none \
		--ready-file "$dir/ready" --log-level error 2>>"$dir/broker.log" &
	broker=$!
	until [ -s "$dir/ready" ]; do
		kill -0 "$broker" 2>/dev/null || { cat "$dir/broker.log" >&2; exit 1; }
		sleep 0.02
	done
	uri=amqp://guest:guest@$(grep -o '127\.0\.0\.1:[0-9]*' "$dir/ready" | head -1)/
}

start
confirmed=0
for ((round = 1; round <= rounds; round++)); do
	rm -f "$dir/confirmed"
	sizes=(32 1024 1024 20000 100000)
	size=${sizes[RANDOM % ${#sizes[@]}]}
	"$binary" perf -u "$uri" --queue crash -c 0 -p $((1 + RANDOM % 4)) -d 1m --persistent --confirm $((1 << RANDOM % 10)) --size "$size" \
		--confirmed-log "$dir/confirmed" --quiet --json >"$dir/report" 2>/dev/null &
	load=$!
	life=$(printf '%d.%03d' $((RANDOM % 2)) $((RANDOM % 1000)))
	sleep "$life"
	kill -9 "$broker"
	wait "$broker" 2>/dev/null || true
	wait "$load" || true # it was cut off, which is what we are here for
	start
	touch "$dir/confirmed"
	if ! found=$("$binary" perf verify "$dir/confirmed" -u "$uri" --queue crash --timeout 1m 2>"$dir/complaint"); then
		if [ ! -s "$dir/confirmed" ] && grep -q NOT_FOUND "$dir/complaint"; then
			echo "round $round: killed before the queue was declared"
			continue
		fi
		echo "round $round: $found $(cat "$dir/complaint")" >&2
		exit 1
	fi
	n=$(sed 's/.*"confirmed":\([0-9]*\).*/\1/' <<<"$found")
	confirmed=$((confirmed + n))
	echo "round $round: killed after $life s, bodies of $size bytes: $found"
done
kill "$broker"
wait "$broker"
broker=
echo "$rounds kills, $confirmed messages confirmed, none lost"
