#include "../ac_int.h"
