/* The kernels of README.md. Any thread may call; calls of kernels of one plugin take turns. The
 * first call for a problem, with its alpha, beta and leading dimensions, prepares a kernel, which is
 * kept for at least the last 128 problems. */
#ifndef {{name}}_H
#define {{name}}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
{{#functions}}

/* C = alpha A B + beta C, {{types}}, computed in {{precisions}}.
{{#a_transposed}}
 * A (m x k) is transposed in memory, k x m and row-major, lda >= m.
{{/a_transposed}}
{{^a_transposed}}
 * A (m x k) is row-major, lda >= k.
{{/a_transposed}}
{{#b_transposed}}
 * B (k x n) is transposed in memory, n x k and row-major, ldb >= k.
{{/b_transposed}}
{{^b_transposed}}
 * B (k x n) is row-major, ldb >= n.
{{/b_transposed}}
 * C (m x n) is row-major, ldc >= n.
{{#cuda}}
 * With beta = 0, C is not read. Enqueues the work on the stream, a cudaStream_t of the
 * current device, and does not wait for it.
{{/cuda}}
{{^cuda}}
 * With beta = 0, C is not read. Returns when C is computed; `stream` is not used.
{{/cuda}}
{{#scaled}}
 * The elements of A and B are multiplied by the scales; 0 stands for 1.
{{/scaled}}
{{#batches}}
 * A batch: so many products, whose matrices start a stride, in elements, after those of the one
 * before. A stride_a or stride_b of 0: all have the matrix in common.
{{/batches}}
 * With m or n = 0 there is nothing to compute; with k = 0, C becomes beta C.
 * Returns NULL, or a sentence that says why not, valid until this thread's next call. */
{{declaration}};
{{/functions}}

#ifdef __cplusplus
}
#endif

#endif
