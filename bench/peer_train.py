"""One training in PyTorch from start to scores: early stopping, the best weights kept, the test nodes scored once.

usage: peer_train.py [--way pyg] [--net gcn] [--seed 0] [--threads 0] DATASET.safetensors

The ways are those of peer_epoch.py; at most 500 epochs, at most 25 of them without a better validation accuracy, hidden 64,
dropout 0.5, Adam with a learning rate of 0.01 and weight decay 5e-4; --threads 0: as many as torch takes by itself. Prints one line:

  EPOCHS VALIDATION TEST IMPORTS READING TRAINING

accuracies, and the seconds of the three parts of the process: what Python imports, reading and preparing the data, and the rest.
"""
import time

BEGIN = time.perf_counter()

import argparse  # noqa: E402
import warnings  # noqa: E402

import torch  # noqa: E402

warnings.filterwarnings("ignore")
import peer_epoch  # noqa: E402
from peer_data import Data, train_until  # noqa: E402


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--way", default="pyg")
    parser.add_argument("--net", default="gcn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("dataset")
    options = parser.parse_args()
    if options.way == "pyg":
        import torch_geometric  # noqa: F401
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    torch.optim.Adam([torch.zeros(1)])  # the first optimiser imports as much again
    imported = time.perf_counter()
    data = Data(options.dataset)
    read = time.perf_counter()
    training = peer_epoch.start(options.way, data, options.net, 64, 0.5)
    kept = [p.detach().clone() for p in training.parameters]

    @torch.no_grad()
    def keep():
        for to, parameter in zip(kept, training.parameters):
            to.copy_(parameter)

    epochs, best = train_until(training, keep=keep)
    with torch.no_grad():
        for parameter, best_one in zip(training.parameters, kept):
            parameter.copy_(best_one)
        test = training.score(data.test)
    end = time.perf_counter()
    print(epochs, f"{best:.4f} {test:.4f} {imported - BEGIN:.3f} {read - imported:.3f} {end - read:.3f}")


if __name__ == "__main__":
    main()
