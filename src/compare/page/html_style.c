/* html_style.c - the start and the end of a page, with its style sheet and its script. They load no file, font or
 * address. */
#include "html_page.h"

#include <stddef.h>

/* The tones of plots (chart.h) are written into their attributes, where a style sheet can find and replace them. */
static const char *const style[] = {
    ":root{color-scheme:light dark;--page:#fff;--ink:#1c2024;--soft:#5b646d;--line:#dde1e5;--stripe:#f6f7f9;",
    "--link:#0b5cad;--mark:#0b5cad;--good:#0a6b4f;--up:#0b5cad;--down:#a8480b;--code:#f1f3f5}",
    "@media (prefers-color-scheme:dark){:root{--page:#14171a;--ink:#e4e7ea;--soft:#a3acb5;--line:#343b42;",
    "--stripe:#1b1f24;--link:#7cb7f2;--mark:#7cb7f2;--good:#54c8a2;--up:#7cb7f2;--down:#f0a065;--code:#20252b}}",
    "*{box-sizing:border-box}",
    "html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}",
    "@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}",
    "body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:72rem;background:var(--page);color:var(--ink);",
    "font:1rem/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}",
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 .5rem;overflow-wrap:anywhere}",
    "h2{font-size:1.3rem;margin:2.5rem 0 .75rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}",
    "h3{font-size:1.05rem;margin:1.5rem 0 .5rem}",
    "p,ul,ol{max-width:46rem}",
    "a{color:var(--link)}",
    ":focus-visible{outline:3px solid var(--mark);outline-offset:2px;border-radius:2px}",
    ".skip{position:absolute;left:-99rem}",
    ".skip:focus{left:1rem;top:.5rem;background:var(--page);padding:.25rem .5rem}",
    "nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:1rem 0 0;",
    "padding:0;max-width:none}",
    "nav a{display:inline-block;padding:.3rem 0}",
    "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1.25rem;margin:0}",
    "dt{color:var(--soft)}",
    "dd{margin:0;overflow-wrap:anywhere}",
    "@media (max-width:36rem){dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin-bottom:.6rem}}",
    "code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace;font-size:.9em;",
    "background:var(--code);border-radius:4px}",
    "code{padding:.1em .3em;overflow-wrap:anywhere}",
    "pre{padding:.75rem 1rem;overflow-x:auto}",
    "pre code{padding:0;background:none;overflow-wrap:normal}",
    ".scroll{overflow-x:auto;max-width:100%}",
    ".table{margin:1rem 0 1.5rem;border:1px solid var(--line);border-radius:6px}",
    ".tall{max-height:48rem;overflow-y:auto}",
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}",
    "caption{text-align:left;padding:.6rem .75rem;color:var(--soft);font-size:.92rem}",
    "th,td{padding:.4rem .75rem;text-align:left;vertical-align:top;white-space:nowrap}",
    "thead th{padding:0;border-bottom:1px solid var(--line);background:var(--stripe);position:sticky;top:0}",
    "thead button{font:inherit;font-weight:600;color:inherit;background:none;border:0;width:100%;cursor:pointer;",
    "padding:.5rem .75rem;text-align:inherit;white-space:nowrap}",
    "thead button:hover{color:var(--mark)}",
    "thead button:focus-visible{outline-offset:-3px}",
    "thead button::after{content:'\\2195';opacity:.35;padding-left:.35em;font-weight:400}",
    "th[aria-sort=ascending] button::after{content:'\\2191';opacity:1;color:var(--mark)}",
    "th[aria-sort=descending] button::after{content:'\\2193';opacity:1;color:var(--mark)}",
    "caption span{position:sticky;left:.75rem;display:inline-block;max-width:calc(100vw - 4.5rem)}",
    "tbody tr{background:var(--page)}",
    "tbody th{font-weight:500;position:sticky;left:0;background:inherit}",
    "thead th.row{left:0;z-index:1}",
    "tbody tr:nth-child(even){background:var(--stripe)}",
    ".n{text-align:right}",
    ".wrap td:not(.n),.wrap thead button{white-space:normal}",
    "td.command{min-width:18rem}",
    "td.command code{user-select:all}",
    ".copy{font:inherit;font-size:.85rem;color:var(--link);background:none;border:1px solid var(--line);",
    "border-radius:4px;padding:.1rem .5rem;margin-left:.5rem;cursor:pointer}",
    "td small{display:block;color:var(--soft);font-weight:400}",
    ".name{max-width:22rem;overflow:hidden;text-overflow:ellipsis}",
    "@media (max-width:36rem){.name{max-width:8rem}}",
    ".agrees{color:var(--good)}.higher{color:var(--up)}.lower{color:var(--down)}",
    ".plots{display:grid;gap:1.5rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr))}",
    "figure{margin:0;min-width:0}",
    "figcaption{font-size:.85rem;color:var(--soft);overflow-wrap:anywhere}",
    ".answer svg{display:block;width:100%;max-width:36rem;height:auto;font-size:14px}",
    ".answer figcaption{font-size:1rem;font-weight:600;color:var(--ink)}",
    ".answer text{fill:var(--ink)}",
    ".answer .net{text-anchor:end}.answer .tick{text-anchor:middle;fill:var(--soft);font-size:12px}",
    ".answer .size{fill:var(--soft)}",
    ".answer .value{font-variant-numeric:tabular-nums}",
    ".answer .grid{stroke:var(--line)}",
    ".answer .band{fill:var(--mark);opacity:.12}",
    ".answer .interval{stroke:var(--soft);stroke-width:3}",
    ".answer .mean{fill:var(--soft);stroke:var(--page)}",
    ".answer .split{fill:none;stroke:var(--soft);opacity:.7}",
    ".answer .top .interval{stroke:var(--mark)}.answer .top .mean{fill:var(--mark)}",
    ".answer .top .split{stroke:var(--mark)}.answer .top .net{font-weight:600}",
    ".plot svg{display:block;width:100%;min-width:20rem;max-width:44rem;height:auto}",
    ".plot svg g{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}",
    ".plot [fill='rgb(118,118,118)']{fill:var(--ink)}",
    ".plot [stroke='rgb(118, 118, 118)']{stroke:var(--soft)}",
    ".plot [stroke='rgb(180, 180, 180)']{stroke:var(--line)}",
    ".warning{color:var(--down)}",
    "h4{margin:1.25rem 0 .25rem}",
    "footer{margin-top:3rem;color:var(--soft);font-size:.92rem}",
    "@media print{.tall{max-height:none}nav,.skip{display:none}}",
    NULL};

