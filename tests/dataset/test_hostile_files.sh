#!/usr/bin/env bash
# Files that would need far too much memory, and files that change while they are in use: one line, exit status 1.
fail() {
    echo "$*" >&2
    exit 1
}
command -v python3 >/dev/null || { echo "skipped: python3 makes the files"; exit 77; }

cat >make.py <<'END'
import gzip, json, struct, zipfile, zlib

def safetensors(path, header, data=b""):
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header + data)

meta = b'"__metadata__":{"format":"sfumato.dataset.1","features":"3"'
# 1500 tensors over the same 4 MB, misaligned: each would be copied.
many = ",".join('"t%d":{"dtype":"F32","shape":[1000000],"data_offsets":[0,4000000]}' % i for i in range(1500))
safetensors("overlap.safetensors", b"{" + meta + b"}," + many.encode() + b" " * (8 - len(many + str(meta)) % 4) + b"}",
            bytes(4000000))
safetensors("brackets.safetensors", b'{"x":[' + b"{}," * 3000000 + b"{}]}")
safetensors("names.safetensors", b"{" + meta + b',"classes":"[' + b'\\"\\",' * 2000000 + b'\\"\\"]"}}')

def npy(descr, shape):
    text = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text

def zeros(count):
    for _ in range(count >> 20):
        yield bytes(1 << 20)
    yield bytes(count & ((1 << 20) - 1))

def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, (head, count) in members.items():
            with z.open(name + ".npy", "w", force_zip64=True) as f:
                f.write(head)
                for piece in zeros(count):
                    f.write(piece)

few = dict(adj_data=(npy("<f4", (4,)), 16), adj_indices=(npy("<i4", (4,)), 16), adj_shape=(npy("<i8", (2,)) +
           struct.pack("<qq", 4, 4), 0), adj_indptr=(npy("<i4", (5,)) + struct.pack("<5i", 0, 1, 2, 3, 4), 0))
npz("bomb.npz", **few, attr_matrix=(npy("<f4", (4, 9000000)), 144000000), labels=(npy("<i8", (4,)), 32))
npz("lie.npz", **few, attr_matrix=(npy("<f4", (4, 4)), 50000000), labels=(npy("<i8", (4,)), 32))
with gzip.open("edges.csv.gz", "wb") as f:
    for _ in range(260):
        f.write(b"1,2\n" * (1 << 18))
with open("rows.mtx", "w") as f:
    f.write("%%MatrixMarket matrix coordinate pattern general\n60000000 60000000 250000\n" + "1 2\n" * 250000)
side = 6000
head = struct.pack("<II", 6, 8) + struct.pack("<II", 9, 0) + struct.pack("<II", 5, 8) + struct.pack("<ii", side, side)
head += struct.pack("<HH", 1, 1) + b"A\0\0\0" + struct.pack("<II", 2, side * side)
packer = zlib.compressobj()
packed = packer.compress(struct.pack("<II", 14, len(head) + side * side) + head)
packed += b"".join(packer.compress(piece) for piece in zeros(side * side)) + packer.flush()
with open("bomb.mat", "wb") as f:
    f.write(b"MATLAB".ljust(116) + bytes(8) + struct.pack("<H", 0x100) + b"IM" + struct.pack("<II", 15, len(packed)) + packed)
