#!/usr/bin/env bash
# --memory: a dataset ten times the limit is trained and predicted with the bytes of a run without one, within
# RLIMIT_DATA; what cannot be streamed is refused in one line; a file that changes while it is read does no harm.
set -euo pipefail
. "$SOURCE/tests/support/memory_limit.sh"

nodes=90000
[ "${BUILD_KIND:-plain}" = plain ] || nodes=9000
"$SFUMATO" data make --nodes "$nodes" --degree 8 --dense 1024 --classes 5 -o big.safetensors --quiet >/dev/null
bytes=$(stat -c %s big.safetensors)
limit=$((bytes / 10240)) # KiB

same() { # FILE FILE
    if ! cmp "$1" "$2"; then
        echo "$1 and $2 differ" >&2
        exit 1
    fi
}

fails() { # WHAT COMMAND...
    local what=$1
    shift
    if "$SFUMATO" "$@" 2>error; then
        echo "expected a failure: $*" >&2
        exit 1
    fi
    if [ "$(wc -l <error)" != 1 ] || ! grep -q -- "$what" error; then
        echo "expected one line with \"$what\":" >&2
        cat error >&2
        exit 1
    fi
}

"$SFUMATO" train big.safetensors sgcn -k 3 --epochs 5 -o all.st --quiet >/dev/null
"$SFUMATO" predict big.safetensors all.st -o all.csv --quiet >/dev/null

# A tenth of the dataset. Sanitizers and emulators reserve more memory than that for themselves.
if [ "${BUILD_KIND:-plain}" = plain ]; then
    (
        ulimit -d "$limit"
        "$SFUMATO" train big.safetensors sgcn -k 3 --epochs 5 -o within.st --quiet --memory "${limit}K" --threads 2
        "$SFUMATO" predict big.safetensors within.st -o within.csv --quiet --memory "${limit}K" --threads 2
    ) >/dev/null
    same all.st within.st
    same all.csv within.csv
    "$SFUMATO" explain big.safetensors sgcn -k 3 --memory "${limit}K" 2>/dev/null | tr -s '\n ' ' ' |
        grep -q 'streamed: [0-9]* slices of [0-9]* columns, [0-9]* passes over the graph, [0-9]* over X, peak [0-9]'
    fails 'needs about .* of memory, more than the limit of .*; use a larger limit, or a network that needs less' \
        train big.safetensors gcn --memory "${limit}K" --quiet
    fails 'needs about' train big.safetensors lpnn --memory "${limit}K" --quiet
    fails 'needs .* of memory, more than the limit of 1M' train big.safetensors sgcn --memory 1M --quiet

    # A file that would be copied without a limit is mapped, and does not count.
    "$SFUMATO" data make --nodes 60000 --degree 10 --dense 50 -o copied.safetensors --quiet >/dev/null
    [ "$(stat -c %s copied.safetensors)" -lt $((1 << 24)) ] && [ "$(stat -c %s copied.safetensors)" -gt 14000000 ]
    "$SFUMATO" train copied.safetensors sgcn --epochs 2 -o all.st --quiet --force >/dev/null
    "$SFUMATO" predict copied.safetensors all.st -o all.csv --quiet --force >/dev/null
    (
        ulimit -d 12288
        "$SFUMATO" train copied.safetensors sgcn --epochs 2 -o within.st --quiet --force --memory 12M
        "$SFUMATO" predict copied.safetensors within.st -o within.csv --quiet --force --memory 12M
        "$SFUMATO" tune copied.safetensors sgcn --trials 2 --epochs 2 --study memory --quiet --memory 12M
        "$SFUMATO" evaluate copied.safetensors within.st --quiet --memory 12M
        "$SFUMATO" explain copied.safetensors sgcn --quiet --memory 12M
    ) >/dev/null
    same all.st within.st
    same all.csv within.csv

    # The limit that a refusal names is enough.
    enough() { # COMMAND...
        fails '\(needs up to .* of memory\|memory, up to .*\), more than the limit of 1M; use a larger limit' \
            "$@" --quiet --memory 1M
        local named
        named=$(sed 's/.* up to \([0-9.]*[KMG]\)[ ,].*/\1/' error)
        "$SFUMATO" "$@" --quiet --memory "$named" >/dev/null
    }
    "$SFUMATO" data make --nodes 30000 --degree 8 --dense 256 --classes 5 -o few.safetensors --quiet >/dev/null
    "$SFUMATO" data make --nodes 30000 --degree 8 --vocabulary 3000 -o sparse.safetensors --quiet >/dev/null
    deep='smooth^6(teleport=0.1) | dense 16 relu | softmax'
    for data in few sparse; do
        for network in sgcn fp+mlp "$deep" 'smooth(act=tanh) | smooth | softmax' 'smooth(norm=row) | softmax'; do
            enough train $data.safetensors "$network" --epochs 3 --threads 2 -o enough.st --force
        done
        enough predict $data.safetensors enough.st -o enough.csv --threads 2 --force
        enough evaluate $data.safetensors enough.st --threads 2
        enough explain $data.safetensors "$deep" --threads 2
    done

    # The input of a layer with teleport is kept where memory is short, too.
    for network in 'smooth^2(teleport=0.1) | dense 16 relu | softmax' 'smooth^2 | smooth^2(teleport=0.3) | softmax'; do
        "$SFUMATO" train few.safetensors "$network" --epochs 3 --quiet --force -o returns.st >/dev/null
        "$SFUMATO" predict few.safetensors returns.st --quiet --force -o returns.csv >/dev/null
        rm -f within.csv
        for limit in 8 9 10 12 14; do
            "$SFUMATO" predict few.safetensors returns.st --quiet --force -o within.csv --memory ${limit}M 2>/dev/null \
                >/dev/null || continue
            cmp returns.csv within.csv
        done
        [ -e within.csv ]
    done

    # A graph with hubs, most of them in one block of rows: the same bytes, whichever thread gets that block. A refusal
    # names more than the limit that it refuses.
    awk 'BEGIN { srand(1); print "from,to"
        for (i = 0; i < 1200000; i++) print int(30000 * rand()) "," int(30000 * rand() ^ 4) }' >hubs.csv
    awk 'BEGIN { print "node,label"; for (i = 0; i < 30000; i++) print i "," (i % 20 == 0 ? i / 20 % 3 : "") }' >some.csv
    python3 - <<'PYTHON'
