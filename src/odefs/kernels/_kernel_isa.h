/* Compiles _kernel_body.h for both precisions of the instruction set that the including file has
 * defined, and _kernel_choices.h for float64, and undefines its macros. */

#define TYPE float
#define MIN MIN_float
#define SQRT SQRT_float
#define ANY_LESS ANY_LESS_float
#ifdef HAS_GATHER
#define GATHER GATHER_float
#define OFFSETS OFFSETS_float
#endif
#ifdef HAS_FOUR_COLUMNS
#define FOUR_COLUMNS FOUR_COLUMNS_float
#endif
#include "_kernel_body.h"
#undef TYPE
#undef MIN
#undef SQRT
#undef ANY_LESS
#undef GATHER
#undef OFFSETS
#undef FOUR_COLUMNS

#define TYPE double
#define MIN MIN_double
#define SQRT SQRT_double
#define ANY_LESS ANY_LESS_double
#ifdef HAS_GATHER
#define GATHER GATHER_double
#define OFFSETS OFFSETS_double
#endif
#include "_kernel_body.h"
#include "_kernel_choices.h"
#undef TYPE
#undef MIN
#undef SQRT
#undef ANY_LESS
#undef GATHER
#undef OFFSETS

#undef ISA
#undef TARGET
#undef WIDTH
#undef VECTORS
#undef MEMBERS
#undef MIN_float
#undef MIN_double
#undef SQRT_float
#undef ANY_LESS_float
#undef SQRT_double
#undef ANY_LESS_double
#undef HAS_GATHER
#undef GATHER_float
#undef GATHER_double
#undef OFFSETS_float
#undef OFFSETS_double
#undef HAS_FOUR_COLUMNS
#undef FOUR_COLUMNS_float
