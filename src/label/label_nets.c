/* label_nets.c - the candidates of a labelling: all networks, or those that the caller names. */
#include "label.h"

#include "text.h"

#include <string.h>

const char *const sfu__label_net_names[SFU__LABEL_NETS] = {"sgcn",   "linear", "mlp",    "linear+lp", "sgcn+lp",
                                                           "fp+mlp", "gcn",    "mlp+lp", "gcn+lp"};

bool sfu__label_ignores_graph(int net) { return net == 1 || net == 2; }

static int find_net(const char *name, size_t size) {
    for (int net = 0; net < SFU__LABEL_NETS; net++) {
        if (strlen(sfu__label_net_names[net]) == size && memcmp(sfu__label_net_names[net], name, size) == 0) {
            return net;
        }
    }
    return -1;
}

static sfu_status fail_unknown(const char *name, size_t size) {
    char quoted[SFU__QUOTE_MAX];
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "%s is not a candidate; expected some of sgcn, linear, mlp, linear+lp, sgcn+lp, fp+mlp, gcn, "
                     "mlp+lp, gcn+lp, separated by commas",
                     sfu__quote(quoted, name, size));
}

sfu_status sfu__label_nets_read(sfu__label_nets *nets, const char *names) {
    bool wanted[SFU__LABEL_NETS] = {false};
    for (const char *name = names, *end; name != NULL; name = *end == ',' ? end + 1 : NULL) {
        end = name + strcspn(name, ",");
        const int net = find_net(name, (size_t)(end - name));
        if (net < 0) {
            return fail_unknown(name, (size_t)(end - name));
        }
        wanted[net] = true;
    }
    nets->count = 0;
    for (int net = 0; net < SFU__LABEL_NETS; net++) {
        if (names == NULL || wanted[net]) {
            nets->net[nets->count++] = net;
        }
    }
    return SFU_OK;
}
