/* Arrays that take memory where they are used. */
#include "support.h"

#include "memory.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lazy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
