/* table_html.c - a table in HTML, in a box that scrolls on its own. With one row of headings it can be sorted. */
#include "text_table.h"

#include "html_write.h"

#include <math.h>

static sfu_status put_head(sfu__text *html, const sfu__table_cell *cell, const char *class, bool sorts) {
    return sorts ? sfu__html(
                       html,
                       "<th scope=\"col\" class=\"%s\" aria-sort=\"none\"><button type=\"button\">%s</button></th>\n",
                       class, cell->text)
                 : sfu__html(html, "<th scope=\"col\" class=\"%s\">%s</th>\n", class, cell->text);
}

static sfu_status put_content(sfu__text *html, const sfu__table_cell *cell) {
    sfu_status status = SFU_OK;
    const char *shown = cell->kind == SFU__CELL_MISSING ? "" : cell->full != NULL ? cell->full : cell->text;
    SFU_TRY(sfu__html(html,
                      cell->emphasis == SFU__BEST     ? "<b>%s</b>"
                      : cell->emphasis == SFU__SECOND ? "<u>%s</u>"
                      : cell->kind == SFU__CELL_CODE  ? "<code>%s</code>"
                                                      : "%s",
                      shown));
    SFU_TRY(sfu__html(html, "%s", cell->suffix != NULL ? cell->suffix : ""));
    SFU_TRY(sfu__html(html, cell->marked ? "*" : ""));
    if (cell->note != NULL) {
        SFU_TRY(sfu__html(html, "<small>%s</small>", cell->note));
    }
done:
    return status;
}

/* A number carries the value that it is sorted by. */
static sfu_status open_number(sfu__text *html, const sfu__table_cell *cell, const char *class) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(html, "<td class=\"n%s%s\" data-v=\"", class[0] != '\0' ? " " : "", class));
    if (isfinite(cell->value)) {
        SFU_TRY(sfu__text_number(html, cell->value));
    }
    SFU_TRY(sfu__html(html, "\">"));
done:
    return status;
}

static sfu_status put_cell(sfu__text *html, const sfu__text_table *table, int i) {
    sfu_status status = SFU_OK;
    const sfu__table_cell *cell = &table->cells[i];
    const int column = i % sfu__text_table_width(table);
    const char *class = cell->class != NULL ? cell->class : "";
    const bool number = table->align.bytes[column] == 'r';
    if (column == 0) {
        SFU_TRY(sfu__html(html, "<th scope=\"row\" class=\"name\" title=\"%s\">",
                          cell->full != NULL ? cell->full : cell->text));
    } else if (number) {
        SFU_TRY(open_number(html, cell, class));
    } else {
        SFU_TRY(sfu__html(html, cell->kind == SFU__CELL_CODE ? "<td class=\"command%s%s\">" : "<td class=\"name%s%s\">",
                          class[0] != '\0' ? " " : "", class));
    }
    SFU_TRY(put_content(html, cell));
    SFU_TRY(sfu__html(html, column == 0 ? "</th>" : "</td>"));
done:
    return status;
}

sfu_status sfu__table_html(sfu__text *html, const sfu__text_table *table) {
    sfu_status status = SFU_OK;
    const int columns = sfu__text_table_width(table), heads = table->head_rows > 0 ? table->head_rows : 1;
    const char *caption = table->caption.size > 0 ? table->caption.bytes : "";
    SFU_TRY(sfu__html(html, "<div class=\"scroll table tall\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n",
                      caption));
    const char *class = table->class != NULL ? table->class : "";
    SFU_TRY(
        sfu__html(html, "<table class=\"%s%s%s\">\n", heads == 1 ? "sort" : "", class[0] != '\0' ? " " : "", class));
    SFU_TRY(sfu__html(html, "<caption><span>%s</span></caption>\n<thead>\n", caption));
    for (int i = 0; i < heads * columns && i < table->count; i++) {
        const int column = i % columns;
        SFU_TRY(sfu__html(html, column == 0 ? "<tr>\n" : ""));
        SFU_TRY(put_head(html, &table->cells[i],
                         column == 0                         ? "row"
                         : table->align.bytes[column] == 'r' ? "n"
                                                             : "t",
                         heads == 1));
        SFU_TRY(sfu__html(html, column + 1 == columns ? "</tr>\n" : ""));
    }
    SFU_TRY(sfu__html(html, "</thead>\n<tbody>\n"));
    for (int i = heads * columns; i < table->count; i++) {
        SFU_TRY(sfu__html(html, i % columns == 0 ? "<tr>" : ""));
        SFU_TRY(put_cell(html, table, i));
        SFU_TRY(sfu__html(html, (i + 1) % columns == 0 ? "</tr>\n" : ""));
    }
    SFU_TRY(sfu__html(html, "</tbody>\n</table>\n</div>\n"));
done:
    return status;
}
