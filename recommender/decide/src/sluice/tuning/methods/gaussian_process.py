"""Bayesian optimization with a Gaussian process: Matérn 5/2; its scale, lengths and noise by maximum likelihood.

All features share one length scale while there are fewer than twice as many reported trials as features; then each has
its own. With 15 trials and 40 features, own length scales fit anything.
"""

from __future__ import annotations

import warnings

import numpy as np

from sluice.tuning.methods import improvement
from sluice.tuning.methods.improvement import Array, Predict
from sluice.tuning.methods.question import Question
from sluice.tuning.space import Point


def propose(question: Question) -> Point:
    return improvement.propose(question, fit)


def fit(features: Array, losses: Array, seed: int) -> Predict:
    """Fits a model. features: (n, f) in [0, 1]. losses: (n,) of about unit variance."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    count, width = features.shape
    lengths = np.ones(width) if count >= 2 * width else 1.0
    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern(lengths, (0.05, 20.0), nu=2.5) + WhiteKernel(0.05, (1e-4, 1.0))
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    with warnings.catch_warnings():
        # A length scale at its bound is legitimate: the parameter has no effect, or a large one.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(features, losses)

    def predict(at: Array) -> tuple[Array, Array]:
        mean, deviation = model.predict(at, return_std=True)
        noise = float(model.kernel_.k2.noise_level) * float(np.var(losses))
        return mean, np.sqrt(np.maximum(deviation**2 - noise, 0.0))  # of the mean loss, without measurement noise

    return predict
