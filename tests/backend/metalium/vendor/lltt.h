// What the vendor's compiler brings for the replay of instructions; nothing runs here.
#pragma once
namespace lltt {
enum ExecBool : bool { NoExec = false, Exec = true };
template <ExecBool exec = NoExec>
inline void record(unsigned, unsigned) {}
inline void replay(unsigned, unsigned) {}
template <ExecBool exec = NoExec>
inline constexpr unsigned record_insn(unsigned, unsigned) {
    return 0;
}
inline constexpr unsigned replay_insn(unsigned, unsigned) { return 0; }
}  // namespace lltt
