"""What people do today: an edge list to a symmetric CSR on disk, with pandas and scipy.

usage: peer_import.py plain|tuned EDGES.csv OUT.npz

plain is the code as it is usually written; tuned gives every array the narrowest type that holds it.
"""
import os
import sys

import numpy as np
import pandas as pd
import scipy.sparse as sp

style, source, target = sys.argv[1:]
if style == "tuned":
    edges = pd.read_csv(source, header=None, dtype=np.int32)
    ones = np.ones(len(edges), np.float32)
else:
    edges = pd.read_csv(source, header=None)
    ones = np.ones(len(edges))
u, v = edges[0].to_numpy(), edges[1].to_numpy()
n = int(max(u.max(), v.max())) + 1
A = sp.coo_matrix((ones, (u, v)), shape=(n, n)).tocsr()
A = A + A.T
A.data[:] = 1
sp.save_npz(target, A, compressed=False)
with open(target, "rb") as file:
    os.fsync(file.fileno())  # as the other side does
