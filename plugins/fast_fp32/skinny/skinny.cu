// C with few rows or few columns: what takes the time is to read the one large operand, once.

#include "skinny.hpp"

using skinny::few;
using skinny::variant;

KZOO_PLUGIN(
    "skinny", "Few rows or few columns: the large operand is read once, at memory's speed",
    (kzoo::variant<variant<few::rows, 4, 8>>("rows_s4_b8", "few rows; 4 stages, 8 blocks per SM")),
    (kzoo::variant<variant<few::rows, 4, 2>>("rows_s4_b2", "2 blocks per SM, one wave")),
    (kzoo::variant<variant<few::columns, 4, 8>>("columns_s4_b8",
                                                "few columns; 4 stages, 8 blocks per SM")),
    (kzoo::variant<variant<few::columns, 4, 2>>("columns_s4_b2", "2 blocks per SM, one wave")));
