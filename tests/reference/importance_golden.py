"""Prints the numbers of tests/tune/test_importance.c from Optuna's own PED-ANOVA evaluator (Optuna 5).

The studies are made here and there by the same rule: 64-bit numbers of splitmix64, made into values by additions and
multiplications alone, so that both sides have the same bits.
"""
import warnings

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)

SPACE = [
    ("x", FloatDistribution(-5, 10)),
    ("lr", FloatDistribution(1e-5, 0.1, log=True)),
    ("layers", IntDistribution(1, 9)),
    ("units", IntDistribution(8, 64, step=8)),
    ("width", IntDistribution(8, 512, log=True)),
    ("act", CategoricalDistribution(["relu", "tanh", "elu"])),
    ("fixed", IntDistribution(3, 3)),
    ("many", IntDistribution(0, 1000)),
]
HAS = {0: range(8), 1: (0, 1, 5, 6), 2: (0, 2, 3, 5, 7)}  # by the place of act, where a study is conditional


class Numbers:
    def __init__(self, seed):
        self.state = seed

    def unit(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53


def value(dist, u):
    if isinstance(dist, CategoricalDistribution):
        return int(u * len(dist.choices))
    if dist.log:
        u = u * u * u * u
    if isinstance(dist, IntDistribution):
        return int(dist.low + dist.step * int(u * ((dist.high - dist.low) // dist.step + 1)))
    return dist.low + (dist.high - dist.low) * u


def study(seed, trials, levels, conditional):
    numbers = Numbers(seed)
    study = optuna.create_study(direction="maximize")
    for _ in range(trials):
        units = [numbers.unit() for _ in SPACE]
        act = value(SPACE[5][1], units[5])
        has = HAS[act] if conditional else range(len(SPACE))
        params, dists, loss = {}, {}, 0.0
        for i in has:
            name, dist = SPACE[i]
            v = value(dist, units[i])
            params[name] = dist.choices[v] if isinstance(dist, CategoricalDistribution) else v
            dists[name] = dist
            loss += (units[i] - 0.3) * (units[i] - 0.3) * (i % 4 + 1)
        accuracy = (20.0 - loss + numbers.unit()) / 32.0
        if levels > 0:
            accuracy = int(accuracy * levels) / levels
        study.add_trial(optuna.trial.create_trial(params=params, distributions=dists, value=accuracy))
    return study


for seed, trials, levels, conditional in [(1, 7, 0, False), (2, 60, 0, False), (3, 300, 0, False), (4, 400, 64, False),
                                          (5, 500, 0, True), (6, 40, 32, True), (7, 2000, 0, True), (8, 2, 0, False)]:
    got = get_param_importances(study(seed, trials, levels, conditional), evaluator=PedAnovaImportanceEvaluator())
    cells = ", ".join("%.12g" % got.get(name, 0) for name, _ in SPACE)
    print("    {%d, %d, %d, %s, {%s}}," % (seed, trials, levels, str(conditional).lower(), cells))
