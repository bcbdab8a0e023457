# What the tests in deploy/ share: packages, waiting with a bound, the answer, and one tidy end.
# shellcheck shell=bash
set -euo pipefail

# need COMMAND PACKAGE...: the command, or else the Debian packages that have it, without starting what they would serve.
need() {
    local command=$1
    shift
    command -v "$command" > /dev/null && return
    apt-get -q update > /dev/null
    DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q install -y --no-install-recommends "$@" > /dev/null
}

# get_wine: $wine runs programs for Windows that lie in $FOLDER. Rust takes random numbers from a library that Debian's Wine lacks.
get_wine() {
    need wine64 wine64
    need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
    # shellcheck disable=SC2034
    wine=/usr/lib/wine/wine64
    local modules
    modules=$(dirname "$(dpkg -L libwine | grep -m 1 '/ntdll\.dll$')")
    [ -e "$modules/bcryptprimitives.dll" ] \
        || x86_64-w64-mingw32-gcc -shared -O1 -o "$FOLDER/bcryptprimitives.dll" deploy/windows/bcryptprimitives.c -ladvapi32
    export HOME=$FOLDER WINEPREFIX=$FOLDER/prefix WINEDEBUG=-all
}

# await SECONDS WHAT COMMAND...: until the command succeeds, or the test has failed. On an idle machine it takes at most SECONDS, on one busy core
# five times as long.
await() {
    local until=$((SECONDS + 5 * $1)) what=$2
    shift 2
    until "$@" > /dev/null 2>&1; do
        [ "$SECONDS" -lt "$until" ] || fail "waited in vain for $what"
        sleep 0.2
    done
    echo "   $what (after $SECONDS s)"
}

fail() {
    echo "failed: $*" >&2
    exit 1
}

# free_port: one that nobody listens on at the moment.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# exact FILE N: the answer that stands in the file is the published one.
exact() {
    local answer="^Q($2) = [0-9]*: agrees with the published value\$"
    grep -q "$answer" "$1" || { cat "$1" >&2; fail "no exact answer in $1"; }
    echo "   $(grep "$answer" "$1")"
}

# resumed COUNT: the shards in ./diadem-18-shards went on in another process at least so often, each of which has a term in the ledger.
resumed() {
    local times
    times=$(cat diadem-18-shards/*/ledger/*.jsonl | grep -c '"kind":"term","term":\([2-9]\|1[0-9]\)') || true
    [ "$times" -ge "$1" ] || fail "shards went on $times times after an interruption, not $1"
    echo "   shards went on $times times after an interruption"
}
