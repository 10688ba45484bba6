"""What people do today: an edge list to a symmetric CSR on disk, with pandas and scipy.

usage: peer_import.py EDGES.csv OUT.npz
"""
import os
import sys

import numpy as np
import pandas as pd
import scipy.sparse as sp

edges = pd.read_csv(sys.argv[1], header=None, names=["u", "v"], dtype=np.int32)
n = int(max(edges.u.max(), edges.v.max())) + 1
A = sp.coo_matrix((np.ones(len(edges), np.float32), (edges.u.to_numpy(), edges.v.to_numpy())), shape=(n, n)).tocsr()
A = A + A.T
A.data[:] = 1
sp.save_npz(sys.argv[2], A, compressed=False)
with open(sys.argv[2], "rb") as file:
    os.fsync(file.fileno())  # as the other side does
