// Decides how a thread goes from one stack to another: what is kept, and where stacks lie in memory.
#ifndef ALLO_SIM_STACK_SWITCH_H
#define ALLO_SIM_STACK_SWITCH_H

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#if defined(__ELF__) && (defined(__x86_64__) || defined(__aarch64__))
#define ALLO_SIM_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace allo_sim {

/// Memory for a stack, taken as it is used; what runs over its end meets a page that nobody may touch.
class stack {
 public:
  stack() = default;
  explicit stack(std::size_t bytes) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    size_ = (bytes + page - 1) / page * page + page;
    void *made = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return;
    memory_ = static_cast<char *>(made);
    mprotect(memory_, page, PROT_NONE);
  }
  stack(stack &&other) noexcept : memory_(other.memory_), size_(other.size_) { other.memory_ = nullptr; }
  stack &operator=(stack &&other) noexcept {
    char *memory = memory_;
    std::size_t size = size_;
    memory_ = other.memory_, size_ = other.size_;
    other.memory_ = memory, other.size_ = size;
    return *this;
  }
  ~stack() {
    if (memory_ != nullptr) munmap(memory_, size_);
  }
  /// Whether there was memory.
  explicit operator bool() const { return memory_ != nullptr; }
  char *base() const { return memory_; }
  char *top() const { return memory_ + size_; }
  std::size_t size() const { return size_; }

 private:
  char *memory_ = nullptr;
  std::size_t size_ = 0;
};

#ifdef ALLO_SIM_OWN_SWITCH

using stack_position = void *;  // the stack pointer, above which lie the registers that a call keeps

#ifdef __x86_64__
asm(R"(
.pushsection .text
.weak allo_sim_switch
.hidden allo_sim_switch
.type allo_sim_switch, @function
allo_sim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size allo_sim_switch, .-allo_sim_switch
.popsection
)");
constexpr std::size_t kept_words = 6, return_word = 6, frame_words = 8;
#else
asm(R"(
.pushsection .text
.weak allo_sim_switch
.hidden allo_sim_switch
.type allo_sim_switch, %function
allo_sim_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size allo_sim_switch, .-allo_sim_switch
.popsection
)");
constexpr std::size_t kept_words = 20, return_word = 11, frame_words = 20;
#endif

/// Keeps where this stack stands in `*from` and goes on where another one stood.
extern "C" void allo_sim_switch(void **from, void *to);

inline void switch_stack(stack_position &from, stack_position &to) { allo_sim_switch(&from, to); }

/// Where a function starts that runs on a new stack and never returns.
inline stack_position start_of(const stack &memory, void (*function)()) {
  auto *words = reinterpret_cast<std::uintptr_t *>(memory.top()) - frame_words;
  for (std::size_t k = 0; k < frame_words; ++k) words[k] = 0;
  words[return_word] = reinterpret_cast<std::uintptr_t>(function);
  return words;
}

#else

using stack_position = ucontext_t;

inline void switch_stack(stack_position &from, stack_position &to) { swapcontext(&from, &to); }

inline stack_position start_of(const stack &memory, void (*function)()) {
  ucontext_t made;
  getcontext(&made);
  made.uc_stack.ss_sp = memory.base();
  made.uc_stack.ss_size = memory.size();
  made.uc_link = nullptr;
  makecontext(&made, function, 0);
  return made;
}

#endif

}  // namespace allo_sim

#endif
