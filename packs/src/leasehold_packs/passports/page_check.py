"""The page that checks a bundle: by a form that needs no script, or in the browser. Pure."""

from html import escape

from leasehold_packs.passports.page_public import head
from leasehold_packs.passports.translations import Texts
from leasehold_packs.passports.verify import Verdict

#: What the script says, by the names that it knows.
_SAID = ("checking", "good", "bad", "nothing")


def check_page(words: Texts, verdict: str = "") -> str:
    said = " ".join(f'data-{name}="{escape(words.texts[f"check.{name}"])}"' for name in _SAID)
    return (
        f"{head(words, words('check.title'), script='verify.js')}<body><main><h1>{words('check.title')}</h1>"
        f"<p>{words('check.what')}</p>"
        f'<form method="post" action="/v1/passports/verify/file" enctype="multipart/form-data" {said}>'
        f"<label>{words('check.file')} "
        '<input type="file" name="bundle" accept=".zip,application/zip" required></label>'
        f"<button>{words('check.send')}</button><p>{words('check.sent')}</p></form>"
        f'<div id="verdict" role="status">{verdict}</div></main></body></html>'
    )


def verdict_html(words: Texts, verdict: Verdict, *, issuer: str, state: str | None, own_keys: bool) -> str:
    if not verdict.ok:
        lines = "".join(
            f"<li><code>{escape(each.code)}</code> {escape(each.at)} {escape(each.message)}</li>"
            for each in verdict.findings[:100]
        )
        return f'<div class="bad">{words("check.bad")}<ul>{lines}</ul></div>'
    good = words("check.good", issuer_=f"<code>{escape(issuer)}</code>")
    standing = f'<p class="{state}">{words(state)}</p>' if state else ""
    return f'<p class="good">{good} {words("check.own_keys") if own_keys else ""}</p>{standing}'


def nothing_html(words: Texts) -> str:
    return f'<p class="bad">{words("check.nothing")}</p>'