/* Sorts a table by the data-v of its cells, else by their text; cells without a value come last. Copies commands. */
static const char *const script[] = {
    "'use strict';",
    "document.querySelectorAll('table.sort').forEach(function (table) {",
    "  var heads = Array.from(table.tHead.rows[0].cells), body = table.tBodies[0];",
    "  function value(row, i) {",
    "    var cell = row.cells[i], v = cell.getAttribute('data-v');",
    "    return v === null ? cell.textContent.trim() : v === '' ? null : Number(v);",
    "  }",
    "  function order(a, b) {",
    "    return typeof a === 'number' && typeof b === 'number' ? a - b",
    "      : String(a).localeCompare(String(b), 'en', {numeric: true});",
    "  }",
    "  heads.forEach(function (head, i) {",
    "    head.querySelector('button').addEventListener('click', function () {",
    "      var up = head.getAttribute('aria-sort') !== 'ascending';",
    "      var rows = Array.from(body.rows).map(function (row) { return [value(row, i), row]; });",
    "      rows.sort(function (a, b) {",
    "        if (a[0] === null || b[0] === null) { return (a[0] === null) - (b[0] === null); }",
    "        return up ? order(a[0], b[0]) : order(b[0], a[0]);",
    "      });",
    "      heads.forEach(function (other) { other.setAttribute('aria-sort', 'none'); });",
    "      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');",
    "      rows.forEach(function (row) { body.appendChild(row[1]); });",
    "    });",
    "  });",
    "});",
    "document.querySelectorAll('td.command').forEach(function (cell) {",
    "  var code = cell.querySelector('code'), button = document.createElement('button');",
    "  button.type = 'button';",
    "  button.className = 'copy';",
    "  button.textContent = 'Copy';",
    "  button.addEventListener('click', function () {",
    "    getSelection().selectAllChildren(code);",
    "    button.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';",
    "  });",
    "  cell.appendChild(button);",
    "});",
    NULL};

static sfu_status add_lines(sfu__text *html, const char *const *lines) {
    sfu_status status = SFU_OK;
    for (; *lines != NULL; lines++) {
        SFU_TRY(sfu__text_format(html, "%s\n", *lines));
    }
done:
    return status;
}

/* The policy forbids to load anything, whatever else is in the page. */
sfu_status sfu__html_start(sfu__text *html, const char *command, const char *title) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(html,
                      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"generator\" content=\"sfumato %s\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                      "'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                      "<title>%s</title>\n<style>\n",
                      command, title));
    SFU_TRY(add_lines(html, style));
    SFU_TRY(sfu__html(html, "</style>\n</head>\n"));
done:
    return status;
}

sfu_status sfu__html_end(sfu__text *html) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__html(html, "<script>\n"));
    SFU_TRY(add_lines(html, script));
    SFU_TRY(sfu__html(html, "</script>\n</body>\n</html>\n"));
done:
    return status;
}
