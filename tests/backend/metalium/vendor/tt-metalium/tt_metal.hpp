// Included by emitted hosts; all that they use is in host_api.hpp.
#pragma once
#include "tt-metalium/host_api.hpp"
