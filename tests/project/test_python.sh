# The container and Python: the safetensors package reads our files; we read its files.
python=$BUILD/venv/bin/python3
[ -x "$python" ] || python=$(command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import numpy, safetensors.numpy' 2>/dev/null; then
    echo "skipped: no Python with numpy and safetensors"
    exit 77
fi

"$SFUMATO" data make --quiet -o ours.safetensors >/dev/null
"$python" - <<'PY'
import json
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

tensors = load_file("ours.safetensors")
with safe_open("ours.safetensors", "np") as file:
    metadata = file.metadata()
assert metadata["format"] == "sfumato.dataset.1"
indptr, indices = tensors["adj.indptr"], tensors["adj.indices"]
n = len(indptr) - 1
assert indptr.dtype == np.int64 and indices.dtype == np.int32 and indptr[-1] == len(indices)
rows = np.repeat(np.arange(n), np.diff(indptr))
assert set(zip(rows.tolist(), indices.tolist())) == set(zip(indices.tolist(), rows.tolist())), "not symmetric"
assert (rows != indices).all()
x = np.sqrt(np.add.reduceat(tensors["x.value"].astype(np.float64) ** 2, tensors["x.indptr"][:-1]))
assert np.allclose(x, 1, atol=1e-6), "rows of x are not unit vectors"
assert tensors["x.indices"].max() < int(metadata["features"])
assert len(json.loads(metadata["classes"])) == tensors["y"].max() + 1
assert len(tensors["split.val"]) == 500
PY

# The digest is what docs/reference/container.md says.
"$SFUMATO" data info ours.safetensors --json >ours.json
"$python" - <<'PY'
import hashlib
import json
from safetensors.numpy import load_file

types = {"float32": "F32", "int32": "I32", "int64": "I64", "uint8": "U8"}
whole = hashlib.sha256()
for name, tensor in sorted(load_file("ours.safetensors").items()):
    whole.update(" ".join([name, types[str(tensor.dtype)], *map(str, tensor.shape)]).encode() + b"\0")
    data = tensor.tobytes()
    for begin in range(0, len(data), 1 << 22):
        whole.update(hashlib.sha256(data[begin:begin + (1 << 22)]).hexdigest().encode())
assert whole.hexdigest() == json.load(open("ours.json"))["digest"]
PY

# Five lines make a dataset: a weighted path of three nodes.
"$python" - <<'PY'
import numpy as np
from safetensors.numpy import save_file
save_file({"adj.indptr": np.array([0, 1, 3, 4]), "adj.indices": np.array([1, 0, 2, 1], np.int32),
           "adj.weight": np.array([1, 1, 2, 2], np.float32), "x": np.eye(3, 2, dtype=np.float32),
           "y": np.array([0, -1, 1], np.int32), "unknown": np.zeros(3, np.float16)}, "theirs.safetensors",
          metadata={"format": "sfumato.dataset.1"})
PY
"$SFUMATO" data info theirs.safetensors --json >info.json
"$python" - <<'PY'
import json
info = json.load(open("info.json"))
assert (info["nodes"], info["edges"], info["features"], info["unlabelled"]) == (3, 2, 2, 1), info
assert [c["count"] for c in info["classes"]] == [1, 1], info
assert info["split"] is None or info["split"]["train"] == 0, info
PY

# An invalid one is refused with one line that names it.
"$python" - <<'PY'
import numpy as np
from safetensors.numpy import save_file
save_file({"adj.indptr": np.array([0, 1, 2]), "adj.indices": np.array([1, 7], np.int32),
           "x": np.eye(2, dtype=np.float32)}, "wrong.safetensors", metadata={"format": "sfumato.dataset.1"})
PY
status=0
"$SFUMATO" data info wrong.safetensors >out 2>err || status=$?
[ "$status" = 1 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q 'wrong.*adj.indices.*7' err || {
    cat out err
    exit 1
}
