#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool test_can_serve(void) {
    const bool can = system("python3 -c 'import http.server, ssl' 2> /dev/null") == 0;
    if (!can) {
        print_message("skipped: there is no python3 to serve files with\n");
    }
    return can;
}

int test_server(const char *root, const char *other_root, const char *const *tls) {
    char command[2048];
    char port_file[64];
    static int servers;
    const char *source = getenv("SOURCE");
    const char *none = test_path("none");
    snprintf(port_file, sizeof port_file, "%s.%d", test_path("port"), servers++);
    snprintf(command, sizeof command, "python3 '%s/tests/support/misbehaving_server.py' '%s' '%s' '%s' %s %s %s > '%s'",
             source != NULL ? source : ".", test_path("requests"), root != NULL ? root : none,
             other_root != NULL ? other_root : none, tls != NULL ? "--tls" : "", tls != NULL ? tls[0] : "",
             tls != NULL ? tls[1] : "", port_file);
    /* Its standard input is our end of a pipe, so that it ends when we end, for whatever reason. */
    FILE *server = popen(command, "w");
    assert_non_null(server);
    int port = 0;
    for (int i = 0; i < 3000 && port == 0; i++) {
        char text[16] = "";
        FILE *file = fopen(port_file, "r");
        if (file != NULL) {
            port = fgets(text, sizeof text, file) != NULL ? (int)strtol(text, NULL, 10) : 0;
            fclose(file);
        }
        if (port == 0) {
            assert_int_equal(system("sleep 0.1"), 0);
        }
    }
    assert_int_not_equal(port, 0);
    return port;
}

const char *test_server_requests(void) {
    static char text[1 << 16];
    FILE *file = fopen(test_path("requests"), "r+");
    text[0] = '\0';
    if (file != NULL) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        remove(test_path("requests"));
    }
    return text;
}
