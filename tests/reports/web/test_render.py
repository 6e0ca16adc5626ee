# SPDX-License-Identifier: MIT
"""Pages run the scripts they are made with, and no other."""

import hashlib
import html
import re
from base64 import b64encode
from pathlib import Path

from frobench.reports.web.render import render


def _page(*scripts: Path) -> str:
    names = [str(script) for script in scripts]
    return render("base.html", names, title="A page", description="A page", home="index.html")


def test_a_page_runs_the_scripts_it_is_made_with_by_their_hashes(tmp_path: Path) -> None:
    programs = ["const a = '<&';\n", "const b = a;\n"]
    files = [tmp_path / f"{place}.js" for place in range(2)]
    for file, program in zip(files, programs, strict=True):
        file.write_text(program, encoding="utf-8")
    page = _page(*files)
    assert re.findall(r"<script>(.*?)</script>", page, re.DOTALL) == programs
    hashes = [b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in programs]
    sources = " ".join(f"'sha256-{one}'" for one in hashes)
    assert f"; script-src {sources};" in html.unescape(page)
    assert page.rindex("<script>") > page.index("</footer>")


def test_a_page_without_scripts_runs_none() -> None:
    page = _page()
    assert "default-src 'none'" in html.unescape(page)
    assert "<script" not in page
    assert "script-src" not in page


def test_scripts_come_without_their_comments_but_with_their_licence(tmp_path: Path) -> None:
    file = tmp_path / "it.js"
    licence, kept = "// SPDX-License-Identifier: MIT\n", "const a = 'b // c'; // d\n"
    file.write_text(f"{licence}/** What\n * it is. */\n  // why\n{kept}  /* e */\n", "utf-8")
    assert re.findall(r"<script>(.*?)</script>", _page(file), re.DOTALL) == [licence + kept]
