// the upper half of a float; each operation is that of float, rounded to nearest, halves to even
struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  bfloat16(float value) : bits(rounded(value)) {}
  bfloat16(double value) : bits(rounded(to_odd(value))) {}
  static bfloat16 of(uint16_t bits) {
    bfloat16 value;
    value.bits = bits;
    return value;
  }
  operator float() const {
    union { uint32_t bits; float number; } both;
    both.bits = uint32_t(bits) << 16;
    return both.number;
  }

  friend bfloat16 operator+(bfloat16 lhs, bfloat16 rhs) { return float(lhs) + float(rhs); }
  friend bfloat16 operator-(bfloat16 lhs, bfloat16 rhs) { return float(lhs) - float(rhs); }
  friend bfloat16 operator*(bfloat16 lhs, bfloat16 rhs) { return float(lhs) * float(rhs); }
  friend bfloat16 operator/(bfloat16 lhs, bfloat16 rhs) { return float(lhs) / float(rhs); }
  friend bfloat16 operator-(bfloat16 value) { return of(value.bits ^ 0x8000); }

private:
  static uint32_t bits_of_float(float value) {
    union { float number; uint32_t bits; } both;
    both.number = value;
    return both.bits;
  }
  static uint16_t rounded(float value) {
    uint32_t whole = bits_of_float(value);
    if (value != value) { return uint16_t(whole >> 16 | 0x40); }
    return uint16_t((whole + 0x7fff + (whole >> 16 & 1)) >> 16);
  }
  // toward zero, with the last digit set if something is lost, so that the next step rounds as if it were the only one
  static float to_odd(double value) {
    union { float number; uint32_t bits; } both;
    both.number = float(value);
    if (value == value && double(both.number) != value) {
      bool above = (value > 0) == (double(both.number) > value);
      both.bits = (both.bits - uint32_t(above)) | 1;
    }
    return both.number;
  }
};
