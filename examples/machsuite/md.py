"""Molecular dynamics: Lennard-Jones forces over lists of neighbours, and over the cells of a grid."""

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import float64, index, int32

ATOMS, NEIGHBOURS = 256, 16
SIDE, DENSITY = 4, 10  # cells along an edge of the grid, and the atoms that a cell has room for
C12, C6 = 1.5, 2.0
FORCE12, FORCE6 = 12 * C12, 6 * C6
EDGE = 20.0  # of the box of all atoms


def knn[N: index, K: index](position: float64[N, 3], neighbours: int32[N, K], force: float64[N, 3]):
    """The force on each atom from its K neighbours."""
    for i in range(N):
        total: float64[3] = 0.0
        for k in range(K):
            j: index = neighbours[i, k]
            distance: float64[3] = position[i] - position[j]
            inverse: float64 = 1.0 / (distance[0] ** 2 + distance[1] ** 2 + distance[2] ** 2)
            inverse6: float64 = inverse**3
            total += (inverse * inverse6 * (FORCE12 * inverse6 - FORCE6)) * distance
        force[i] = total


def grid[S: index, D: index](
    count: int32[S, S, S], position: float64[S, S, S, D, 3], force: float64[S, S, S, D, 3]
):
    """The force on each atom from all others in its cell and in the 26 cells around."""
    force[:] = 0.0
    for x, y, z in allo.grid(S, S, S, name="cells"):
        for u in range(max(0, x - 1), min(S, x + 2)):
            for v in range(max(0, y - 1), min(S, y + 2)):
                for w in range(max(0, z - 1), min(S, z + 2)):
                    for p in range(count[x, y, z]):
                        total: float64[3] = 0.0
                        for q in range(count[u, v, w]):
                            if not (u == x and v == y and w == z and p == q):
                                d: float64[3] = position[x, y, z, p] - position[u, v, w, q]
                                inverse: float64 = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
                                inverse6: float64 = inverse**3
                                total += inverse * inverse6 * (FORCE12 * inverse6 - FORCE6) * d
                        force[x, y, z, p] += total


def pair_forces(position: np.ndarray) -> np.ndarray:
    """[i, j] is the force of atom j on atom i, zero for i = j."""
    distance = position[:, None] - position[None]
    length = np.linalg.norm(distance, axis=-1) + np.eye(len(position))
    size = 12 * C12 * length**-13 - 6 * C6 * length**-7
    return (size / length)[:, :, None] * distance


def atoms(number: int) -> np.ndarray:
    """Positions in the box, on jittered points of a lattice, so that no two atoms come too close."""
    generator = np.random.default_rng(7)
    side = int(np.ceil(number ** (1 / 3)))
    lattice = generator.permutation(side**3)[:number]
    places = np.stack(np.unravel_index(lattice, (side,) * 3), axis=1)
    return (places + generator.uniform(0.1, 0.7, (number, 3))) * (EDGE / side)


def check_knn(number: int = ATOMS, near: int = NEIGHBOURS) -> None:
    position = atoms(number)
    distance = np.linalg.norm(position[:, None] - position[None], axis=-1)
    neighbours = np.argsort(distance, axis=1)[:, 1 : near + 1].astype(np.int32)
    wanted = np.take_along_axis(pair_forces(position), neighbours[:, :, None], axis=1).sum(axis=1)
    force = np.zeros((number, 3))
    allo.customize(knn, instantiate=[number, near]).build()(position, neighbours, force)
    np.testing.assert_allclose(force, wanted, rtol=1e-10, atol=1e-14)


def check_grid(side: int = SIDE, density: int = DENSITY, number: int = ATOMS) -> None:
    position = atoms(number)
    cell = (position * (side / EDGE)).astype(int)
    near = np.abs(cell[:, None] - cell[None]).max(axis=-1) <= 1
    wanted = (pair_forces(position) * near[:, :, None]).sum(axis=1)
    count = np.zeros((side,) * 3, np.int32)
    places = np.zeros((side, side, side, density, 3))
    slots = []
    for at, point in zip(map(tuple, cell), position, strict=True):
        slots.append((*at, count[at]))
        places[slots[-1]] = point
        count[at] += 1
    force = np.ones_like(places)
    allo.customize(grid, instantiate=[side, density]).build()(count, places, force)
    np.testing.assert_allclose(np.array([force[slot] for slot in slots]), wanted, rtol=1e-9, atol=1e-13)


def main() -> None:
    check_knn()
    check_grid()
    print(f"md: the forces on {ATOMS} atoms, from lists and from cells, agree with NumPy")


if __name__ == "__main__":
    main()
