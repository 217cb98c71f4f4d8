#!/bin/sh
# Installs the clients of the interop tests on a Debian machine: amqplib and amqp-client from the lock file, all others from the distribution.
# It does nothing, and needs no network, when they are there already.
set -eu
cd "$(dirname "$0")"

missing=""
/usr/bin/python3 -c 'import pika' 2>/dev/null || missing="$missing python3-pika"
command -v node >/dev/null || missing="$missing nodejs"
command -v npm >/dev/null || missing="$missing npm"
/usr/bin/python3 -c 'import celery' 2>/dev/null || missing="$missing python3-celery"
ruby -e 'require "bunny"' 2>/dev/null || missing="$missing ruby-bunny"
command -v php >/dev/null || missing="$missing php-cli"
[ -e /usr/share/php/PhpAmqpLib/autoload.php ] || missing="$missing php-amqplib"
command -v javac >/dev/null || missing="$missing default-jdk-headless"
[ -e /usr/share/java/amqp-client.jar ] || missing="$missing librabbitmq-client-java"
command -v amqp-publish >/dev/null || missing="$missing amqp-tools"
# A Node.js from elsewhere may come without npm; Debian's npm would then pull in Debian's Node.js beside it, which works too.

if [ -n "$missing" ]; then
	root=""
	[ "$(id -u)" = 0 ] || root="sudo"
	$root apt-get update -qq
	# shellcheck disable=SC2086 # a list of package names
	DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $missing
fi

# npm writes its hidden lock file last, so it is newer than ours exactly when the installation finished.
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error