import array
head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (30000, 96), }".ljust(117) + b"\n"
with open("hubs.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    f.write(array.array("f", (i * i % 17 / 8 - 1 for i in range(30000 * 96))).tobytes())
PYTHON
    "$SFUMATO" data import --edges hubs.csv --features hubs.npy --labels some.csv -o hubs.safetensors --quiet >/dev/null
    hubs=(train hubs.safetensors 'smooth^3 | dense 32 tanh | softmax' --epochs 2 --quiet --force)
    "$SFUMATO" "${hubs[@]}" -o all.st >/dev/null
    for size in 11 13 14 16; do
        if "$SFUMATO" "${hubs[@]}" -o within.st --memory ${size}M >/dev/null 2>error; then
            same all.st within.st
        else
            sed -n 's/.*needs up to \([0-9.]*\)M of memory.*/\1/p' error | awk -v size=$size '$1 > size { larger = 1 }
                END { exit !larger }' || { cat error >&2; exit 1; }
        fi
    done
    enough "${hubs[@]}" -o within.st

    # A labelling that is refused stays within the limit, too: it does not hold the graph.
    (
        ulimit -d 8192
        fails 'needs up to .* of memory, more than the limit of 8M; use a larger limit' \
            label hubs.safetensors --nets sgcn --budget steps:1 -o never.csv --memory 8M --quiet
    )
    # It is refused before anything is computed: checking the graph would come first, and find the wrong index.
    python3 - hubs.safetensors wrong.safetensors <<'PYTHON'
import json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
start = 8 + struct.unpack("<Q", data[:8])[0]
end = start + json.loads(data[8:start])["adj.indices"]["data_offsets"][1]
data[end - 4:end] = struct.pack("<i", 2000000000)
open(sys.argv[2], "wb").write(data)
PYTHON
    fails 'needs up to .* of memory, more than the limit of 12M; use a larger limit' \
        label wrong.safetensors --nets sgcn --budget steps:1 -o never.csv --memory 12M --quiet
    fails 'is 2000000000; columns must ascend' \
        label wrong.safetensors --nets sgcn --budget steps:1 -o never.csv --memory 64M --quiet

    # Studies and evaluations: the same results, and the limit holds for all jobs together.
    study=(tune few.safetensors sgcn --space 'practical k=[1..3]' --trials 12 --epochs 5 --jobs 2 --study memory
        --quiet)
    "$SFUMATO" "${study[@]}" -o all.st --export all.csv --force >/dev/null
    bytes=$(stat -c %s few.safetensors)
    (
        ulimit -d $((bytes * 6 / 10240))
        "$SFUMATO" "${study[@]}" -o within.st --export within.csv --force --memory $((bytes * 6 / 10240))K
    ) >/dev/null
    same all.st within.st
    same all.csv within.csv
    enough "${study[@]}"

    "$SFUMATO" evaluate few.safetensors all.st >all
    (
        ulimit -d $((bytes * 6 / 10240))
        "$SFUMATO" evaluate few.safetensors all.st --memory $((bytes * 6 / 10240))K
    ) >within
    same all within
    hide_labels few.safetensors hidden.safetensors
    label=(label hidden.safetensors --budget steps:1 --force)
    "$SFUMATO" "${label[@]}" --nets sgcn,mlp -o all.csv --quiet >/dev/null
    enough "${label[@]}" --nets sgcn,mlp -o within.csv
    same all.csv within.csv
    fails 'needs about .*; use a larger limit, or a network' "${label[@]}" --nets sgcn,gcn -o never.csv --memory 20M --quiet

    # Networks that need more are left out, and named; the others are those of a labelling of them alone.
    "$SFUMATO" "${label[@]}" -o within.csv --memory 20M --quiet --json >within.json
    "$SFUMATO" "${label[@]}" --nets "$(python3 - within.json <<'PYTHON'
import json, re, sys
candidates = json.load(open(sys.argv[1]))["candidates"]
out = {one["net"]: one["needs"] for one in candidates if one["needs"] is not None}
assert {"gcn", "gcn+lp", "sgcn+lp"} <= set(out), out
assert all(re.fullmatch(r"[0-9.]+M", needs) and float(needs[:-1]) > 20 for needs in out.values()), out
assert all(one["trials"] == 0 for one in candidates if one["net"] in out)
print(",".join(net for net in ("sgcn", "linear", "mlp", "fp+mlp") if net not in out))
PYTHON
    )" -o all.csv --quiet >/dev/null
    same all.csv within.csv
    "$SFUMATO" "${label[@]}" -o within.csv --memory 20M --quiet | tr -s '\n ' ' ' |
        grep -q 'Left out because of the memory limit: .*gcn (.*M)'
    fails 'no network fits the memory limit of 1M; the smallest needs up to .*; use a larger limit' \
        "${label[@]}" -o never.csv --memory 1M --quiet
    fails 'needs about .*; use a larger limit, or a network' tune few.safetensors gcn --trials 2 --study memory --memory 10M --quiet
    fails 'needs about .*; use a larger limit, or a network' tune citation lpnn --trials 2 --study memory --memory 4M --quiet
