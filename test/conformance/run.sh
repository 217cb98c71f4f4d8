#!/usr/bin/env bash
# Runs the conformance checks against bin/broker and compares their failures with
# allowed-failures.txt. LEVERET_CONFORMANCE names the folder of the checks; arguments
# go to the program (-only W7,qos -jobs 4).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

suite=${LEVERET_CONFORMANCE:-../shared/conformance}
if [[ ! -f $suite/run.py ]]; then
	echo "conformance: no checks in $suite (LEVERET_CONFORMANCE names their folder)" >&2
	exit 1
fi
exec go run ./internal/conformance -suite "$suite" "$@"
