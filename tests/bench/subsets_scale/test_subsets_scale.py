"""The transcription of the paper that Sluice's solver is timed beside: it has to be a fair one."""

import numpy as np

from bench.subsets_scale import run
from bench.subsets_scale.large import large
from bench.subsets_scale.transcription import Transcription, _moved
from sluice.subsets.connections import connections
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.solve import solve
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import problem

KINDS = [run._kind(0), run._kind(1)]


def test_its_answer_is_legal_and_near_to_ours() -> None:
    app = large(8, 20, 12)
    ours, trained = run._models(app, KINDS)
    posed = problem(app)
    curves = all_curves(posed, ours)
    written = Transcription(posed, trained)
    subsets, best = written.solve(app.roots[0].tree)
    assert sum(len(item) for pair in subsets for item in pair) == posed.quota
    assert all(len(set(item.tolist())) == len(item) >= 2 for pair in subsets for item in pair)
    theirs = predict(posed, curves, [connections(subset) for subset in subsets]).mean_ms
    assert abs(best / theirs - 1) < 0.1, "what it thinks of it is what is predicted, up to the lines between steps"
    for weights in (True, False):
        result = solve(posed, curves, MicronsSettings(weights=weights))
        assert predict(posed, curves, result.solution.subsets).mean_ms < 1.01 * theirs


def test_quota_flows_to_the_steepest_descent() -> None:
    assert _moved(np.array([-10.0, -1.0]), np.array([10.0, 10.0]), 20.0).tolist() == [15.0, 5.0]
    assert _moved(np.array([-3.0, -3.0]), np.array([12.0, 8.0]), 20.0).tolist() == [12.0, 8.0]