# 1000 nodes on a ring, two classes, 20 MB of dense features: more than the limit for copies.
nodes, features = 1000, 5000
indices = [n for i in range(nodes) for n in sorted(((i - 1) % nodes, (i + 1) % nodes))]
parts = [("adj.indptr", "I64", [nodes + 1], struct.pack("<%dq" % (nodes + 1), *range(0, 2 * nodes + 1, 2))),
         ("adj.indices", "I32", [2 * nodes], struct.pack("<%di" % (2 * nodes), *indices)),
         ("y", "I32", [nodes], struct.pack("<%di" % nodes, *(i * 2 // nodes for i in range(nodes)))),
         ("x", "F32", [nodes, features], struct.pack("<f", 0.5) * (nodes * features))]
tensors, data = {"__metadata__": {"format": "sfumato.dataset.1", "classes": '["a", "b"]'}}, b""
for name, dtype, shape, piece in parts:
    tensors[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(piece)]}
    data += piece
header = json.dumps(tensors).encode()
safetensors("large.safetensors", header + b" " * (-(8 + len(header)) % 64), data)
with open("split.csv", "w") as f:
    f.write("node,part\n" + "".join("%d,%s\n" % (i, ("train", "val", "test")[i % 3]) for i in range(nodes)))
END
python3 make.py

# ---- memory in proportion to the file: kilobytes of address space that are enough to refuse it
refused() { # WORDS COMMAND...
    local words=$1 code=0
    shift
    # A sanitizer reserves terabytes.
    ([ "${BUILD_KIND:-plain}" = plain ] && ulimit -v "${LIMIT:-900000}"; exec "$SFUMATO" "$@") >stdout 2>stderr || code=$?
    [ "$code" -eq 1 ] || fail "$*: exit $code, $(cat stderr)"
    [ "$(wc -l <stderr)" -eq 1 ] || fail "$*: not one line: $(cat stderr)"
    grep -qF -- "$words" stderr || fail "$*: $(cat stderr)"
    [ ! -s stdout ] || fail "$*: $(cat stdout)"
}
refused 'overlap another tensor' data info overlap.safetensors
refused 'overlap another tensor' predict citation overlap.safetensors -o out.csv
LIMIT=300000 refused 'it needs dtype, shape and two data_offsets' data info brackets.safetensors
LIMIT=300000 refused 'adj.indptr is missing' data info names.safetensors
refused 'bytes of memory once unpacked' data import bomb.npz
refused '50000000 bytes of data, where 16 entries' data import lie.npz
if [ "${BUILD_KIND:-plain}" = plain ]; then # 256 MiB of text take their time elsewhere
    refused 'decompress it with gunzip' data import -q --edges edges.csv.gz
fi
refused 'are implausible' data import --edges rows.mtx
refused 'bytes of memory once unpacked' data import bomb.mat --edges A
mkdir results
python3 -c 'print("[" + "{}," * 3000000 + "{}]")' >results/manifest.json
LIMIT=300000 refused 'the key "request" of a comparison is missing' report results

# ---- a dataset that changes while it is in use
change() { # FILE CHANGE: changes the file when the program has opened it and waits for its split; its exit status is $code
    code=0
    rm -f waiting
    mkfifo waiting
    "$SFUMATO" train "$1" gcn --split file:waiting --epochs 2 >stdout 2>stderr &
    local program=$!
    exec 3>waiting # until the program opens it, too
    eval "$2"
    cat split.csv >&3
    exec 3>&-
    wait "$program" || code=$?
}
[ "$(stat -c %s large.safetensors)" -gt 16777216 ] || fail "large.safetensors is too small to be mapped"
cp large.safetensors "$(printf 'cut\033.safetensors')"
change "$(printf 'cut\033.safetensors')" 'truncate -s 4096 cut*.safetensors'
[ "$code" -eq 1 ] || fail "cut short while in use: exit $code, $(cat stderr)"
grep -qF 'sfumato: cut\x1b.safetensors: the file was truncated' stderr || fail "cut short while in use: $(cat stderr)"
[ "$(wc -l <stderr)" -eq 1 ] || fail "not one line: $(cat stderr)"
cp large.safetensors over.safetensors
change over.safetensors 'head -c 20000000 /dev/zero | tr "\0" "\177" | dd of=over.safetensors conv=notrunc status=none'
[ "$code" -le 1 ] || fail "written over while in use: exit $code, $(cat stderr)"
# A small one is copied: changes of the file have no effect.
"$SFUMATO" data make --nodes 1000 --classes 2 -o small.safetensors >/dev/null
change small.safetensors 'truncate -s 0 small.safetensors'
[ "$code" -eq 0 ] || fail "a small file cut short while in use: exit $code, $(cat stderr)"
