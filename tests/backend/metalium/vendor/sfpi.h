// In the place of the vendor compiler's vector unit, which the unpacking thread names and does not use.
#pragma once
namespace sfpi {}
