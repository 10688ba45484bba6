#!/usr/bin/env python3
"""Makes the seeds of the binary formats, which the tests of the readers use, too. Needs numpy and scipy.

The dataset "tiny": nodes 0 to 5 are in allx, nodes 9, 6 and 8 (in that order) are for testing, node 7 stands in the
graph alone. Four features, three classes. Planetoid's files are written as Python 2 wrote them (protocols 0 and 2, by
hand below) and by this Python (protocols 2, 3 and 4). The .mat file of version 7.3 was made with libmatio.
"""
import collections, io, json, os, pickle, struct
import numpy as np, scipy.io, scipy.sparse as sp

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds")
allx = np.array([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 0.5, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1]], "<f4")
tx = np.array([[0, 0, 0, 3], [4, 0, 0, 0], [0, 5, 5, 0]], "<f4")
ally = np.eye(3, dtype="<i4")[[0, 1, 2, 0, 1, 2]]
ally[4] = 0
ty = np.eye(3, dtype="<i4")[[2, 0, 1]]
graph = {0: [1, 2, 2], 1: [0], 2: [0, 0, 9], 3: [3], 4: [], 5: [6], 6: [5, 8], 7: [8], 8: [6, 7], 9: [2]}
test_index = b"9\n6\n8\n"


# Python 2's pickles, with the opcodes and the order that it used.
class Python2:
    def __init__(self, protocol):
        self.binary, self.count = protocol == 2, 0

    def put(self):
        self.count += 1
        return b"q" + bytes([self.count]) if self.binary else b"p%d\n" % self.count

    def integer(self, n):
        if not self.binary:
            return b"I%d\n" % n
        return b"K" + bytes([n]) if 0 <= n < 256 else b"J" + struct.pack("<i", n)

    def string(self, s):
        if not self.binary:
            return b"S" + repr(s)[1:].encode() + b"\n"
        return b"U" + bytes([len(s)]) + s if len(s) < 256 else b"T" + struct.pack("<i", len(s)) + s

    def glob(self, module, name):
        return b"c%s\n%s\n" % (module.encode(), name.encode())

    def boolean(self, b):
        return (b"\x88" if b else b"\x89") if self.binary else b"I0%d\n" % b

    def array(self, a):
        i, s = self.integer, self.string
        code, order = a.dtype.str[1:].encode(), a.dtype.str[:1].encode()
        shape = b"(" + b"".join(i(n) for n in a.shape) + b"t"
        make = self.glob("numpy.core.multiarray", "_reconstruct") + b"(" + self.glob("numpy", "ndarray")
        make += b"(" + i(0) + b"t" + s(b"b") + b"tR" + self.put()
        dtype = self.glob("numpy", "dtype") + b"(" + s(code) + i(0) + i(1) + b"tR" + self.put()
        dtype += b"(" + i(3) + s(order) + b"NNN" + i(-1) + i(-1) + i(0) + b"tb"
        return make + b"(" + i(1) + shape + dtype + self.boolean(0) + s(a.tobytes()) + b"tb"

    def csr(self, a):
        m, i, s = sp.csr_matrix(a), self.integer, self.string
        if self.binary:
            make = self.glob("scipy.sparse.csr", "csr_matrix") + b")\x81" + self.put() + b"}" + self.put() + b"("
        else:
            make = self.glob("copy_reg", "_reconstructor") + b"(" + self.glob("scipy.sparse.csr", "csr_matrix")
            make += self.glob("__builtin__", "object") + b"NtR" + self.put() + b"(d" + self.put() + b"("
        items = s(b"_shape") + b"(" + i(a.shape[0]) + i(a.shape[1]) + b"t"
        for name in ("indptr", "indices", "data"):
            items += s(name.encode()) + self.array(getattr(m, name))
        return make + items + s(b"maxprint") + i(50) + b"ub"

    def dictionary(self, d):
        out = self.glob("collections", "defaultdict") + b"(" + self.glob("__builtin__", "list") + b"tR" + self.put()
        for key, values in d.items():
            out += self.integer(key) + (b"]" if self.binary else b"(l") + self.put()
            out += b"".join(self.integer(v) + b"a" for v in values) + b"s"
        return out

    def dump(self, thing):
        what = self.dictionary if isinstance(thing, dict) else self.csr if thing.dtype == np.float32 else self.array
        return (b"\x80\x02" if self.binary else b"") + what(thing) + b"."


