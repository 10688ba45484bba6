/* Compositions: any text gives a network whose text parses to the same network, or a message of three lines. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sfumato.h"

static void demand(int holds) {
    if (!holds) {
        abort();
    }
}

static int lines_of(const char *message) {
    int lines = 1;
    for (; *message != '\0'; message++) {
        lines += *message == '\n';
    }
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, bytes, size);
    }
    text[size] = '\0';
    sfu_net *net = NULL;
    sfu_net *again = NULL;
    if (sfu_net_parse(&net, text, NULL) != SFU_OK) {
        demand(lines_of(sfu_message()) == 3 && net == NULL);
    } else {
        demand(sfu_net_parse(&again, sfu_net_text(net), NULL) == SFU_OK);
        demand(strcmp(sfu_net_text(net), sfu_net_text(again)) == 0);
    }
    sfu_net_free(net);
    sfu_net_free(again);
    free(text);
    return 0;
}
