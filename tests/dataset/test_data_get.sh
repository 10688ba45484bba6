# `sfumato data get` with a server that misbehaves: exit codes, one line per failure, no files left.
if ! python3 -c 'import http.server' 2>/dev/null || [ ! -d "$TEST_DATA/dblp" ]; then
    echo "skipped: needs python3 and the public datasets"
    exit 77
fi
if ! "$SFUMATO" --version | grep -q 'https *yes'; then
    echo "skipped: built without libcurl"
    exit 77
fi
mkfifo hold
python3 "$SOURCE/tests/support/misbehaving_server.py" requests "$TEST_DATA" <hold >port &
exec 9>hold # the server goes when this end is closed
for _ in $(seq 3000); do [ -s port ] || sleep 0.1; done
export no_proxy=127.0.0.1 https_proxy=http://127.0.0.1:1 # no other connections: the real mirrors are never contacted
mirror=http://127.0.0.1:$(cat port)
cache=$XDG_CACHE_HOME/sfumato

refuse() { echo "test_data_get: $*" >&2; exit 1; }

# get BEHAVIOUR CODE ARGUMENT...: runs it and checks the exit code; its output is in out and err.
get() {
    local behaviour=$1 wanted=$2 code=0
    shift 2
    SFUMATO_MIRROR=$mirror/$behaviour "$SFUMATO" data get "$@" >out 2>err || code=$?
    [ "$code" = "$wanted" ] || refuse "$behaviour: exit $code instead of $wanted: $(cat err)"
}
one_line() {
    [ "$(grep -c . err)" = 1 ] || refuse "not one line: $(cat err)"
    grep -q "$1" err || refuse "\"$1\" is not in: $(cat err)"
}
nothing_left() { [ -z "$(ls -A "$cache" 2>/dev/null)" ] || refuse "left behind: $(ls -RA "$cache")"; }

get missing 1 dblp --quiet
one_line 'apa.npz: no mirror could provide it: SFUMATO_MIRROR: HTTP 404; liun-online/HeCo: '
nothing_left
get wrong 1 acm --quiet
one_line 'SFUMATO_MIRROR: wrong SHA-256'
nothing_left
get right 2 no-such-dataset
nothing_left

# A full disk, simulated by a limit of 40 KiB on file sizes.
(trap '' XFSZ; ulimit -f 40; get right 1 dblp --quiet) || exit 1
one_line 'cannot write: File too large'
nothing_left

# Ctrl-C, then the same command again, which resumes.
set -m # or the shell would have it ignore the interrupt
SFUMATO_MIRROR=$mirror/slow "$SFUMATO" data get dblp --quiet >out 2>err &
process=$!
set +m
for _ in $(seq 6000); do
    if [ -s "$(echo "$cache"/.dblp.safetensors.sfumato-*/apa.npz.part)" ]; then break; fi
    sleep 0.05
done
kill -INT $process
code=0
wait $process || code=$?
[ "$code" = 130 ] || refuse "exit $code after an interrupt: $(cat err)"
[ ! -e "$cache/dblp.safetensors" ] || refuse "an interrupted get wrote a dataset"
get right 0 dblp
grep -q '/right/dblp/apa.npz bytes=[1-9]' requests || refuse "it did not go on where it stopped: $(cat requests)"
[ "$(ls -A "$cache")" = dblp.safetensors ] || refuse "left behind: $(ls -RA "$cache")"
"$SFUMATO" data info dblp >out
grep -q 4057 out || refuse "not found by its name: $(cat out)"
# With its self-loops it is a separate dataset.
get right 0 dblp --self-loops keep
grep -qx "dblp+loops: $cache/dblp+loops.safetensors" out || refuse "said: $(cat out)"
"$SFUMATO" data info dblp+loops --json | grep -q '"edges": 7585,' || refuse "the self-loops are not there"
"$SFUMATO" data info dblp --json | grep -q '"edges": 3528,' || refuse "the dataset without loops has changed"
exec 9>&-

# pip.py, pip and python3 in the current folder are not run, whatever PATH and PYTHONPATH are.
if command -v python3 >/dev/null; then
    mkdir -p trap bin
    ln -s "$(command -v python3)" bin/python3
    for name in pip pip3 python3; do
        printf '#!/bin/sh\ntouch "%s/trapped"\n' "$PWD" >trap/$name
        chmod +x trap/$name
    done
    printf 'open("%s/trapped", "w")\n' "$PWD" >trap/pip.py
    (cd trap && PATH=".::$PWD/../bin:/usr/bin:/bin" PYTHONPATH=. PIP_INDEX_URL=http://127.0.0.1:9/ PIP_RETRIES=0 PIP_TIMEOUT=1 \
        "$SFUMATO" data get cora --via pip --quiet >../out 2>../err) && refuse "pip without a network got cora"
    [ ! -e trapped ] || refuse "something in the current folder was run as pip"
fi
