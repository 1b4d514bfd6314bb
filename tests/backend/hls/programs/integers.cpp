// Reads operands, prints the results of all operators with their types.
#include <cstdio>
#include <iostream>
#include <string>

#include "ap_int.h"

template <int W, bool S>
void show(const char *what, const allo_sim::integer<W, S> &value) {
  std::cout << ' ' << what << ':' << W << ':' << S << ':' << value;
}
void show(const char *what, bool value) { std::cout << ' ' << what << ":0:0:" << int(value); }
void show(const char *what, long long value) { std::cout << ' ' << what << ":0:0:" << value; }

template <class A, class B>
void binary(const A &a, const B &b) {
  show("+", a + b);
  show("-", a - b);
  show("*", a * b);
  show("&", a & b);
  show("|", a | b);
  show("^", a ^ b);
  show("==", a == b);
  show("!=", a != b);
  show("<", a < b);
  show("<=", a <= b);
  show(">", a > b);
  show(">=", a >= b);
  if (b == 0) return;
  show("/", a / b);
  show("%", a % b);
}

template <class A, class B>
void updates(const A &a, const B &b) {
  A x = a;
  show("+=", x += b);
  show("*=", (x = a) *= b);
  show("-=", (x = a) -= b);
  show("|=", (x = a) |= b);
  show("convert", x = b);
  x = a;
  show("post++", x++);
  show("++", x);
  show("--", --(x = a));
}

template <class A>
void bits(const A &a, int high, int low) {
  constexpr int W = A::width;
  show("neg", -a);
  show("~", ~a);
  show("range", ap_uint<W>(a.range(high, low)));
  A x = a;
  x(high, low) = ~x(high, low);
  show("put", x);
  x = a;
  x[low] = !x[low];
  x.set_bit(high, a[low]);
  show("bits", x);
  show("reverse", (x = a).reverse());
  show("ones", (long long)a.count_ones());
  show("or", a.or_reduce());
  show("int64", (long long)a.to_int64());
}

template <class A, class B>
void run(const std::string &left, const std::string &right, int amount, int high, int low) {
  const A a(left.c_str(), 10);
  const B b(right.c_str(), 10);
  binary(a, b);
  updates(a, b);
  bits(a, high % A::width, low % A::width);
  show("<<", a << amount);
  show(">>", a >> amount);
  show("<<b", a << b);
  show(">>b", a >> b);
  show("concat", ap_uint<A::width + B::width>((a, b)));
  A x;
  B y;
  (x, y) = (a, b);
  show("split", x == a && y == b);
  show("hex", a == A(a.to_string(16).c_str(), 16));
  show("int+", a + amount);
  show("int-", amount - a);
  show("int*", amount * a);
  show("uint*", a * unsigned(high));
  show("int<", amount < a);
  show("uint<", a < unsigned(high));
  std::printf(" ");
  std::cout << std::flush;
  std::printf("double:0:0:%a\n", a.to_double());
  std::fflush(stdout);
}

int main() {
  int which = 0;
  int amount = 0;
  int high = 0;
  int low = 0;
  std::string a;
  std::string b;
  while (std::cin >> which >> a >> b >> amount >> high >> low) {
    switch (which) {
#define CASE(number, A, B)              \
  case number:                          \
    run<A, B>(a, b, amount, high, low); \
    break;
#include "cases.inc"
    }
  }
  return 0;
}
