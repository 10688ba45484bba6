/* net_copy.c - a network as a structure of its own. */
#include "net_int.h"

#include "memory.h"
#include "text.h"

static sfu_status copy_text(char **to, const char *from) {
    *to = from != NULL ? sfu__copy_string(from) : NULL;
    return from != NULL && *to == NULL ? SFU_ERR_MEMORY : SFU_OK;
}

sfu_status sfu__net_copy(sfu_net **copy, const sfu_net *net) {
    sfu_status status = SFU_OK;
    sfu_net *made = NULL;
    *copy = NULL;
    SFU_ALLOC_ZERO(made, 1);
    made->is_lpnn = net->is_lpnn;
    made->lpnn = net->lpnn;
    SFU_ALLOC_ZERO(made->layers, net->count);
    for (; made->count < net->count; made->count++) {
        const sfu__layer *from = &net->layers[made->count];
        sfu__layer *to = &made->layers[made->count];
        *to = *from;
        to->self_column = to->neighbour_column = NULL;
        SFU_TRY(copy_text(&to->self_column, from->self_column));
        status = copy_text(&to->neighbour_column, from->neighbour_column);
        if (status != SFU_OK) {
            sfu__free(to->self_column);
            goto done;
        }
    }
    SFU_TRY(copy_text(&made->text, net->text));
    *copy = made;
    made = NULL;
done:
    sfu_net_free(made);
    return status;
}
