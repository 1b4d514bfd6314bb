"""Fast Fourier transform: radix 2 with strides in place, and 512 points as three rounds of radix 8 with transposes."""

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import float64, index, int32

POINTS = 1024
ROOT_HALF = float(np.sqrt(0.5))


def strided[N: index](
    real: float64[N], imag: float64[N], root_real: float64[N // 2], root_imag: float64[N // 2]
):
    """Decimation in frequency, in place; element k of the result lies at the bit-reversed position of k."""
    span: int32 = N // 2
    level: int32 = 0
    while span > 0:
        odd: int32 = span
        while odd < N:
            odd |= span
            even: int32 = odd ^ span
            total: float64 = real[even] + real[odd]
            real[odd] = real[even] - real[odd]
            real[even] = total
            total = imag[even] + imag[odd]
            imag[odd] = imag[even] - imag[odd]
            imag[even] = total
            turn: int32 = (even << level) & (N - 1)
            if turn > 0:
                rotated: float64 = root_real[turn] * real[odd] - root_imag[turn] * imag[odd]
                imag[odd] = root_real[turn] * imag[odd] + root_imag[turn] * real[odd]
                real[odd] = rotated
            odd += 1
        span >>= 1
        level += 1


def butterfly(real: float64[8], imag: float64[8], low: index, high: index):
    """The sum goes to `low`, the difference to `high`."""
    a: float64 = real[low]
    b: float64 = imag[low]
    real[low] = a + real[high]
    imag[low] = b + imag[high]
    real[high] = a - real[high]
    imag[high] = b - imag[high]


def points8(real: float64[8], imag: float64[8]):
    """A transform of 8 points in registers; element k lies at the bit-reversed position of k."""
    for i in range(4):
        butterfly(real, imag, i, i + 4)
    # The lower half turns by 0, 45, 90 and 135 degrees.
    t: float64 = (real[5] + imag[5]) * ROOT_HALF
    imag[5] = (imag[5] - real[5]) * ROOT_HALF
    real[5] = t
    t = imag[6]
    imag[6] = -real[6]
    real[6] = t
    t = (imag[7] - real[7]) * ROOT_HALF
    imag[7] = -(imag[7] + real[7]) * ROOT_HALF
    real[7] = t
    for half in range(2):
        for j in range(2):
            butterfly(real, imag, 4 * half + j, 4 * half + j + 2)
        t = imag[4 * half + 3]
        imag[4 * half + 3] = -real[4 * half + 3]
        real[4 * half + 3] = t
        for pair in range(2):
            butterfly(real, imag, 4 * half + 2 * pair, 4 * half + 2 * pair + 1)


REVERSED = np.array([0, 4, 2, 6, 1, 5, 3, 7], dtype=np.int32)
TURNS = np.exp(-2j * np.pi * np.arange(512) / 512)
COSINE, SINE = TURNS.real.copy(), TURNS.imag.copy()


def transposed(real: float64[512], imag: float64[512]):
    """A point is 64 a + 8 b + c; the rounds transform a, b and c, turning and transposing between them.

    Element k of the result lies at the position whose octal digits are those of k reversed."""
    work_real: float64[8] = 0
    work_imag: float64[8] = 0
    with allo.meta_for(3) as round:
        for first, second in allo.grid(8, 8, name="threads"):
            for i in range(8, name="load"):
                at: int32 = 64 * i + 8 * first + second
                work_real[i] = real[at]
                work_imag[i] = imag[at]
            points8(work_real, work_imag)
            for k in range(8, name="store"):
                source: index = REVERSED[k]
                turn: int32 = 0
                with allo.meta_if(round == 0):
                    turn = 8 * first * k
                with allo.meta_elif(round == 1):
                    turn = first * (second + 8 * k)
                at: int32 = 64 * k + 8 * first + second
                real[at] = work_real[source] * COSINE[turn] - work_imag[source] * SINE[turn]
                imag[at] = work_real[source] * SINE[turn] + work_imag[source] * COSINE[turn]
        transpose(real)
        transpose(imag)


def transpose(values: float64[512]):
    """The next digit comes to the front: the digits (k, b, c) of a position become (b, c, k)."""
    old: float64[512] = values
    for k, b, c in allo.grid(8, 8, 8):
        values[64 * b + 8 * c + k] = old[64 * k + 8 * b + c]


def signal(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Real and imaginary parts of noise."""
    generator = np.random.default_rng(1)
    return generator.standard_normal(points), generator.standard_normal(points)


def check_strided(points: int = POINTS) -> None:
    real, imag = signal(points)
    wanted = np.fft.fft(real + 1j * imag)
    roots = np.exp(-2j * np.pi * np.arange(points // 2) / points)
    module = allo.customize(strided, instantiate=[points]).build()
    module(real, imag, roots.real.copy(), roots.imag.copy())
    bits = points.bit_length() - 1
    order = [int(f"{k:0{bits}b}"[::-1], 2) for k in range(points)]
    np.testing.assert_allclose((real + 1j * imag)[order], wanted, atol=1e-11 * points)


def check_transposed() -> None:
    real, imag = signal(512)
    wanted = np.fft.fft(real + 1j * imag)
    allo.customize(transposed).build()(real, imag)
    got = (real + 1j * imag).reshape(8, 8, 8).transpose(2, 1, 0).reshape(512)
    np.testing.assert_allclose(got, wanted, atol=1e-11)


def main() -> None:
    check_strided()
    check_transposed()
    print(f"fft: {POINTS} points with strides and 512 points transposed agree with numpy.fft")


if __name__ == "__main__":
    main()
