"""Viterbi: the most likely states of a hidden Markov model, with negated logarithms of probabilities."""

# ruff: noqa: F821 - in a kernel, `A: T[N]` declares an array without values

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import float64, index, int32, uint8

STATES, TOKENS, OBSERVATIONS = 64, 64, 140


def viterbi[S: index, T: index, N: index](
    observed: uint8[N],
    initial: float64[S],
    transition: float64[S, S],
    emission: float64[S, T],
    path: uint8[N],
) -> float64:
    """The cost of the best path, which is written to `path`."""
    cost: float64[N, S]
    for s in range(S):
        cost[0, s] = initial[s] + emission[s, observed[0]]
    for t in range(1, N, name="steps"):
        for current in range(S):
            least: float64 = cost[t - 1, 0] + transition[0, current]
            for previous in range(1, S):
                least = min(least, cost[t - 1, previous] + transition[previous, current])
            cost[t, current] = least + emission[current, observed[t]]
    last: int32 = 0
    for s in range(1, S):
        if cost[N - 1, s] < cost[N - 1, last]:
            last = s
    path[N - 1] = last
    for t in range(N - 2, -1, -1, name="back"):
        best: int32 = 0
        for s in range(1, S):
            if cost[t, s] + transition[s, path[t + 1]] < cost[t, best] + transition[best, path[t + 1]]:
                best = s
        path[t] = best
    return cost[N - 1, last]


def model(states: int, tokens: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Costs of starts, of transitions, and of tokens in each state."""
    generator = np.random.default_rng(12)
    probabilities = [
        generator.dirichlet(np.ones(n), m) for n, m in ((states, 1), (states, states), (tokens, states))
    ]
    initial, transition, emission = (-np.log(p) for p in probabilities)
    return initial[0], transition, emission


def reference(
    observed: np.ndarray, initial: np.ndarray, transition: np.ndarray, emission: np.ndarray
) -> tuple[float, list[int]]:
    """Cost and path, keeping for each state the best predecessor."""
    cost, origins = initial + emission[:, observed[0]], []
    for token in observed[1:]:
        through = cost[:, None] + transition
        origins.append(through.argmin(axis=0))
        cost = through.min(axis=0) + emission[:, token]
    path = [int(cost.argmin())]
    for origin in reversed(origins):
        path.append(int(origin[path[-1]]))
    return float(cost.min()), path[::-1]


def check(states: int = STATES, tokens: int = TOKENS, observations: int = OBSERVATIONS) -> None:
    costs = model(states, tokens)
    observed = np.random.default_rng(13).integers(0, tokens, observations, dtype=np.uint8)
    wanted_cost, wanted_path = reference(observed, *costs)
    path = np.zeros(observations, np.uint8)
    module = allo.customize(viterbi, instantiate=[states, tokens, observations]).build()
    np.testing.assert_allclose(module(observed, *costs, path), wanted_cost, rtol=1e-12)
    assert path.tolist() == wanted_path


def main() -> None:
    check()
    print(f"viterbi: the best path through {OBSERVATIONS} steps of {STATES} states agrees with NumPy")


if __name__ == "__main__":
    main()
