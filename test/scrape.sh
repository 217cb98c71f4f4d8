#!/usr/bin/env bash
# Measures what it costs that everything is scraped every second: /metrics, /metrics/per-object, /api/queues and /api/overview.
#
#   test/scrape.sh [ROUNDS (5)] [BINARY (bin/broker)] [QUEUES (100)]
#
# Rounds with and without scrapes take turns. Each has as many messages as go through, for the broker's CPU time a message, and then 10,000 a
# second, for the slowest percent's latency. A line a round, then the medians and what scraping makes of them. Needs curl and python3.
set -euo pipefail

rounds=${1:-5}
binary=$(realpath "${2:-bin/broker}")
queues=${3:-100}
seconds=6
dir=$(mktemp -d)
broker=
scraper=
trap 'kill $scraper $broker 2>/dev/null || true; rm -rf "$dir"' EXIT

"$binary" serve --data-dir "$dir/data" --amqp-addr 127.0.0.1:0 --http-addr 127.0.0.1:0 --metrics-addr none --ready-file "$dir/ready" \
	--log-level error 2>>"$dir/broker.log" &
broker=$!
until [ -s "$dir/ready" ]; do
	kill -0 "$broker" 2>/dev/null || { cat "$dir/broker.log" >&2; exit 1; }
	sleep 0.02
done
address() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]][0])' "$dir/ready" "$1"; }
uri=amqp://guest:guest@$(address amqp)/
web=http://guest:guest@$(address http)
for ((i = 0; i < queues; i++)); do
	curl -sSf -o /dev/null -X PUT "$web/api/queues/%2F/q$i" -d '{"durable":true}'
done

# scrape asks for everything, once a second.
scrape() {
	while :; do
		curl -sSf -o /dev/null "$web/metrics" -o /dev/null "$web/metrics/per-object" -o /dev/null "$web/api/queues" \
			-o /dev/null "$web/api/overview" || true
		sleep 1
	done
}

# ticks is the CPU time that the broker has used, in hundredths of a second.
ticks() { awk '{print $14 + $15}' "/proc/$broker/stat"; }

# load runs `broker perf` and prints its result.
load() { "$binary" perf -u "$uri" --auto-ack -d "${seconds}s" --quiet --json "$@" 2>/dev/null; }

# round measures CPU time a message and the latency, with the name of the round.
round() {
	local before after full paced
	before=$(ticks)
	full=$(load)
	after=$(ticks)
	paced=$(load --rate 10000)
	python3 - "$1" "$((after - before))" "$full" "$paced" <<-'PYTHON' | tee -a "$dir/rounds"
		import json, sys
		name, ticks, full, paced = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
		print("%s cpu_us_per_msg %.3f p99_us %.0f" % (name, ticks * 1e4 / full["received"], paced["delivery_latency"]["p99_us"]))
	PYTHON
}

for ((r = 1; r <= rounds; r++)); do
	round quiet
	scrape &
	scraper=$!
	round scraped
	kill $scraper
	wait $scraper 2>/dev/null || true
	scraper=
done
python3 - "$dir/rounds" <<'PYTHON'
import statistics, sys

rows = [line.split() for line in open(sys.argv[1])]
for column, name, most in ((2, "CPU time a message", 1.1), (4, "p99 at 10,000 a second", 1.5)):
    quiet, scraped = (statistics.median(float(r[column]) for r in rows if r[0] == kind) for kind in ("quiet", "scraped"))
    print("%s: %.3f us, scraped %.3f us: %.2f times (at most %.1f)" % (name, quiet, scraped, scraped / quiet, most))
PYTHON
