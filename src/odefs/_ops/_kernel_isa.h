/* Compiles _kernel_body.h for both precisions of the instruction set that the including file has described, and forgets the description. */

#define TYPE float
#define MIN MIN_float
#define SQRT SQRT_float
#define ANY_LESS ANY_LESS_float
#include "_kernel_body.h"
#undef TYPE
#undef MIN
#undef SQRT
#undef ANY_LESS

#define TYPE double
#define MIN MIN_double
#define SQRT SQRT_double
#define ANY_LESS ANY_LESS_double
#include "_kernel_body.h"
#undef TYPE
#undef MIN
#undef SQRT
#undef ANY_LESS

#undef ISA
#undef TARGET
#undef WIDTH
#undef VECTORS
#undef MIN_float
#undef MIN_double
#undef SQRT_float
#undef ANY_LESS_float
#undef SQRT_double
#undef ANY_LESS_double
