"""Long calls: Ctrl-C, other threads, the log, progress, errors."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import sfumato
from sfumato._run import Task


@pytest.fixture
def large():
    return sfumato.Graph.make(nodes=60000, classes=5, vocabulary=500, degree=8)


@pytest.fixture
def ctrl_c(monkeypatch):
    """Sends Ctrl-C when a call reports that it has done this much."""
    def when(amount):
        original, sent = Task.report, []

        def report(self, what, unit, done, total):
            if done >= amount and not sent:
                sent.append(True)
                os.kill(os.getpid(), signal.SIGINT)
            return original(self, what, unit, done, total)
        monkeypatch.setattr(Task, "report", report)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield when
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_the_best_weights(large, ctrl_c):
    ctrl_c(5)
    with pytest.warns(sfumato.InterruptedWarning, match="best weights so far"):
        fitted = sfumato.GraphClassifier("gcn", epochs=10**6, patience=0).fit(large, split="random:0")
    assert fitted.interrupted_ and fitted.scores_["interrupted"] and fitted.scores_["epochs"] >= 5
    assert fitted.predict(large).shape == (60000,)


def test_ctrl_c_keeps_finished_trials(citation, ctrl_c):
    ctrl_c(3)
    with pytest.warns(sfumato.InterruptedWarning):
        study = sfumato.tune(citation, "sgcn", space="practical", trials=10**6)
    assert study.interrupted and 3 <= len(study) < 10**6 and study.best["val_score"] > 0.5


def test_ctrl_c_keeps_the_labelling(citation, ctrl_c):
    labels = np.array(citation.labels)
    labels[::2] = -1
    few = citation.with_labels(labels)
    ctrl_c(2)
    with pytest.warns(sfumato.InterruptedWarning):
        fitted = sfumato.Labeler("steps:1000").fit(few)
    assert fitted.interrupted_ and fitted.estimate_["steps"] >= 1 and fitted.estimate_["accuracy"] > 0.5


def test_ctrl_c_keeps_finished_studies(small, ctrl_c, tmp_path):
    ctrl_c(25)
    with pytest.warns(sfumato.InterruptedWarning):
        found = sfumato.compare([small], nets=["sgcn", "mlp"], splits=100, trials=10, space="practical")
    assert found.interrupted and 1 <= len(found.entries) < 200


def test_ctrl_c_without_a_result(ctrl_c):
    ctrl_c(0)
    with pytest.raises(KeyboardInterrupt):
        sfumato.Graph.make(nodes=20_000_000, classes=5, vocabulary=100)


def test_other_exceptions_end_a_call_too(ctrl_c, large):
    """An alarm of the program itself, for example."""
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm
    ctrl_c(5)
    signal.signal(signal.SIGINT, ring)
    with pytest.raises(Alarm):
        sfumato.GraphClassifier("gcn", epochs=10**6, patience=0).fit(large, split="random:0")


def test_threads(citation):
    """Several threads use one graph; errors stay with the thread that made them."""
    results, errors = {}, {}

    def work(i):
        try:
            net = "gcn" if i % 2 else "nonsense"
            results[i] = sfumato.GraphClassifier(net, random_state=7, epochs=20).fit(citation).predict_proba(citation)
        except ValueError as error:
            errors[i] = str(error)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [1, 3, 5] and sorted(errors) == [0, 2, 4]
    assert all(np.array_equal(results[1], result) for result in results.values())
    assert all('"nonsense"' in error for error in errors.values())


def test_other_python_threads_run_meanwhile(large):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())
    thread = threading.Thread(target=tick)
    thread.start()
    sfumato.GraphClassifier("gcn", epochs=10).fit(large, split="random:0")
    stop.set()
    thread.join()
    assert len(ticks) > 3


def test_fork_after_use(citation):
    """A child of a process that has used the library can use it."""
    if threading.active_count() > 1:
        pytest.skip("other threads are running")
    sfumato.GraphClassifier("sgcn", epochs=5).fit(citation)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            sfumato.GraphClassifier("sgcn", epochs=5).fit(citation)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_log(caplog, small):
    labels = np.array(small.labels)
    with caplog.at_level(logging.INFO, logger="sfumato"):
        sfumato.Graph.from_scipy(small.adjacency, small.features, labels).split("random:0")
    assert any("split" in record.message for record in caplog.records)


def test_progress(capfd, small):
    sfumato.show_progress(True)
    try:
        sfumato.tune(small, "gcn", space="practical", trials=300)
    finally:
        sfumato.show_progress(None)
    assert "tuning" in capfd.readouterr().err


def test_errors_are_built_in_exceptions_too(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such dataset"):
        sfumato.load("nonsense")
    (tmp_path / "bad.safetensors").write_bytes(b"x" * 100)
    with pytest.raises(sfumato.FormatError) as raised:
        sfumato.load(tmp_path / "bad.safetensors")
    assert isinstance(raised.value, ValueError) and isinstance(raised.value, sfumato.SfumatoError)
    assert "bad.safetensors" in str(raised.value) and "\n" not in str(raised.value)


def test_import_is_quick():
    """The package imports nothing before it is used."""
    code = "import sys, sfumato; print('numpy' in sys.modules, 'sklearn' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]


def test_estimators_do_not_import_scikit_learn():
    code = ("import sys, sfumato; g = sfumato.load('citation'); sfumato.GraphClassifier('sgcn').fit(g).predict(g)\n"
            "sfumato.Labeler('steps:1').fit(g); print('sklearn' in sys.modules)")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_without_scikit_learn():
    code = ("import sys; sys.modules['sklearn'] = None\n"
            "import sfumato; g = sfumato.load('citation')\n"
            "c = sfumato.GraphClassifier('sgcn').fit(g.features, g.labels, graph=g.adjacency)\n"
            "print(c.get_params()['net'], c.predict(g.features, graph=g.adjacency).shape)")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.split() == ["sgcn", "(2708,)"], found.stderr


def test_all_names_exist():
    for name in sfumato.__all__:
        assert getattr(sfumato, name) is not None and name in dir(sfumato)