def python3(protocol):
    def dump(thing):
        if isinstance(thing, dict):
            thing = collections.defaultdict(list, thing)
        elif thing.dtype == np.float32:
            thing = sp.csr_matrix(thing)
        return pickle.dumps(thing, protocol)
    return dump


def pieces(*parts):
    return b"".join(bytes([which]) + struct.pack("<H", len(data)) + data for which, data in parts)


def save(folder, name, data):
    os.makedirs(os.path.join(here, folder), exist_ok=True)
    with open(os.path.join(here, folder, name), "wb") as out:
        out.write(data)


def npy(array, **options):
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


for name, dump in (("python2-protocol0", lambda t: Python2(0).dump(t)), ("python2-protocol2", lambda t: Python2(2).dump(t)),
                   ("python3-protocol2", python3(2)), ("python3-protocol3", python3(3)), ("python3-protocol4", python3(4))):
    files = [dump(t) for t in (allx[:2], ally[:2], tx, ty, allx, ally, graph)]
    save("planetoid", name, pieces(*enumerate(files), (7, test_index)))
    for kind, data in zip(("csr", "array", "graph"), (files[2], files[3], files[6])):
        save("pickle", f"{name}-{kind}", data)

labels = np.array([0, 1, 2, 0, -1, 2, 0, -1, 1, 2], "i1")
features = np.zeros((10, 4), "<f4")
features[:6], features[[9, 6, 8]] = allx, tx
adjacency = np.zeros((10, 10), "<f4")
for key, values in graph.items():
    adjacency[key, values] = 1

# One array each.
save("npy", "labels", npy(labels))
save("npy", "features-columns-first", npy(np.asfortranarray(features)))
save("npy", "big-endian", npy(features.astype(">f8")))
save("npy", "half", npy(features.astype("<f2")))
save("npy", "text", npy(np.array(["b", "a", "", "\u00e9t\u00e9", "a"])))
save("npy", "bytes", npy(np.array([b"b", b"a", b"", b"c"])))
save("npy", "objects", npy(np.array(["b", "a", "b"], object), allow_pickle=True))
save("npy", "dictionary", npy(np.array({1: "b", 0: "a"}, object), allow_pickle=True))
save("npy", "boolean", npy(np.eye(3, dtype=bool)))
save("npy", "one-hot", npy(np.eye(3)[[2, 0, 1]]))

# Shchur's layout, in the order of the names in pieces.h.
a, x = sp.csr_matrix(adjacency), sp.csr_matrix(features)
a_parts = [npy(a.data), npy(a.indices), npy(a.indptr), npy(np.array(a.shape))]
x_parts = [npy(x.data), npy(x.indices), npy(x.indptr), npy(np.array(x.shape))]
names = {9: npy(labels), 10: npy(np.array(["red", "green", "blue"])),
         11: npy(np.array([f"n{i}" for i in range(10)])), 12: npy(np.array(["w", "x", "y", "z"], object), allow_pickle=True)}
save("npz", "sparse", pieces(*enumerate(a_parts + x_parts), *names.items()))
objects = {9: npy(labels), 13: npy(np.array({0: "red", 1: "green", 2: "blue"}, object), allow_pickle=True),
           14: npy(np.array({i: f"n{i}" for i in range(10)}, object), allow_pickle=True)}
save("npz", "dense", pieces(*enumerate(a_parts), (8, npy(features)), *objects.items()))
out = io.BytesIO()
np.savez_compressed(out, adj_data=a.data, adj_indices=a.indices, adj_indptr=a.indptr, adj_shape=a.shape, labels=labels)
save("npz", "deflated.npz", out.getvalue())

