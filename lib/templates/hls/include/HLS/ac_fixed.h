#include "../ac_fixed.h"
