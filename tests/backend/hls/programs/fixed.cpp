// Reads numbers, prints conversions between fixed-point types and floats, and the results of operators.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "ap_fixed.h"

template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O>
void show(const char *what, const allo_sim::fixed<W, I, S, Q, O> &value) {
  std::cout << ' ' << what << ':' << W << ':' << W - I << ':' << S << ':' << value.mantissa();
}
void show(const char *what, bool value) { std::cout << ' ' << what << ":0:0:0:" << int(value); }
void show(const char *what, int value) { std::cout << ' ' << what << ":0:0:0:" << value; }

template <class T>
T with_mantissa(const std::string &text) {
  return T::from_mantissa(typename T::mantissa_type(text.c_str(), 10));
}

template <class A, class B>
void run(const std::string &left, const std::string &right, double number) {
  const A a = with_mantissa<A>(left);
  const B b = with_mantissa<B>(right);
  show("convert", B(a));
  show("double", B(number));
  show("integer", B(a.mantissa()));
  show("int", B(int(number > -2e9 && number < 2e9 ? number : 0)));
  show("+", a + b);
  show("-", a - b);
  show("*", a * b);
  show("<", a < b);
  show("==", a == b);
  show("neg", -a);
  show("to_int", a.to_int());
  show("int+", 3 + a);
  show("<<", a << 2);
  show(">>", a >> 3);
  B c = b;
  show("+=", c += a);
  if (!b.is_zero()) show("/", a / b);
  std::printf(" ");
  std::cout << std::flush;
  std::printf("to_double:0:0:0:%a\n", a.to_double());
  std::fflush(stdout);
}

int main() {
  int which = 0;
  std::string a;
  std::string b;
  std::string number;
  while (std::cin >> which >> a >> b >> number) {
    switch (which) {
#define TYPE(...) __VA_ARGS__
#define CASE(index, A, B)                               \
  case index:                                           \
    run<TYPE A, TYPE B>(a, b, std::strtod(number.c_str(), nullptr)); \
    break;
#include "cases.inc"
    }
  }
  return 0;
}
