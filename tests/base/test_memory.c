/* Arrays that take memory where they are used; limits of the memory of a thread. */
#include "support.h"

#include "memory.h"
#include "parallel.h"

#include <stdio.h>
#include <unistd.h>

static int64_t resident_bytes(void) {
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident),
                     2); /* NOLINT(cert-err34-c): two numbers of the kernel */
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

/* A large array takes memory where it is used. */
static void test_lazy(void **state) {
    (void)state;
    const size_t count = (size_t)1 << 28;
    const int64_t before = resident_bytes();
    float *lazy = sfu__alloc_lazy(count, sizeof *lazy);
    assert_non_null(lazy);
    for (size_t i = 0; i < count; i += count / 64) {
        assert_true(lazy[i] == 0.0F);
        lazy[i] = 1.0F;
    }
    assert_true(lazy[count - 1] == 0.0F);
    assert_true(resident_bytes() - before < 64 << 20);
    sfu__free(lazy);
}

/* Only the item with this number allocates, whichever thread runs it. */
static sfu_status allocate_item(void *context, int64_t item, int thread) {
    (void)thread;
    void *block = item == *(int64_t *)context ? sfu__alloc(1 << 20, 1) : NULL;
    sfu__free(block);
    return item == *(int64_t *)context && block == NULL ? SFU_ERR_MEMORY : SFU_OK;
}

/* An allocation beyond the limit is told from others, also if another thread made it. */
static void test_refused(void **state) {
    (void)state;
    int64_t item = 0;
    assert_null(sfu__alloc(SIZE_MAX / 2, 4)); /* overflows: the system is not asked */
    assert_true(sfu__memory_refused() == 0);
    sfu__memory_set_limit(sfu__memory_used() + (1 << 19));
    assert_null(sfu__alloc(1 << 20, 1));
    assert_true(sfu__memory_refused() > sfu__memory_limit());
    sfu__memory_set_limit(sfu__memory_limit());
    assert_true(sfu__memory_refused() == 0);
    for (; item < 4; item++) {
        sfu__memory_set_limit(sfu__memory_limit());
        assert_int_equal(sfu__parallel(allocate_item, &item, 4, 4), SFU_ERR_MEMORY);
        assert_true(sfu__memory_refused() > sfu__memory_limit());
    }
    sfu__memory_set_limit(0);
    assert_int_equal(sfu__parallel(allocate_item, &item, 4, 4), SFU_OK);
    assert_true(sfu__memory_refused() == 0);
}

/* Large blocks in files are beyond any limit and are not counted; small ones are as always. A block may grow into a
 * file, and lives on when the others are in memory again. */
static void test_in_files(void **state) {
    (void)state;
    enum { COUNT = 1 << 20, BLOCKS = 2000 };
    int32_t *blocks[BLOCKS] = {NULL};
    int made = 0;
    const size_t before = sfu__memory_used();
    sfu__memory_set_limit(before + (1 << 19));
    int32_t *block = sfu__alloc(4, sizeof *block);
    assert_non_null(block);
    assert_true(sfu__memory_used() > before);
    block[3] = 7;
    sfu__memory_in_files(SIZE_MAX);
    block = sfu__resize(block, COUNT, sizeof *block);
    assert_non_null(block);
    assert_true(sfu__memory_used() - before < 1 << 16); /* what describes the file */
    assert_int_equal(block[3], 7);
    block[COUNT - 1] = 9;
    int32_t *zeros = sfu__alloc_zero(COUNT, sizeof *zeros);
    assert_non_null(zeros);
    assert_int_equal(zeros[COUNT / 2], 0);
    while (made < BLOCKS && (blocks[made] = sfu__alloc(COUNT / 16, sizeof *blocks[made])) != NULL) {
        made++;
    }
    assert_int_equal(made, BLOCKS);
    while (made > 0) {
        sfu__free(blocks[--made]);
    }
    sfu__memory_in_files(0);
    assert_null(sfu__alloc(1 << 20, 1));
    block = sfu__resize(block, 2 * COUNT, sizeof *block);
    assert_non_null(block);
    assert_int_equal(block[COUNT - 1], 9);
    block = sfu__resize(block, 8, sizeof *block);
    assert_non_null(block);
    assert_int_equal(block[3], 7);
    sfu__free(zeros);
    sfu__free(block);
    sfu__memory_set_limit(0);
    assert_true(sfu__memory_used() - before < 1 << 10); /* what describes the file */
}

/* Large blocks beyond half of the limit lie in a file; those below it, and small ones, are in memory. */
static void test_spill(void **state) {
    (void)state;
    enum { LIMIT = 1 << 20 };
    const size_t before = sfu__memory_used();
    sfu__memory_set_limit(before + LIMIT);
    sfu__memory_spill(test_path("."));
    char *kept = sfu__alloc(LIMIT / 8, 1), *spilled = sfu__alloc_zero(before + LIMIT, 1);
    assert_non_null(kept);
    assert_non_null(spilled);
    const size_t used = sfu__memory_used() - before;
    assert_true(used >= LIMIT / 8 && used < LIMIT / 4);
    spilled[before + LIMIT - 1] = 3;
    spilled = sfu__resize(spilled, before + 2 * LIMIT, 1);
    assert_non_null(spilled);
    assert_int_equal(spilled[before + LIMIT - 1], 3);
    sfu__memory_spill(NULL);
    assert_null(sfu__alloc(before + LIMIT, 1));
    assert_true(sfu__memory_refused() > 0);
    sfu__free(kept);
    sfu__free(spilled);
    sfu__memory_set_limit(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lazy), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_in_files), cmocka_unit_test(test_spill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
