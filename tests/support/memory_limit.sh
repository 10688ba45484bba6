# shellcheck shell=bash
# The memory of a run with --memory. Sourced by tests.
peak_of() { # COMMAND...: the peak of RssAnon in KiB on stdout, messages in `error`, the exit status in `code`
    python3 - "$@" 2>error <<'PYTHON'
import subprocess, sys, time
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
peak = 0
while process.poll() is None:
    try:
        with open(f"/proc/{process.pid}/status") as status:
            peak = max([peak] + [int(line.split()[1]) for line in status if line.startswith("RssAnon")])
    except OSError:
        pass
    time.sleep(0.002)
open("code", "w").write(str(process.returncode))
print(peak)
PYTHON
}

within() { # LIMIT_IN_MIB COMMAND...: below the limit, or refused in one line
    local limit=$1 peak
    shift
    peak=$(peak_of "$SFUMATO" "$@" --quiet --memory "${limit}M")
    if [ "$peak" -ge $((limit * 1024)) ]; then
        echo "$*: $peak KiB within a limit of $limit MiB" >&2
        exit 1
    fi
    if [ "$(cat code)" != 0 ] && { [ "$(wc -l <error)" != 1 ] || ! grep -q 'more than the limit of' error; }; then
        echo "$*: expected a refusal in one line:" >&2
        cat error >&2
        exit 1
    fi
}

named() { # LIMIT_IN_MIB COMMAND...: a limit that is refused names one that works, two thirds of which do not
    local limit=$1 size less
    shift
    within "$limit" "$@"
    size=$(sed -n 's/.* \(up to\|about\) \([0-9.]*[KMG]\)[ ,].*/\2/p' error)
    cp error first
    "$SFUMATO" "$@" --quiet --memory "$size" >/dev/null
    less=$(awk -v size="$size" 'BEGIN { print int(size * (size ~ /G$/ ? 1048576 : 1024) * 2 / 3) }')
    if "$SFUMATO" "$@" --quiet --memory "${less}K" >/dev/null 2>&1; then
        echo "$*: a limit of $size is named, but $less KiB are enough" >&2
        exit 1
    fi
}

hide_labels() { # DATASET OUTPUT [N]: a copy in which one of N nodes (150) keeps its label
    python3 - "$@" <<'PYTHON'
import array, json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
every = int(sys.argv[3]) if len(sys.argv) > 3 else 150
start = 8 + struct.unpack("<Q", data[:8])[0]
begin, end = json.loads(data[8:start])["y"]["data_offsets"]
labels = array.array("i", bytes(data[start + begin:start + end]))
data[start + begin:start + end] = array.array("i", [y if i % every == 0 else -1 for i, y in enumerate(labels)]).tobytes()
open(sys.argv[2], "wb").write(data)
PYTHON
}
