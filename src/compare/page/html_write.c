#include "html_write.h"

#include <assert.h>
#include <string.h>

/* What a character is written as; NULL: as itself. */
static const char *entity_of(char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return ((unsigned char)c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? "\uFFFD" : NULL;
    }
}

sfu_status sfu__html_escape(sfu__text *html, const char *bytes, size_t size) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_add(html, "", 0));
    for (size_t i = 0; i < size;) {
        const size_t step = sfu__utf8_size(bytes + i, size - i);
        const char *entity = step == 1                                  ? entity_of(bytes[i])
                             : sfu__shown_size(bytes + i, size - i) > 0 ? NULL
                                                                        : "\uFFFD";
        SFU_TRY(entity != NULL ? sfu__text_add(html, entity, strlen(entity)) : sfu__text_add(html, bytes + i, step));
        i += step > 0 ? step : 1;
    }
done:
    return status;
}

sfu_status sfu__html_put(sfu__text *html, const char *const *markup_and_texts) {
    sfu_status status = SFU_OK;
    const char *const *text = markup_and_texts + 1;
    for (const char *at = markup_and_texts[0]; *at != '\0';) {
        const size_t plain = strcspn(at, "%");
        SFU_TRY(sfu__text_add(html, at, plain));
        at += plain;
        if (at[0] == '%' && at[1] == 's') {
            assert(*text != NULL);
            SFU_TRY(sfu__html_escape(html, *text, strlen(*text)));
            text++;
        } else if (at[0] == '%') {
            SFU_TRY(sfu__text_add(html, "%", 1));
        }
        at += at[0] == '\0' ? 0 : at[1] == '\0' ? 1 : 2;
    }
    assert(*text == NULL);
done:
    return status;
}
