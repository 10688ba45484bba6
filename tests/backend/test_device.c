/* Names of devices: what is read, what is refused, and the line that the user gets. */
#include "support.h"

#include "device.h"

#include <string.h>

static void names(void **state) {
    (void)state;
    static const struct {
        const char *text;
        sfu__device_kind kind;
    } good[] = {{NULL, SFU__DEVICE_AUTO}, {"", SFU__DEVICE_AUTO}, {"auto", SFU__DEVICE_AUTO}, {"cpu", SFU__DEVICE_CPU}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        sfu__device device = {SFU__DEVICE_CUDA, 7};
        assert_ok(sfu__device_parse(&device, good[i].text, 0));
        assert_int_equal(device.kind, good[i].kind);
        assert_int_equal(device.ordinal, -1);
    }
}

/* A build without CUDA reads the name too, and refuses it with the way to a build that has it. */
static void names_of_gpus(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int ordinal;
    } good[] = {{"cuda", -1}, {"cuda:0", 0}, {"cuda:7", 7}, {"cuda:10", 10}, {"cuda:1023", 1023}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        sfu__device device;
        if (SFU_HAVE_CUDA) {
            assert_ok(sfu__device_parse(&device, good[i].text, 0));
        } else {
            assert_fails(SFU_ERR_UNSUPPORTED, sfu__device_parse(&device, good[i].text, 0), good[i].text,
                         "this build has no CUDA backend", "use auto or cpu", "nvcc");
        }
        assert_int_equal(device.kind, SFU__DEVICE_CUDA);
        assert_int_equal(device.ordinal, good[i].ordinal);
    }
}

static void other_names(void **state) {
    (void)state;
    static const char *const bad[] = {"gpu",
                                      "CPU",
                                      "cpu ",
                                      " cpu",
                                      "cpu:0",
                                      "autocuda",
                                      "Cuda",
                                      "cuda:",
                                      "cuda: 0",
                                      "cuda:-1",
                                      "cuda:+1",
                                      "cuda:01",
                                      "cuda:00",
                                      "cuda:x",
                                      "cuda:0x",
                                      "cuda:1024",
                                      "cuda:99999999999999999999",
                                      "cuda0",
                                      "cuda,cpu",
                                      "\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sfu__device device;
        assert_fails(SFU_ERR_ARGUMENT, sfu__device_parse(&device, bad[i], 0), "device \"",
                     "expected auto, cpu, cuda or cuda:N");
        assert_null(strchr(sfu_message(), '\n'));
    }
}

/* A memory limit is for the CPU: a GPU that was asked for is refused, in a build without CUDA too. */
static void memory_limits(void **state) {
    (void)state;
    sfu__device device;
    assert_ok(sfu__device_parse(&device, "auto", 1));
    assert_int_equal(device.kind, SFU__DEVICE_AUTO);
    assert_ok(sfu__device_parse(&device, "cpu", 1));
    assert_fails(SFU_ERR_ARGUMENT, sfu__device_parse(&device, "cuda", 1),
                 "device \"cuda\": only the CPU keeps a memory limit; leave out the device or the limit");
    assert_fails(SFU_ERR_ARGUMENT, sfu__device_parse(&device, "cuda:3", UINT64_MAX), "device \"cuda:3\": only the CPU");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(names_of_gpus),
                                       cmocka_unit_test(other_names), cmocka_unit_test(memory_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
