# Models and Python: the safetensors package reads our files; we read its files and predict with them.
python=$BUILD/venv/bin/python3
[ -x "$python" ] || python=$(command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import numpy, safetensors.numpy' 2>/dev/null; then
    echo "skipped: no Python with numpy and safetensors"
    exit 77
fi

"$SFUMATO" train citation gcn --epochs 3 --quiet -o ours.safetensors >/dev/null
"$SFUMATO" data make --quiet -o citation.safetensors >/dev/null
"$python" - <<'PY'
import json
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

tensors = load_file("ours.safetensors")
data = load_file("citation.safetensors")
with safe_open("ours.safetensors", "np") as file:
    metadata = file.metadata()
assert metadata["format"] == "sfumato.model.1", metadata
assert metadata["net"] == "smooth | dense 64 relu | smooth | softmax", metadata
classes = json.loads(metadata["classes"])
run = json.loads(metadata["run"])
assert run["settings"]["lr"] == 0.01 and run["scores"]["epochs"] == 3 and "seconds" not in run["scores"], run
assert len(metadata["dataset"]) == 64
confusion = np.array(run["scores"]["confusion"])
assert confusion.sum() == len(data["split.test"])
assert np.isclose(np.trace(confusion) / confusion.sum(), run["scores"]["test_accuracy"])
fitted = tensors.pop("fitted")
assert fitted.dtype == np.int64 and len(fitted) == len(data["split.train"]) + len(data["split.val"])
assert (np.diff(fitted) > 0).all()
shapes = {name: tensor.shape for name, tensor in tensors.items()}
assert shapes == {"layer.1.weight": (shapes["layer.1.weight"][0], 64), "layer.1.bias": (64,),
                  "layer.3.weight": (64, len(classes)), "layer.3.bias": (len(classes),)}, shapes
assert all(tensor.dtype == np.float32 for tensor in tensors.values())
PY

# A linear model and data from Python: the probabilities are those computed by numpy.
"$python" - <<'PY'
import numpy as np
from safetensors.numpy import save_file
rng = np.random.default_rng(1)
x, w, b = (rng.normal(size=size).astype(np.float32) for size in ((7, 5), (5, 3), 3))
save_file({"adj.indptr": np.arange(8), "adj.indices": np.array([1, 0, 3, 2, 5, 4, 0], np.int32), "x": x,
           "y": np.array([0, 1, 2, 0, 1, -1, -1], np.int32)}, "data.safetensors", metadata={"format": "sfumato.dataset.1"})
save_file({"layer.0.weight": w, "layer.0.bias": b}, "linear.safetensors",
          metadata={"format": "sfumato.model.1", "net": "softmax"})
h = x.astype(float) @ w + b
p = np.exp(h - h.max(1, keepdims=True))
np.savetxt("wanted.txt", p / p.sum(1, keepdims=True))
# And with a smoothing by row sums, on a graph small enough for a dense matrix.
a = np.eye(7)
a[np.arange(7), [1, 0, 3, 2, 5, 4, 0]] += 1
save_file({"layer.1.weight": w}, "smooth.safetensors",
          metadata={"format": "sfumato.model.1", "net": "smooth(norm=row) | softmax(bias=no)"})
h = (a / a.sum(1, keepdims=True)) @ x.astype(float) @ w
p = np.exp(h - h.max(1, keepdims=True))
np.savetxt("wanted_smooth.txt", p / p.sum(1, keepdims=True))
PY
for kind in "linear wanted" "smooth wanted_smooth"; do
    set -- $kind
    "$SFUMATO" predict data.safetensors "$1.safetensors" --quiet -o "$1.csv" >/dev/null
    "$python" - "$1.csv" "$2.txt" <<'PY'
import csv
import sys
import numpy as np
wanted = np.loadtxt(sys.argv[2])
rows = list(csv.reader(open(sys.argv[1])))[1:]
got = np.array([[float(cell) for cell in row[3:]] for row in rows])
assert np.allclose(got, wanted, atol=1e-6), (got, wanted)
assert [int(row[1]) for row in rows] == wanted.argmax(1).tolist()
PY
done

# An invalid model is refused with one line that names the file and the tensor.
"$python" - <<'PY'
import numpy as np
from safetensors.numpy import save_file
save_file({"layer.0.weight": np.ones((5, 3), np.float64), "layer.0.bias": np.ones(3, np.float32)}, "wrong.safetensors",
          metadata={"format": "sfumato.model.1", "net": "softmax"})
PY
status=0
"$SFUMATO" predict data.safetensors wrong.safetensors -o out.csv >out 2>err || status=$?
[ "$status" = 1 ] && [ ! -s out ] && [ ! -e out.csv ] && [ "$(wc -l <err)" = 1 ] &&
    grep -q 'wrong.safetensors: tensor "layer.0.weight": its dtype is not F32' err || {
    cat out err
    exit 1
}
