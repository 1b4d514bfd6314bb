"""A headless browser that shows a page: what scripts find in it, and what it reports."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--dump-dom"),
    *("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
)
_MARK = "found-by-the-test"


def browser() -> str:
    """The browser of this machine. Without one the test is skipped, or fails if ALLO_BROWSER is `required`."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        missing = "no browser is here (Debian: apt-get install chromium)"
        if os.environ.get("ALLO_BROWSER") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def asked(page: str, script: str, folder: Path, *, dark: bool = False, width: int = 1280) -> Any:
    """What `script`, the body of a function, finds in a page; the page itself must report nothing and load nothing."""
    put = f'd.textContent = JSON.stringify((() => {{{script}}})()); document.body.append(d);'
    added = f'<script>const d = document.createElement("pre"); d.id = "{_MARK}"; {put}</script>'
    file = folder / "page.html"
    file.write_text(page.replace("</body>", f"{added}</body>"), encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [browser(), *_FLAGS, profile, scheme, f"--window-size={width},800", file.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert not [line for line in ran.stderr.splitlines() if ":CONSOLE" in line]
    shown = ran.stdout.partition(f'<pre id="{_MARK}">')[2].partition("</pre>")[0]
    return json.loads(unescape(shown))
