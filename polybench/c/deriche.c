/* deriche of PolyBench/C 4.2.1, looped as polybench/deriche.py; -D gives extents, DATA_TYPE, RESTRICT. */
#include <tgmath.h>

void deriche(DATA_TYPE alpha, DATA_TYPE imgIn[RESTRICT W][H], DATA_TYPE imgOut[RESTRICT W][H],
             DATA_TYPE y1[RESTRICT W][H], DATA_TYPE y2[RESTRICT W][H]) {
  DATA_TYPE k = (1 - exp(-alpha)) * (1 - exp(-alpha)) / (1 + 2 * alpha * exp(-alpha) - exp(2 * alpha));
  DATA_TYPE a1 = k, a5 = k;
  DATA_TYPE a2 = k * exp(-alpha) * (alpha - 1), a6 = a2;
  DATA_TYPE a3 = k * exp(-alpha) * (alpha + 1), a7 = a3;
  DATA_TYPE a4 = -k * exp(-2 * alpha), a8 = a4;
  DATA_TYPE b1 = pow((DATA_TYPE)2, -alpha);
  DATA_TYPE b2 = -exp(-2 * alpha);
  DATA_TYPE c1 = 1, c2 = 1;
  for (int i = 0; i < W; i++) {
    DATA_TYPE ym1 = 0, ym2 = 0, xm1 = 0;
    for (int j = 0; j < H; j++) {
      y1[i][j] = a1 * imgIn[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = imgIn[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int i = 0; i < W; i++) {
    DATA_TYPE yp1 = 0, yp2 = 0, xp1 = 0, xp2 = 0;
    for (int j = H - 1; j >= 0; j--) {
      y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
      xp2 = xp1;
      xp1 = imgIn[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int i = 0; i < W; i++)
    for (int j = 0; j < H; j++)
      imgOut[i][j] = c1 * (y1[i][j] + y2[i][j]);
  for (int j = 0; j < H; j++) {
    DATA_TYPE tm1 = 0, ym1 = 0, ym2 = 0;
    for (int i = 0; i < W; i++) {
      y1[i][j] = a5 * imgOut[i][j] + a6 * tm1 + b1 * ym1 + b2 * ym2;
      tm1 = imgOut[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int j = 0; j < H; j++) {
    DATA_TYPE tp1 = 0, tp2 = 0, yp1 = 0, yp2 = 0;
    for (int i = W - 1; i >= 0; i--) {
      y2[i][j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2;
      tp2 = tp1;
      tp1 = imgOut[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int i = 0; i < W; i++)
    for (int j = 0; j < H; j++)
      imgOut[i][j] = c2 * (y1[i][j] + y2[i][j]);
}