# Platonov's layout, in the order of the names in pieces.h; two splits.
edges = np.argwhere(adjacency > 0)
part = np.array([[0, 1, 2, 0, 3, 1, 2, 3, 0, 1], [2, 0, 0, 1, 3, 1, 2, 3, 1, 0]])
masks = [npy(part == i) for i in range(3)]
save("platonov", "tiny", pieces((0, npy(edges)), (1, npy(features)), (2, npy(labels)), *enumerate(masks, 3)))
save("platonov", "columns", pieces((0, npy(edges.T.astype("i4"))), (2, npy(labels))))

# scipy's, in the order of the names in pieces.h, 100 for the labels.
for kind in ("csr", "csc", "coo"):
    m = a.asformat(kind)
    parts = {0: npy(np.array(kind.encode())), 1: npy(np.array(m.shape)), 2: npy(m.data)}
    parts.update({5: npy(m.row), 6: npy(m.col)} if kind == "coo" else {3: npy(m.indices), 4: npy(m.indptr)})
    save("scipy", kind, pieces(*parts.items(), (100, npy(labels))))

# MATLAB's.
for name, variables, compress in (
        ("dense", {"A": adjacency.astype("u1"), "X": features, "y": np.eye(3)[labels] * (labels >= 0)[:, None].astype("u1")}, False),
        ("sparse", {"A": a.astype("f8"), "X": x.astype("f8"), "y": (labels[None] + 1).astype("f8"),
                    "train_idx": np.array([[0, 1]]), "val_idx": np.array([[2, 3]]), "test_idx": np.array([[9, 6, 8]])}, True),
        ("logical", {"A": sp.csc_matrix(adjacency != 0), "X": features != 0, "y": labels[:, None]}, False)):
    out = io.BytesIO()
    scipy.io.savemat(out, variables, do_compression=compress)
    # The header holds the date; a fixed one keeps the seeds the same.
    data = b"MATLAB 5.0 MAT-file".ljust(116) + out.getvalue()[116:]
    save("mat", name, data)

# Model files.
def safetensors(tensors, **metadata):
    header, data = {"__metadata__": {"format": "sfumato.model.1", **metadata}}, b""
    for name, tensor in sorted(tensors.items()):
        whole = tensor.dtype.kind == "i"
        begin, data = len(data), data + tensor.astype("<i8" if whole else "<f4").tobytes()
        header[name] = {"dtype": "I64" if whole else "F32", "shape": list(tensor.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return struct.pack("<Q", len(text)) + text + data


weights = np.linspace(-1, 1, 12).reshape(4, 3)
save("model", "linear", safetensors({"layer.0.weight": weights, "layer.0.bias": np.zeros(3)}, net="softmax"))
save("model", "learned", safetensors(
    {"layer.0.self": np.ones(5), "layer.0.right": np.full(1, 0.5), "layer.1.weight": weights, "layer.1.bias": np.zeros(3),
     "layer.2.weight": np.eye(3, 2)}, net="smooth(self=w, learn=self+right) | dense 3 relu | softmax(bias=no)",
    classes='["a", "b"]', dataset="0123456789abcdef" * 4,
    run='{"settings": {"lr": 0.01}, "scores": {"epochs": 9, "val_accuracy": null, "seed": "18446744073709551615", '
        '"confusion": [[1, 2], [3, 4]]}}'))
save("model", "fitted", safetensors(
    {"layer.0.weight": weights, "layer.0.bias": np.zeros(3), "fitted": np.array([-(2**63), -5, 7, 2**63 - 1])},
    net="softmax", run='{"scores": {"temperature": 0.25, "val_score": 0.5, "leaked": 3}}'))
save("model", "lpnn", safetensors(
    {"layer.0.weight": np.ones((4, 128)), "layer.0.bias": np.ones(128), "layer.1.weight": np.ones((128, 64)),
     "layer.1.bias": np.ones(64), "layer.2.weight": np.ones((64, 2)), "layer.2.bias": np.ones(2), "f": np.ones((3, 2))},
    net="lpnn(output=f)"))
