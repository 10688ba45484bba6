/* The drawing of a network: well-formed, and no text wider than its box. */
#include "support.h"

#include "file.h"
#include "net_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *draw(const char *text) {
    sfu_net *net = NULL;
    sfu__bytes bytes;
    assert_ok(sfu_net_parse(&net, text, NULL));
    assert_ok(sfu_net_draw(net, test_path("net.svg")));
    sfu_net_free(net);
    assert_ok(sfu__bytes_open(&bytes, test_path("net.svg")));
    char *svg = malloc(bytes.size + 1);
    assert_non_null(svg);
    memcpy(svg, bytes.data, bytes.size);
    svg[bytes.size] = '\0';
    sfu__bytes_close(&bytes);
    return svg;
}

/* Tags open and close in pairs, attributes are quoted, & begins an entity. */
static void assert_well_formed(const char *svg) {
    char open[16][16];
    int depth = 0;
    for (const char *p = svg; *p != '\0'; p++) {
        if (*p == '&') {
            assert_true(strncmp(p, "&amp;", 5) == 0 || strncmp(p, "&lt;", 4) == 0 || strncmp(p, "&gt;", 4) == 0);
        }
        if (*p != '<') {
            continue;
        }
        const char *end = strchr(p, '>');
        assert_non_null(end);
        assert_null(memchr(p + 1, '<', (size_t)(end - p - 1)));
        if (p[1] == '/') {
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strncmp(p + 2, open[depth], strlen(open[depth])), 0);
        } else if (end[-1] != '/') {
            assert_true(depth < 16);
            snprintf(open[depth], sizeof open[0], "%.*s", (int)strcspn(p + 1, " >"), p + 1);
            depth++;
        }
        p = end;
    }
    assert_int_equal(depth, 0);
}

static int number_after(const char *p, const char *key) {
    const char *found = strstr(p, key);
    assert_non_null(found);
    return (int)strtol(found + strlen(key), NULL, 10);
}

/* Characters of the text of an element; an entity is one. */
static int width_of(const char *p) {
    int count = 0;
    for (p = strchr(p, '>') + 1; *p != '<'; p++) {
        if (*p == '&') {
            p = strchr(p, ';');
        }
        count += ((unsigned char)*p & 0xc0) != 0x80;
    }
    return count * 79 / 10; /* 13 px of a type whose characters are 0.602 of that wide */
}

static void assert_nothing_is_clipped(const char *svg) {
    const int width = number_after(svg, " width=\"");
    const int height = number_after(svg, " height=\"");
    int left = 0;
    int right = width;
    for (const char *p = svg; (p = strchr(p, '<')) != NULL; p++) {
        if (strncmp(p, "<rect", 5) == 0) {
            left = number_after(p, " x=\"");
            right = left + number_after(p, " width=\"");
            assert_in_range(left, 0, width);
            assert_in_range(right, 0, width);
            assert_in_range(number_after(p, " y=\"") + number_after(p, " height=\""), 0, height);
        } else if (strncmp(p, "<text", 5) == 0) {
            const char *end = strchr(p, '>');
            const char *class = strstr(p, "class=\"");
            const bool outside = class != NULL && class < end && strncmp(class + 7, "name", 4) != 0;
            const int center = number_after(p, " x=\"");
            const int half = width_of(p) / 2;
            assert_in_range(number_after(p, " y=\""), 10, height - 4);
            assert_in_range(center - half, outside ? 0 : left, width);
            assert_in_range(center + half, 0, outside ? width : right);
        }
    }
}

static void drawings_are_well_formed(void **state) {
    (void)state;
    static const char *const nets[] = {
        "gcn",
        "linear",
        "lpnn",
        "lpnn(f=clamp, input=fx, output=f, mu_g=0.25, mu_l=3, mu_u=4, lambda_l=5, lambda_u=6)",
        "smooth^1000(norm=row, self=\"a <b> & 'c'\", neighbour=gr\xc3\xb6\xc3\x9f"
        "e, teleport=0.125, act=leaky_relu, learn=self+neighbour) | dense 65536 leaky_relu(bias=no, "
        "dropout=0.1234567) | dense classes | softmax(linear=no) | smooth(left=0.25, right=0.125, learn=right)",
        "smooth(self="
        "abcdefghijklmnopqrstuvwxyz\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
        "abcdefghijklmnopqrstuvwxyz) | softmax",
    };
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        char *svg = draw(nets[i]);
        assert_well_formed(svg);
        assert_true(sfu__utf8_valid(svg, strlen(svg)));
        assert_nothing_is_clipped(svg);
        free(svg);
    }
}

static int count_of(const char *svg, const char *what) {
    int count = 0;
    for (const char *p = svg; (p = strstr(p, what)) != NULL; p++) {
        count++;
    }
    return count;
}

static void boxes_are_the_layers(void **state) {
    (void)state;
    char *svg = draw("smooth^2(self=\"a<b\") | dense 64 relu | softmax | smooth");
    assert_int_equal(count_of(svg, "<rect"), 6); /* X and P too */
    assert_int_equal(count_of(svg, ">feature propagation<"), 1);
    assert_int_equal(count_of(svg, ">label propagation<"), 1);
    assert_int_equal(count_of(svg, ">smooth \xc3\x97 2<"), 1);
    assert_int_equal(count_of(svg, ">self=a&lt;b<"), 1);
    assert_int_equal(count_of(svg, ">H \xe2\x86\x90 relu(H W + b)<"), 1);
    assert_int_equal(count_of(svg, ">P \xe2\x86\x90 softmax(H W + b)<"), 1);
    assert_int_equal(count_of(svg, ">P \xe2\x86\x90 S P<"), 1);
    assert_int_equal(count_of(svg, "<title>smooth^2(self=a&lt;b) | dense 64 relu | softmax | smooth</title>"), 1);
    free(svg);
}

static void a_path_that_cannot_be_is_told(void **state) {
    (void)state;
    sfu_net *net = NULL;
    assert_ok(sfu_net_parse(&net, "gcn", NULL));
    assert_fails(SFU_ERR_IO, sfu_net_draw(net, test_path("nowhere/net.svg")), "nowhere/net.svg");
    sfu_net_free(net);
}

static sfu_status draw_it(void *context) { return sfu_net_draw(context, test_path("memory.svg")); }

static void every_allocation_may_fail(void **state) {
    (void)state;
    sfu_net *net = NULL;
    assert_ok(sfu_net_parse(&net, "smooth(self=trust) | dense 5 relu | softmax | smooth", NULL));
    test_fail_each_allocation(draw_it, net, 1000);
    sfu_net_free(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawings_are_well_formed),
        cmocka_unit_test(boxes_are_the_layers),
        cmocka_unit_test(a_path_that_cannot_be_is_told),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
