/* net_template.c - compositions with open values ($names), and the settings of a named network. */
#include "net_int.h"

#include <string.h>

bool sfu__variable_next(sfu__variable *variable, const char *from) {
    sfu__reader reader = sfu__reader_start(from);
    while (reader.token.kind != SFU__TOKEN_END) {
        const sfu__token *token = &reader.token;
        if (token->kind == SFU__TOKEN_WORD && token->bytes[0] == '$') {
            *variable = (sfu__variable){token->place, token->bytes + 1, token->size - 1};
            return true;
        }
        sfu__reader_step(&reader);
    }
    return false;
}

bool sfu__net_named(sfu__net_given *given, const char *text, int32_t k) {
    sfu__reader reader = sfu__reader_start(text);
    const sfu__named_net *named = sfu__named_find(&reader.token);
    sfu__reader_step(&reader);
    if (named == NULL) {
        return false;
    }
    *given = (sfu__net_given){.name = sfu__named_name(named), .lpnn = sfu__named_is_lpnn(named)};
    if (given->lpnn) {
        return reader.token.kind == SFU__TOKEN_END || reader.token.kind == '(';
    }
    given->hidden = sfu__named_has_hidden(named, k);
    given->k = sfu__named_has_k(named);
    return reader.token.kind == SFU__TOKEN_END;
}

const char *sfu__lpnn_number(int i) {
    for (int row = 0; row < SFU__LPNN_OPTIONS; row++) {
        if (sfu__lpnn_options[row].type == SFU__OPTION_NUMBER && i-- == 0) {
            return sfu__lpnn_options[row].name;
        }
    }
    return NULL;
}

/* Whether the options of an lpnn include this one, and whether there are any. */
static bool gives(const char *text, const char *option, bool *any) {
    sfu__reader reader = sfu__reader_start(text);
    *any = false;
    while (reader.token.kind != SFU__TOKEN_END) {
        const bool found = sfu__token_is(&reader.token, option);
        sfu__reader_step(&reader);
        *any = *any || reader.token.kind == '=';
        if (found && reader.token.kind == '=') {
            return true;
        }
    }
    return false;
}

bool sfu__lpnn_gives(const char *text, const char *option) {
    bool any = false;
    return gives(text, option, &any);
}

sfu_status sfu__lpnn_open(sfu__text *opened, const char *text, const char *option) {
    bool any = false;
    (void)gives(text, "", &any);
    const char *bracket = strrchr(text, ')');
    if (strchr(text, '(') == NULL) {
        return sfu__text_format(opened, "lpnn(%s=$%s)", option, option);
    }
    if (!any || bracket == NULL) { /* the parser will report the error */
        return sfu__text_format(opened, "%s", text);
    }
    return sfu__text_format(opened, "%.*s, %s=$%s%s", (int)(bracket - text), text, option, option, bracket);
}
