/* html_prose.c - the subset of Markdown that our own texts use, as HTML: headings, paragraphs, lists, fenced code,
 * tables; `code` and **strong** within lines. All else is text.
 */
#include "html_page.h"

#include <string.h>

typedef enum block { NOTHING, PARAGRAPH, LIST, CODE, INDENTED, TABLE } block;

typedef struct prose {
    sfu__text *html;
    block open;
    bool tables;              /* wanted */
    bool body;                /* of a table: its head is done */
    const char *heading;      /* one without content so far */
    size_t heading_size;      /* */
    int level;                /* */
    block last;               /* the block before, where it began, and the heading that came with it */
    size_t last_start;        /* */
    const char *last_heading; /* */
} prose;

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* The closing mark on the line; NULL: none. */
static const char *find_end(const char *at, const char *end, const char *mark) {
    const size_t size = strlen(mark);
    for (; at + size <= end; at++) {
        if (memcmp(at, mark, size) == 0) {
            return at;
        }
    }
    return NULL;
}

static sfu_status add_line(sfu__text *html, const char *at, const char *end) {
    static const char *const marks[][3] = {{"`", "<code>", "</code>"}, {"**", "<strong>", "</strong>"}};
    sfu_status status = SFU_OK;
    const char *plain = at;
    while (at < end) {
        if (*at == '\\' && end - at > 1 && strchr("\\`*_|#<>[]-", at[1]) != NULL) { /* an escaped mark */
            SFU_TRY(sfu__html_escape(html, plain, (size_t)(at - plain)));
            plain = at + 1;
            at += 2;
            continue;
        }
        const int kind = *at == '`' ? 0 : end - at > 1 && memcmp(at, "**", 2) == 0 ? 1 : -1;
        const size_t size = kind >= 0 ? strlen(marks[kind][0]) : 0;
        const char *close = kind >= 0 ? find_end(at + size, end, marks[kind][0]) : NULL;
        if (close == NULL) {
            at += size > 0 ? size : 1;
            continue;
        }
        SFU_TRY(sfu__html_escape(html, plain, (size_t)(at - plain)));
        SFU_TRY(sfu__text_add(html, marks[kind][1], strlen(marks[kind][1])));
        SFU_TRY(sfu__html_escape(html, at + size, (size_t)(close - at) - size));
        SFU_TRY(sfu__text_add(html, marks[kind][2], strlen(marks[kind][2])));
        at = plain = close + size;
    }
    SFU_TRY(sfu__html_escape(html, plain, (size_t)(end - plain)));
done:
    return status;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static sfu_status close_block(prose *self) {
    static const char *const ends[] = {
        "", "</p>\n", "</li>\n</ul>\n", "</code></pre>\n", "</code></pre>\n", "</tbody>\n</table>\n</div>\n"};
    const block open = self->open;
    self->last = open != NOTHING ? open : self->last;
    self->open = NOTHING;
    if (open == TABLE && !self->body) {
        const sfu_status status = sfu__html(self->html, "</thead>\n<tbody>\n");
        if (status != SFU_OK) {
            return status;
        }
    }
    return sfu__text_add(self->html, ends[open], strlen(ends[open]));
}

/* The page uses the first two levels of headings. */
static sfu_status add_heading(prose *self) {
    sfu_status status = SFU_OK;
    if (self->heading != NULL) {
        SFU_TRY(sfu__html(self->html, self->level > 2 ? "<h4>" : "<h3>"));
        SFU_TRY(add_line(self->html, self->heading, self->heading + self->heading_size));
        SFU_TRY(sfu__html(self->html, self->level > 2 ? "</h4>\n" : "</h3>\n"));
        self->heading = NULL;
    }
done:
    return status;
}

static sfu_status open_block(prose *self, block wanted) {
    static const char table[] = "<div class=\"scroll table\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n"
                                "<table>\n<thead>\n";
    static const char *const starts[] = {"", "<p>", "<ul>\n", "<pre><code>", "<pre><code>", table};
    sfu_status status = SFU_OK;
    if (self->open == wanted) {
        return SFU_OK;
    }
    SFU_TRY(close_block(self));
    self->last_start = self->html->size;
    self->last_heading = self->heading;
    SFU_TRY(add_heading(self));
    SFU_TRY(sfu__text_add(self->html, starts[wanted], strlen(starts[wanted])));
    self->open = wanted;
    self->body = false;
done:
    return status;
}

/* "|---|---:|" */
static bool is_rule(const char *at, const char *end) {
    while (at < end && strchr("|-: ", *at) != NULL) {
        at++;
    }
    return at == end;
}

static sfu_status add_row(prose *self, const char *at, const char *end) {
    sfu_status status = SFU_OK;
    SFU_TRY(open_block(self, TABLE));
    if (is_rule(at, end)) {
        self->body = true;
        SFU_TRY(sfu__html(self->html, "</thead>\n<tbody>\n"));
        goto done;
    }
    SFU_TRY(sfu__html(self->html, "<tr>"));
    for (at++; at < end;) {
        const char *next = memchr(at, '|', (size_t)(end - at));
        next = next != NULL ? next : end;
        const char *from = at, *to = next;
        while (from < to && *from == ' ') {
            from++;
        }
        while (to > from && to[-1] == ' ') {
            to--;
        }
        SFU_TRY(sfu__html(self->html, self->body ? "<td>" : "<th scope=\"col\">"));
        SFU_TRY(add_line(self->html, from, to));
        SFU_TRY(sfu__html(self->html, self->body ? "</td>" : "</th>"));
        at = next + 1;
    }
    SFU_TRY(sfu__html(self->html, "</tr>\n"));
done:
    return status;
}

/* Skips a table, and the paragraph that introduces it. */
static sfu_status skip_row(prose *self) {
    sfu_status status = SFU_OK;
    SFU_TRY(close_block(self));
    if (self->last == PARAGRAPH) {
        self->html->size = self->last_start;
        self->heading = self->last_heading;
        SFU_TRY(sfu__text_add(self->html, "", 0));
    }
    self->last = TABLE;
done:
    return status;
}

static sfu_status add_item(prose *self, const char *at, const char *end) {
    sfu_status status = SFU_OK;
    const bool first = self->open != LIST;
    SFU_TRY(open_block(self, LIST));
    SFU_TRY(sfu__html(self->html, first ? "<li>" : "</li>\n<li>"));
    SFU_TRY(add_line(self->html, at, end));
done:
    return status;
}

static sfu_status take_heading(prose *self, const char *at, const char *end) {
    self->level = 0;
    while (at < end && *at == '#') {
        self->level++;
        at++;
    }
    while (at < end && *at == ' ') {
        at++;
    }
    self->heading = self->level > 1 ? at : NULL; /* the first level is the title of the text */
    self->heading_size = (size_t)(end - at);
    const sfu_status status = close_block(self);
    self->last = NOTHING;
    return status;
}

static bool begins(const char *at, const char *end, const char *text) {
    return (size_t)(end - at) >= strlen(text) && memcmp(at, text, strlen(text)) == 0;
}

static sfu_status add_text(prose *self, const char *at, const char *end) {
    sfu_status status = SFU_OK;
    const bool goes_on = self->open == PARAGRAPH || self->open == LIST;
    if (!goes_on) {
        SFU_TRY(open_block(self, PARAGRAPH));
    } else {
        SFU_TRY(sfu__text_add(self->html, "\n", 1));
    }
    SFU_TRY(add_line(self->html, at, end));
done:
    return status;
}

static sfu_status take_line(prose *self, const char *at, const char *end) {
    if (begins(at, end, "```")) {
        return self->open == CODE ? close_block(self) : open_block(self, CODE);
    }
    const bool indented = begins(at, end, "    ") && (self->open == NOTHING || self->open == INDENTED);
    if (indented) {
        const sfu_status status = open_block(self, INDENTED);
        if (status != SFU_OK) {
            return status;
        }
        at += strspn(at, " ");
    }
    if (self->open == CODE || indented) {
        const sfu_status status = sfu__html_escape(self->html, at, (size_t)(end - at));
        return status == SFU_OK ? sfu__text_add(self->html, "\n", 1) : status;
    }
    if (at == end) {
        return close_block(self);
    }
    if (begins(at, end, "|")) {
        return self->tables ? add_row(self, at, end) : skip_row(self);
    }
    if (begins(at, end, "#")) {
        return take_heading(self, at, end);
    }
    if (begins(at, end, "- ")) {
        return add_item(self, at + 2, end);
    }
    if (begins(at, end, "  - ") && self->open == LIST) {
        return add_item(self, at + 4, end);
    }
    return add_text(self, at, end);
}

sfu_status sfu__html_prose(sfu__text *html, const char *markdown, bool tables) {
    sfu_status status = SFU_OK;
    prose self = {.html = html, .tables = tables};
    for (const char *at = markdown; *at != '\0';) {
        const char *end = at + strcspn(at, "\n");
        SFU_TRY(take_line(&self, at, end));
        at = *end == '\n' ? end + 1 : end;
    }
    SFU_TRY(close_block(&self));
done:
    return status;
}
