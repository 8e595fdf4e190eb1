"""What bin/site changes in pages written for GitHub: alerts, and links to files outside of docs."""

import logging
import pathlib
import re

HOME = pathlib.Path(__file__).resolve().parent.parent
DOCS = HOME / "docs"
LOG = logging.getLogger("mkdocs.hooks.site")

ALERT = re.compile(r"^> \[!(\w+)\]\n((?:>.*\n?)+)", re.MULTILINE)
FENCE = re.compile(r"(^ *```.*?^ *```)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, **_):
    folder = (DOCS / page.file.src_uri).parent

    def outside(match):
        target = (folder / match[1]).resolve()
        if target.is_relative_to(DOCS) and not target.is_dir():
            return match[0]
        if not target.exists():
            LOG.warning("%s: there is no file %s", page.file.src_uri, match[1])
        kind = "tree" if target.is_dir() else "blob"
        return f"]({config.extra["repository"]}/{kind}/main/{target.relative_to(HOME)}{match[2] or ''})"

    def alert(match):
        text = re.sub(r"^> ?", "    ", match[2], flags=re.MULTILINE)
        return f"!!! {match[1].lower()}\n\n{text}"

    parts = FENCE.split(markdown)
    parts[::2] = [ALERT.sub(alert, LINK.sub(outside, part)) for part in parts[::2]]
    return "".join(parts)
