# Real files in Platonov's and MUSAE's layouts, compared with numpy: edges, class counts, features and all ten splits.
python=$BUILD/venv/bin/python3
[ -x "$python" ] || python=$(command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import numpy, safetensors.numpy' 2>/dev/null; then
    echo "skipped: no Python with numpy and safetensors"
    exit 77
fi
if [ ! -d "$TEST_DATA/heterophilous" ] || [ ! -d "$TEST_DATA/twitch" ]; then
    echo "skipped: no heterophilous graphs in $TEST_DATA"
    exit 77
fi

for name in wisconsin squirrel_filtered minesweeper; do
    "$SFUMATO" data import --quiet "$TEST_DATA/heterophilous/$name.npz" --scale none -o "$name.safetensors" >/dev/null
done
"$SFUMATO" data import --quiet "$TEST_DATA/twitch" --scale none -o twitch.safetensors >/dev/null
"$python" - "$TEST_DATA" <<'PY'
import csv, json, sys
import numpy as np
from safetensors.numpy import load_file

def pairs(edges):
    return {(min(a, b), max(a, b)) for a, b in edges if a != b}

def stored(data):
    n = len(data["adj.indptr"]) - 1
    rows = np.repeat(np.arange(n), np.diff(data["adj.indptr"]))
    return pairs(zip(rows.tolist(), data["adj.indices"].tolist()))

def dense(data, columns):
    if "x" in data:
        return data["x"]
    n = len(data["x.indptr"]) - 1
    x = np.zeros((n, columns), "f4")
    rows = np.repeat(np.arange(n), np.diff(data["x.indptr"]))
    x[rows, data["x.indices"]] = data.get("x.value", 1)
    return x

for name in ("wisconsin", "squirrel_filtered", "minesweeper"):
    raw = np.load(f"{sys.argv[1]}/heterophilous/{name}.npz")
    ours = load_file(f"{name}.safetensors")
    assert stored(ours) == pairs(raw["edges"].tolist()), name
    assert (ours["y"] == raw["node_labels"]).all(), name
    assert (dense(ours, raw["node_features"].shape[1]) == raw["node_features"]).all(), name
    for split in range(10):
        for part in ("train", "val", "test"):
            nodes = ours[f"split.{split}.{part}" if split else f"split.{part}"]
            assert (nodes == np.flatnonzero(raw[f"{part}_masks"][split])).all(), (name, split, part)
            counts = np.bincount(raw["node_labels"][raw[f"{part}_masks"][split]])
            assert (np.bincount(ours["y"][nodes]) == counts).all()
    assert "split.10.train" not in ours

# MUSAE: nodes are in the order of the targets.
ours = load_file("twitch.safetensors")
rows = list(csv.DictReader(open(f"{sys.argv[1]}/twitch/PTBR_target.csv")))
node = {row["new_id"]: i for i, row in enumerate(rows)}
edges = csv.reader(open(f"{sys.argv[1]}/twitch/PTBR_edges.csv"))
next(edges)
assert stored(ours) == pairs((node[a], node[b]) for a, b in edges)
assert (ours["y"] == [row["mature"] == "True" for row in rows]).all()
words = json.load(open(f"{sys.argv[1]}/twitch/PTBR.json"))
x = dense(ours, 3170)
for key, indices in words.items():
    assert sorted(set(indices)) == np.flatnonzero(x[node[key]]).tolist(), key
PY

# Each split can be trained on, and a number that does not exist is an error.
"$SFUMATO" train squirrel_filtered.safetensors mlp --split standard:3 --epochs 2 --quiet >out 2>err
"$SFUMATO" data split squirrel_filtered.safetensors --split standard:3 | grep -q '1,060'
if "$SFUMATO" train wisconsin.safetensors mlp --split standard:10 2>err; then
    echo "standard:10 was accepted"
    exit 1
fi
grep -q 'has 10 standard splits, "standard:0" to "standard:9"' err

# Export and import keep all of them.
"$SFUMATO" data import --quiet "$TEST_DATA/heterophilous/wisconsin.npz" -o scaled.safetensors >/dev/null
"$SFUMATO" data export scaled.safetensors -o folder >out
command=$(grep -o 'sfumato data import .*' out)
eval "\"$SFUMATO\" ${command#sfumato} -o again.safetensors --quiet" >/dev/null
a=$("$SFUMATO" data info scaled.safetensors --json | grep '"digest"')
b=$("$SFUMATO" data info again.safetensors --json | grep '"digest"')
[ "$a" = "$b" ] || { echo "another dataset after export and import: $a $b"; exit 1; }

# The same graph in the layouts of Geom-GCN and of the Open Graph Benchmark is the same dataset.
"$python" - "$TEST_DATA/heterophilous/wisconsin.npz" <<'PY'
import gzip, os, sys
import numpy as np

raw = np.load(sys.argv[1])
x, y, edges = raw["node_features"].astype(int), raw["node_labels"], raw["edges"]

def write(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with (gzip.open if path.endswith(".gz") else open)(path, "wt") as out:
        out.writelines(line + "\n" for line in lines)

write("geom/new_data/wisconsin/out1_node_feature_label.txt", ["node_id\tfeature\tlabel"] +
      [f"{i}\t{','.join(map(str, row))}\t{y[i]}" for i, row in enumerate(x)])
write("geom/new_data/wisconsin/out1_graph_edges.txt", ["node_id\tnode_id"] + [f"{a}\t{b}" for a, b in edges])
os.makedirs("geom/splits")
write("ogb/raw/num-node-list.csv.gz", [str(len(y))])
write("ogb/raw/edge.csv.gz", [f"{a},{b}" for a, b in edges])
write("ogb/raw/node-feat.csv.gz", [",".join(map(str, row)) for row in x])
write("ogb/raw/node-label.csv.gz", map(str, y))
for k in range(10):
    masks = [raw[f"{part}_masks"][k] for part in ("train", "val", "test")]
    np.savez(f"geom/splits/wisconsin_split_0.6_0.2_{k}.npz",
             train_mask=masks[0].astype("u1"), val_mask=masks[1].astype("u1"), test_mask=masks[2].astype("u1"))
    for name, mask in zip(("train", "valid", "test"), masks):
        write(f"ogb/split/{k}/{name}.csv.gz", map(str, np.flatnonzero(mask)))
PY
for folder in geom/new_data/wisconsin ogb; do
    "$SFUMATO" data import --quiet "$folder" -o folder.safetensors --force >/dev/null
    b=$("$SFUMATO" data info folder.safetensors --json | grep '"digest"')
    [ "$a" = "$b" ] || { echo "another dataset from $folder: $a $b"; exit 1; }
done
