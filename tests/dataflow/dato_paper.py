"""The programs of the Dato paper, word for word but for the line that imports them: sections 3, 4, 7 and appendix A."""

# ruff: noqa: E702, E741, F821, F841, B007 - programs stand here as the paper prints them
# fmt: off
from collections.abc import Callable
from typing import Any

import allo
import allo.dataflow as dato
import allo.dsl as dsl
from allo.dataflow import task
from allo.ir.types import AlloType, Stream, UInt, int8, int16, int32
from allo.memory import Layout

Ty, M, P0 = int8, 16, 2


def figure_2c():
    # An array of Stream of size P0,
    # each element is a tensor of Ty[M // P0]
    Z: Stream[Ty[M // P0]][P0]

    @task(mapping=[P0])
    def producer(A: Ty[M] @ Layout("S")):
        tid = dato.get_tid()
        Z[tid].put(A[:])

    @task(mapping=[P0])
    def consumer(B: Ty[M] @ Layout("S")):
        tid = dato.get_tid()
        B[:] = Z[tid].get() + 1


def producer_0(A: Ty[M // P0], Z: Ty[M // P0]):
    for i in range(M // P0):
        Z[i] = A[i]

def consumer_0(Z: Ty[M // P0], B: Ty[M // P0]):
    for i in range(M // P0):
        B[i] = Z[i] + 1

def producer_1(A: Ty[M // P0], Z: Ty[M // P0]):
    for i in range(M // P0):
        Z[i] = A[i]

def consumer_1(Z: Ty[M // P0], B: Ty[M // P0]):
    for i in range(M // P0):
        B[i] = Z[i] + 1

def figure_2b(A: Ty[M], B: Ty[M]):
    Z0: Ty[M // P0]; Z1: Ty[M // P0]
    producer_0( A[:8] ,Z0); consumer_0(Z0, B[:8] )
    producer_1( A[8:] ,Z1); consumer_1(Z1, B[8:] )


def figure_5(T: AlloType = int32, N: int = 4) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def left():
        # Deadlock
        sAB: Stream[T, N]
        sBA: Stream[T, N]
        @task()
        def func0():
            for i in range(N):
                a = sBA.get(); sAB.put(a)
        @task()
        def func1():
            for i in range(N):
                b = sAB.get(); sBA.put(b)

    def right():
        # Inconsistent put/get
        s: Stream[T, N]; a = 0
        @task()
        def func0():
            for i in range(N):
                s.put(a)
                s.put(a)
        @task()
        def func1():
            for i in range(N):
                b = s.get()

    return left, right


def figure_7(M: int = 4, K: int = 6, N: int = 4, Ty: AlloType = int16) -> Callable[..., Any]:
    Pk, Pm, Pn = 2, 2, 2
    LyA = Layout("S1S2")
    LyB = Layout("S2S0")
    LyC = Layout("S1S0")

    def top():
        @dato.task(mapping=[Pk, Pm, Pn])
        def gemm(A: Ty[M, K] @ LyA,
                 B: Ty[K, N] @ LyB,
                 C: Ty[M, N] @ LyC):
            part_C = dato.matmul(A, B)
            C[:, :] = \
                dato.allreduce(part_C, op="+")

    return top


def figure_10(Ty: AlloType, N: int = 4, Tq: int = 2, Tkv: int = 2, d: int = 4) -> Callable[..., Any]:
    """FlashAttention; the paper calls four kernels that it does not print."""
    P0, P1 = N // Tq, N // Tkv
    LyQ = Layout("S1R")
    LyK = Layout("RS0")
    LyV = Layout("S0R")

    def init_softmax(m: Ty[Tkv], sum: Ty[Tkv]):
        m[:] = -100.0
        sum[:] = 0.0

    def online_softmax(x: Ty[Tq, Tkv], m: Ty[Tkv], sum: Ty[Tkv], weight: Ty[Tq, Tkv], scale: Ty[Tkv]):
        for i in range(Tq):
            most: Ty = m[i]
            for j in range(Tkv):
                most = max(most, x[i, j])
            scale[i] = allo.exp(m[i] - most)
            sum[i] = sum[i] * scale[i]
            for j in range(Tkv):
                weight[i, j] = allo.exp(x[i, j] - most)
                sum[i] += weight[i, j]
            m[i] = most

    def rescale(output: Ty[Tq, d], scale: Ty[Tkv]):
        for i, j in allo.grid(Tq, d):
            output[i, j] = output[i, j] * scale[i]

    def scale(output: Ty[Tq, d], sum: Ty[Tkv], O: Ty[Tq, d]):
        for i, j in allo.grid(Tq, d):
            O[i, j] = output[i, j] / sum[i]

    def top():
        q: Stream[Ty[Tq,d]][P0,P1]
        s: Stream[Ty[Tq,Tkv]][P0,P1]
        w: Stream[Ty[Tq,Tkv]][P0,P1]
        exp_sum: Stream[Ty[Tq]][P0]
        exp_scale: Stream[Ty[Tq]][P0]
        o: Stream[Ty[Tq,d]][P0,P1]

        @dato.task(mapping=[P0,1])
        def send_q(Q: Ty[N,d] @ LyQ):
            ti, _ = dato.get_tid()
            for i in range(P1):
                q[ti,i].put(Q)

        @dato.task(mapping=[P0,P1])
        def gemm0(K: Ty[d,N] @ LyK):
            ti, tj = dato.get_tid()
            s[ti,tj].put(dato.matmul(
                q[ti,tj].get(), K))

        @dato.task(mapping=[P0,1])
        def softmax():
            ti, _ = dato.get_tid()
            m: Ty[Tkv]
            sum: Ty[Tkv]
            init_softmax(m,sum)
            for i in range(P1):
                weight: Ty[Tq,Tkv]
                scale: Ty[Tkv]
                online_softmax(
                    s[ti,i].get(), m, sum, weight, scale)
                exp_scale[ti].put(scale)
                w[ti,i].put(weight)
            exp_sum[ti].put(sum)

        @dato.task(mapping=[P0,P1])
        def gemm1(V: Ty[N,d] @ LyV):
            ti, tj = dato.get_tid()
            o[ti,tj].put(dato.matmul(w[ti,tj].get(),V))

        @dato.task(mapping=[P0,1])
        def acc(O: Ty[N,d] @ LyQ):
            output: Ty[Tq,d] = 0
            ti, _ = dato.get_tid()
            for i in range(P1):
                rescale(output, exp_scale[ti].get())
                output[:,:] = dato.add(
                    output, o[ti,i].get())
            scale(output,exp_sum[ti].get(),O)

    return top


def appendix_A(M: int, N: int, K: int, Rt: int, Ct: int) -> Callable[..., Any]:
    """The daisy chain, whose `packed_c` the paper cuts into 16 bits in one branch and into 8 in the other."""
    P0, P1 = Rt + 2, Ct + 2

    def top():
        L3_A: Stream[UInt(Rt * 8), 4]
        L3_B: Stream[UInt(Ct * 8), 4]
        L3_C: Stream[UInt(Rt * 8), 4]

        L2_A: Stream[UInt(Rt * 8)][P0 - 1]
        L2_B: Stream[UInt(Ct * 8)][P1 - 1]

        L1_C: Stream[UInt(Rt * 8)][Rt, Ct]
        L2_C: Stream[UInt(Rt * 8)][Ct]

        fifo_A: Stream[int8][Rt, Ct]
        fifo_B: Stream[int8][Rt, Ct]

        @dato.task(mapping=[1])
        def offchip_loadA(A_Packed: UInt(Rt * 8)[M * K // Rt]):
            for mt, nt in dsl.grid(M // Rt, N // Ct):
                for k in range(K):
                    L3_A.put(A_Packed[mt * K + k])

        @dato.task(mapping=[1])
        def offchip_loadB(B_Packed: UInt(Ct * 8)[K * N // Ct]):
            for mt, nt in dsl.grid(M // Rt, N // Ct):
                for k in range(K):
                    L3_B.put(B_Packed[nt * K + k])

        @dato.task(mapping=[P0, P1])
        def gemm_systolic():
            i, j = dato.get_tid()
            # peripheral kernels
            with dato.meta_if(i == 0 and j == 0):
                for mt, nt in dsl.grid(M // Rt, N // Ct):
                    for k in range(K):
                        L2_A[1].put(L3_A.get())
                        L2_B[1].put(L3_B.get())

            with dato.meta_elif(i == P0 - 1 and j == P1 - 1):
                for mt, nt in dsl.grid(M // Rt, N // Ct):
                    for n in range(Ct):
                        L3_C.put(L2_C[Ct - 1].get())

            with dato.meta_elif(i in {0, P0 - 1} and j in {0, P1 - 1}):
                pass

            with dato.meta_elif(j == 0):
                # i > 0, the first column
                for mt, nt in dsl.grid(M // Rt, N // Ct):
                    for k in range(K):
                        a = L2_A[i].get()
                        # unpack data
                        fifo_A[i - 1, 0].put(a[8 * (i - 1) : 8 * i])
                        with dato.meta_if(i < Rt):
                            L2_A[i + 1].put(a)

            with dato.meta_elif(i == 0):
                # j > 0, the first row
                for mt, nt in dsl.grid(M // Rt, N // Ct):
                    for k in range(K):
                        b = L2_B[j].get()
                        fifo_B[0, j - 1].put(b[8 * (j - 1) : 8 * j])
                        with dato.meta_if(j < Ct):
                            L2_B[j + 1].put(b)

            with dato.meta_elif(i == P0 - 1):
                for mt, nt in dsl.grid(M // Rt, N // Ct):
                    c_C = L1_C[i - 2, Ct - j].get()
                    L2_C[j - 1].put(c_C)
                    with dato.meta_if(j != 1):
                        for ind in range(j - 1):
                            L2_C[j - 1].put(L2_C[j - 2].get())

            with dato.meta_elif(j == P1 - 1):
                pass

            # main body
            with dato.meta_else():
                for mt, nt in dsl.grid(M // Rt, N // Ct):
                    c: int8 = 0
                    for k in range(K):
                        a: int8 = fifo_A[i - 1, j - 1].get()
                        b: int8 = fifo_B[i - 1, j - 1].get()
                        c += a * b
                        with dato.meta_if(j < Ct):
                            fifo_A[i - 1, j].put(a)
                        with dato.meta_if(i < Rt):
                            fifo_B[i, j - 1].put(b)

                    with dato.meta_if(i == 1):
                        packed_tmp: UInt(M * 8) = 0
                    with dato.meta_else():
                        packed_tmp: UInt(M * 8) = L1_C[i - 2, j - 1].get()

                    packed_c: UInt(M * 8) = 0
                    for m in range(Rt):
                        if m == i - 1:
                            packed_c[m * 8 : (m + 1) * 8] = c
                        else:
                            packed_c[m * 16 : (m + 1) * 16] = packed_tmp[
                                m * 16 : (m + 1) * 16
                            ]
                    L1_C[i - 1, j - 1].put(packed_c)

        @dato.task(mapping=[1])
        def offchip_store(C_Packed: UInt(Rt * 8)[M * N // Rt]):
            for mt, nt in dsl.grid(M // Rt, N // Ct):
                for n in range(Ct):
                    C_Packed[mt * N + nt * Ct + n] = L3_C.get()

    return top
