/* A library's GEMM as a plugin, in C, against kzoo/abi.h alone: here OpenBLAS's cblas_sgemm().
 *
 *   cc -O2 -shared -fPIC -I PREFIX/include openblas.c -lopenblas -o openblas_c.so
 *   runner validate openblas_c --plugin-dir . --device cpu
 */
#include <kzoo/abi.h>

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether the runner says something about the problem that this plugin does not know. */
static int is_newer(const kzoo_problem* p) {
  for (uint64_t i = sizeof *p; i < p->struct_size; ++i)
    if (((const unsigned char*)p)[i]) return 1;
  return 0;
}

static kzoo_status supports(const kzoo_variant* v, const kzoo_problem* p, const kzoo_device* d,
                            kzoo_text* reason) {
  const char* why = p->type_a != KZOO_F32 || p->type_b != KZOO_F32 || p->type_c != KZOO_F32
                        ? "f32 only"
                    : p->layout_c != KZOO_ROW_MAJOR      ? "C must be row-major"
                    : p->batch > 1                       ? "one product at a time"
                    : p->operand_count || p->stage_count ? "no groups and no epilogue"
                    : is_newer(p)                        ? "the problem is newer than this plugin"
                                                         : NULL;
  if (why && reason && reason->capacity) snprintf(reason->data, reason->capacity, "%s", why);
  return why ? KZOO_UNSUPPORTED : KZOO_OK;
}

static uint64_t workspace_bytes(const kzoo_variant* v, const kzoo_problem* p,
                                const kzoo_device* d) {
  return 0;
}

static kzoo_status create(const kzoo_variant* v, const kzoo_problem* p, const kzoo_device* d,
                          void** instance, kzoo_text* error) {
  kzoo_problem* copy = *instance = malloc(sizeof *copy);
  if (copy) *copy = *p;
  return copy ? KZOO_OK : KZOO_ERROR;
}

static kzoo_status run(const kzoo_variant* v, void* instance, const kzoo_arguments* args,
                       kzoo_text* error) {
  const kzoo_problem* p = instance;
  cblas_sgemm(CblasRowMajor, p->layout_a == KZOO_ROW_MAJOR ? CblasNoTrans : CblasTrans,
              p->layout_b == KZOO_ROW_MAJOR ? CblasNoTrans : CblasTrans, p->m, p->n, p->k, p->alpha,
              args->a, p->lda, args->b, p->ldb, p->beta, args->c, p->ldc);
  return KZOO_OK;
}

static void destroy(const kzoo_variant* v, void* instance) { free(instance); }

static const kzoo_signature f32 = {KZOO_F32, KZOO_F32, KZOO_F32, KZOO_COMPUTE_FP32};
static const kzoo_variant sgemm = {
    sizeof sgemm, "sgemm", "cblas_sgemm", &f32, 1, 0, NULL, supports, workspace_bytes,
    create,       run,     destroy,       0,    0, 0, 0,    0,        0};
const kzoo_plugin kzoo_plugin_v1 = {sizeof(kzoo_plugin),
                                    KZOO_ABI_MINOR,
                                    KZOO_CPU,
                                    "openblas_c",
                                    "OpenBLAS, from C",
                                    "C",
                                    &sgemm,
                                    1,
                                    sizeof sgemm,
                                    1,
                                    0};