fi

# Tables are imported within the limit, too.
"$SFUMATO" data export citation -o tables --quiet >/dev/null
"$SFUMATO" train citation sgcn --epochs 3 -o tables.st --quiet >/dev/null
tables=(--edges tables/edges.csv --features tables/features.csv --labels tables/nodes.csv tables.st)
"$SFUMATO" predict "${tables[@]}" -o all.csv --quiet --force >/dev/null
"$SFUMATO" predict "${tables[@]}" -o within.csv --quiet --force --memory 256M >/dev/null
same all.csv within.csv
fails 'a memory limit of 30M is too small: expected at least 32M' predict "${tables[@]}" -o never.csv --memory 30M
fails 'a memory limit of 30M is too small: expected at least 32M' evaluate "${tables[@]}" --memory 30M

fails '--memory: expected at least 1M, found 8 bytes (did you mean 8G?)' train big.safetensors sgcn --memory 8
fails 'unknown option "--share" (did you mean --study?)' tune citation gcn --share postgresql://me@host/studies
fails 'expected a number of bytes such as 8G' train big.safetensors sgcn --memory lots

# Where everything fits, nothing changes: also for a network that cannot be streamed.
"$SFUMATO" train citation gcn --epochs 3 -o one.st --quiet >/dev/null
"$SFUMATO" train citation gcn --epochs 3 -o other.st --quiet --memory 64G >/dev/null
same one.st other.st

# A limit and a GPU that was asked for exclude each other, also where everything would fit.
awk 'BEGIN { for (i = 1; i < 9; i++) print i "," i % 8 + 1 }' >ring.csv
awk 'BEGIN { for (i = 1; i < 9; i++) print i "," (i < 7 ? i % 2 : "") }' >ring_labels.csv
for command in 'train citation gcn -o never' 'predict citation one.st -o never' 'evaluate citation one.st' \
    'tune citation gcn --trials 2 --study never' 'explain citation gcn' 'compare citation -o never' \
    'label --edges ring.csv --labels ring_labels.csv -o never'; do
    code=0
    # shellcheck disable=SC2086 # several words
    "$SFUMATO" $command --quiet --device cuda --memory 64G 2>error >/dev/null || code=$?
    line='sfumato: device "cuda": only the CPU keeps a memory limit; leave out the device or the limit'
    if [ "$code" != 2 ] || [ "$(cat error)" != "$line" ] || [ -e never ]; then
        echo "$command --device cuda --memory 64G: exit $code: $(cat error)" >&2
        exit 1
    fi
done

# An index out of range, which only the check of the mapped rows can see.
"$SFUMATO" data make --nodes 60000 --degree 4 --dense 400 -o bad.safetensors --quiet >/dev/null
python3 - bad.safetensors <<'PYTHON'
import json, struct, sys
with open(sys.argv[1], "r+b") as f:
    size = struct.unpack("<Q", f.read(8))[0]
    begin, end = json.loads(f.read(size))["adj.indices"]["data_offsets"]
    f.seek(8 + size + (begin + end) // 8 * 4)
    f.write(struct.pack("<i", 2000000000))
PYTHON
fails 'adj.indices: entry .* is 2000000000; columns must ascend and lie in' \
    train bad.safetensors sgcn --memory 200M --quiet
fails 'adj.indices: entry .* is 2000000000; columns must ascend and lie in' train bad.safetensors sgcn --quiet
