#!/usr/bin/env bash
# Builds the container image and uses it on a machine without a container engine:
# as root, with Debian's buildah, which also runs it (chroot isolation, so the
# container shares this machine's network). Everything it makes lies in one
# temporary folder that it removes. Takes a few minutes and 2 GB there (TMPDIR).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ $EUID == 0 ]] || { echo "image.sh: needs root for chroot" >&2; exit 1; }
missing=()
command -v buildah >/dev/null || missing+=(buildah)
[[ -x /bin/busybox ]] || missing+=(busybox-static)
[[ -e /etc/ssl/certs/ca-certificates.crt ]] || missing+=(ca-certificates)
/usr/bin/python3 -c 'import pika' 2>/dev/null || missing+=(python3-pika)
if ((${#missing[@]})); then
	apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}"
fi

work=$(mktemp -d)
running=
buildah() { command buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }

# descendants PID: all processes below it, itself first.
descendants() {
	echo "$1"
	local child
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do descendants "$child"; done
}

# end_broker tells the container's own process, the innermost one, to end.
end_broker() {
	kill -TERM "$(descendants "$running" | tail -n 1)"
	timeout 60 tail --pid="$running" -f /dev/null
}

cleanup() {
	local status=$?
	if [[ -n $running ]] && kill -0 "$running" 2>/dev/null; then end_broker || kill -KILL $(descendants "$running"); fi
	((status == 0)) || tail -n 50 "$work"/*.log >&2 || true
	buildah rm --all >/dev/null 2>&1 || true
	rm -rf "$work"
	exit "$status"
}
trap cleanup EXIT

# base_image makes localhost/golang:1.26 of this machine's own Go, in the place of
# the one that a registry has.
base_image() {
	local c
	c=$(buildah from scratch)
	mkdir -p "$work/base"/{bin,etc/ssl/certs,root,tmp}
	chmod 1777 "$work/base/tmp"
	cp /bin/busybox "$work/base/bin/"
	local applet
	for applet in $(/bin/busybox --list); do [[ -e $work/base/bin/$applet ]] || ln -s busybox "$work/base/bin/$applet"; done
	cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs/"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$work/base/etc/passwd"
	buildah copy -q "$c" "$work/base" / >/dev/null
	buildah copy -q "$c" "$(go env GOROOT)" /usr/local/go >/dev/null
	buildah config --env PATH=/usr/local/go/bin:/bin --env GOPATH=/go --env GOTOOLCHAIN=local "$c"
	buildah commit -q --rm "$c" localhost/golang:1.26 >/dev/null
}

# build_image builds the Dockerfile as it stands. The machine's caches spare a download and half of the work.
build_image() {
	buildah build --isolation chroot --format docker \
		--build-context golang:1.26=container-image://localhost/golang:1.26 \
		--volume "$(go env GOMODCACHE):/go/pkg/mod" --volume "$(go env GOCACHE):/root/.cache/go-build" \
		--build-arg VERSION=image-test --tag localhost/leveret . >"$work/build.log" 2>&1
}

inspect() { buildah inspect --type image --format "$1" localhost/leveret; }

check() { # check WHAT GOT WANT
	[[ $2 == "$3" ]] || { echo "image.sh: $1 is '$2', not '$3'" >&2; exit 1; }
	echo "ok: $1 $2"
}

# start_broker runs the image's own command in container $1 and waits for its ready line.
start_broker() {
	local command
	read -r -a command <<<"$(inspect '{{range .Docker.Config.Entrypoint}}{{.}} {{end}}{{range .Docker.Config.Cmd}}{{.}} {{end}}')"
	command buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs run --isolation chroot \
		--env LEVERET_AMQP_ADDR=0.0.0.0:0 --env LEVERET_HTTP_ADDR=127.0.0.1:0 --env LEVERET_METRICS_ADDR=127.0.0.1:0 \
		"$1" -- "${command[@]}" >"$work/broker.log" 2>&1 &
	running=$!
	timeout 60 bash -c 'until grep -q -w ready "$1"; do kill -0 "$2" || exit 1; sleep 0.1; done' - "$work/broker.log" "$running"
	port=$(listens_on amqp)
}

# listens_on KIND: the port of that listener, as the ready line tells.
listens_on() { grep -w ready "$work/broker.log" | grep -oE "\b$1=\S*:[0-9]+" | grep -oE '[0-9]+$'; }

# publish_and_consume HOST PORT: a client of another project uses the broker as guest.
publish_and_consume() {
	timeout 60 /usr/bin/python3 - "$1" "$2" <<'PYTHON'
import sys, pika
connection = pika.BlockingConnection(pika.ConnectionParameters(sys.argv[1], int(sys.argv[2])))
channel = connection.channel()
channel.confirm_delivery()
channel.queue_declare("image", durable=True)
for i in range(100):
    channel.basic_publish("", "image", b"message %d" % i, pika.BasicProperties(delivery_mode=2), mandatory=True)
got = []
for method, properties, body in channel.consume("image", inactivity_timeout=10):
    if method is None:
        break
    channel.basic_ack(method.delivery_tag)
    got.append(body)
    if len(got) == 100:
        break
channel.cancel()
channel.queue_delete("image")
connection.close()
assert got == [b"message %d" % i for i in range(100)], got
PYTHON
}

base_image
build_image
check "user" "$(inspect '{{.Docker.Config.User}}')" 65532:65532
check "volume" "$(inspect '{{range $v, $_ := .Docker.Config.Volumes}}{{$v}}{{end}}')" /var/lib/leveret
check "ports" "$(inspect '{{range $p, $_ := .Docker.Config.ExposedPorts}}{{$p}} {{end}}')" "15672/tcp 15692/tcp 5672/tcp "
check "health check" "$(inspect '{{.Docker.Config.Healthcheck.Test}}')" "[CMD /usr/local/bin/broker health]"

container=$(buildah from localhost/leveret)
echo "ok: version $(buildah run --isolation chroot "$container" -- broker version)"
start_broker "$container"
# Not over loopback where the machine has another address: guest may come from everywhere.
host=$(hostname -I | cut -d ' ' -f 1)
publish_and_consume "${host:-127.0.0.1}" "$port"
echo "ok: 100 messages published and consumed over ${host:-127.0.0.1}:$port"
echo "ok: health is $(buildah run --isolation chroot "$container" -- broker health --amqp-addr "127.0.0.1:$port" \
	--http-addr "127.0.0.1:$(listens_on http)" --metrics-addr "127.0.0.1:$(listens_on metrics)")"
check "process's user" "$(awk '/^Uid:/ { print $2 }' /proc/"$(descendants "$running" | tail -n 1)"/status)" 65532
end_broker
wait "$running"
running=
echo "ok: ended cleanly"
echo "image of $(du -sh --apparent-size "$(buildah mount "$container")" | cut -f 1)"
