/* space_presets.c - the named search spaces; docs/reference/space.md has their sources. */
#include "space_int.h"
#include "word_list.h"

#include <string.h>
#include <strings.h>

/* The networks of `any` without net={...}: the seven of the paper, and with those without the graph. */
static const char paper_nets[] = "net={gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp}";
static const char all_nets[] = "net={gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp,mlp,linear}";

static const struct {
    const char *name, *text;
    bool paper;
} presets[] = {
    {"paper",
     "lr=(0,1) dropout=(0,1) weight_decay=(0,1) hidden={8,16,32,64,128} "
     "mu_g=(0,1) mu_l=(0,1) mu_u=(0,1) lambda_l=(0,1) lambda_u=(0,1)",
     true},
    {"practical",
     "lr=log(0.003,0.3) dropout=(0,0.8) weight_decay=log(1e-5,0.01) hidden={16,32,64,128} "
     "mu_g=log(0.001,10) mu_l=log(0.001,10) mu_u=log(0.001,10) lambda_l=log(0.0001,1) lambda_u=log(0.0001,1)",
     false},
};
enum { PRESETS = sizeof presets / sizeof presets[0], NONE = -1 };

static sfu_status refuse_preset(const char *text, const char *position, size_t size) {
    const char *names[PRESETS + 1] = {NULL};
    char quoted[SFU__QUOTE_MAX];
    for (int i = 0; i < PRESETS; i++) {
        names[i] = presets[i].name;
    }
    const char *near = sfu__nearest_word(position, size, names);
    return sfu__fail_parse(text, position, "%s is not a space; expected %s, or ranges such as lr=(0,1) hidden={16,64}",
                           sfu__quote(quoted, position, size), near != NULL ? near : "paper, practical");
}

/* A text that begins with a name without = begins with a preset, which is skipped. */
static sfu_status find_preset(int *found, sfu__scanner *scanner) {
    *found = NONE;
    sfu__scan_blanks(scanner);
    const size_t size = sfu__scan_name(scanner);
    sfu__scanner behind = {scanner->text, scanner->p + size};
    sfu__scan_blanks(&behind);
    if (size == 0 || *behind.p == '=') {
        return SFU_OK;
    }
    for (int i = 0; i < PRESETS; i++) {
        if (strlen(presets[i].name) == size && strncasecmp(presets[i].name, scanner->p, size) == 0) {
            *found = i;
        }
    }
    if (*found == NONE) {
        return refuse_preset(scanner->text, scanner->p, size);
    }
    scanner->p += size;
    return SFU_OK;
}

sfu_status sfu__list_make(sfu__range_list *list, const char *text) {
    sfu_status status = SFU_OK;
    sfu__scanner scanner = {text, text};
    int preset = NONE;
    if (strlen(text) > SFU__SPACE_BYTES) {
        return sfu__fail_parse(text, text + SFU__SPACE_BYTES, "the space is longer than %d bytes", SFU__SPACE_BYTES);
    }
    SFU_TRY(find_preset(&preset, &scanner));
    const char *nets = preset != NONE && presets[preset].paper ? paper_nets : all_nets;
    SFU_TRY(sfu__list_read(list, nets, nets, true));
    if (preset != NONE) {
        SFU_TRY(sfu__list_read(list, presets[preset].text, presets[preset].text, true));
        list->paper = presets[preset].paper;
    }
    SFU_TRY(sfu__list_read(list, text, scanner.p, false));
done:
    return status;
}
