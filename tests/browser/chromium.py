# SPDX-License-Identifier: MIT
"""The browser that shows the pages, and what a page did meanwhile that it should not."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserType, ConsoleMessage, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = (
    "no Chromium is here: `apt-get install chromium`, or, where there is no such package, "
    "`playwright install chromium` in this session's environment"
)
HERE = Path(__file__).parent
PROBES = "\n".join((HERE / name).read_text("utf-8") for name in ("probes.js", "drawings.js"))
Scheme = Literal["light", "dark"]
HEIGHT = 900
"""Height of the window, in CSS pixels."""
_WATCH = """
window.__refused = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.__refused.push(`${event.effectiveDirective} refused ${event.blockedURI} ${event.sample}`);
});
"""


@dataclass(frozen=True)
class Look:
    """How a reader looks at a page: the theme, forced colours or not, the window's width."""

    scheme: Scheme
    width: int
    forced: bool = False

    def __str__(self) -> str:
        """Name the look as a failed test tells it."""
        return f"{self.scheme}{', forced colours' if self.forced else ''}, {self.width} px"


THEMES: tuple[tuple[Scheme, bool], ...] = (("light", False), ("dark", False), ("dark", True))
LOOKS = [Look(scheme, width, forced) for scheme, forced in THEMES for width in (320, 1280)]


@dataclass
class Shown:
    """A page in the browser, and what it was seen to do.

    Parameters
    ----------
    asked
        Addresses that it asked for.
    said
        Errors and warnings on the console, exceptions, dialogs.
    """

    page: Page
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def look(self, look: Look) -> None:
        """Look at it in another way."""
        forced: Literal["active", "none"] = "active" if look.forced else "none"
        self.page.emulate_media(color_scheme=look.scheme, forced_colors=forced)
        self.page.set_viewport_size({"width": look.width, "height": HEIGHT})

    def probe(self, name: str, *arguments: object) -> Any:  # noqa: ANN401 - what the probe returns
        """Return what one of the functions in `PROBES` says of the page."""
        return self.page.evaluate(f"(given) => {{{PROBES}\nreturn {name}(...given);}}", arguments)

    def changes(self, act: Callable[[], object]) -> dict[str, Any]:
        """Do something, and return the entries of the page's `state` that changed."""
        before, _, after = self.probe("state"), act(), self.probe("state")
        names = {**before, **after}
        return {name: after.get(name) for name in names if before.get(name) != after.get(name)}

    def sets(
        self, label: str, text: str | None = None, *, value: bool | None = None
    ) -> dict[str, Any]:
        """Set the visible control with this label, or click its link or button; return changes."""
        pressed = self.page.locator(f":is(a, button, summary):visible:has-text('{label}')")
        field = self.page.locator(":is(input, select):visible").and_(self.page.get_by_label(label))
        if value is not None:
            return self.changes(lambda: field.first.set_checked(value))
        if text is None:
            return self.changes(pressed.first.click)
        if field.first.evaluate("field => field.matches('select')"):
            return self.changes(lambda: field.first.select_option(text))

        def fill() -> None:
            field.first.fill(text)
            field.first.press("Enter")

        return self.changes(fill)

    def refused(self) -> list[str]:
        """Return what the page's policy refused it."""
        return [*self.page.evaluate("window.__refused ?? []")]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.said.append(f"console {message.type}: {message.text}")


_IDLE: dict[tuple[Browser, bool], list[Shown]] = {}
"""Windows of each browser, with or without JavaScript, that show nothing now."""


def tell(faults: list[str], look: Look | None = None) -> str:
    """List faults for a failed test, a line each, and not more than a person reads."""
    lines = [f"{look}: {fault}" if look else fault for fault in faults[:20]]
    rest = len(faults) - len(lines)
    return "\n".join(["", *lines, *([f"and {rest} more"] if rest else [])])


def path() -> str | None:
    """Return where a Chromium lies, unless there is only Playwright's own."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def there() -> bool:
    """Return whether any Chromium is there."""
    with sync_playwright() as playwright:
        return path() is not None or Path(playwright.chromium.executable_path).exists()


def launch(kind: BrowserType) -> Browser:
    """Start the browser."""
    return kind.launch(executable_path=path())


@contextmanager
def shown(
    browser: Browser, address: str, look: Look, *, script: bool = True, new: bool = False
) -> Iterator[Shown]:
    """Open an address as a reader with this look does, with or without JavaScript.

    A window in which nothing went wrong shows another page afterwards, since a new one takes
    several times as long as the page. Who leaves a page by the keyboard needs a new one: in a used
    one Tab was seen not to leave the page at its end.
    """
    idle = _IDLE.setdefault((browser, script), [])
    one = idle.pop() if idle and not new else _window(browser, script=script)
    one.look(look)
    one.page.goto(address)
    try:
        yield one
    except BaseException:
        one.page.context.close()
        raise
    if new:
        one.page.context.close()
        return
    one.page.emulate_media(media="null")
    one.page.goto("about:blank")  # else a page with another fragment would go on as it is
    one.asked.clear()
    one.said.clear()
    idle.append(one)


def _window(browser: Browser, *, script: bool) -> Shown:
    """Open a window, and listen to what pages in it do."""
    context = browser.new_context(java_script_enabled=script)
    context.add_init_script(_WATCH)
    one = Shown(context.new_page())
    one.page.on("request", lambda request: one.asked.append(request.url))
    one.page.on("console", one._hear)
    one.page.on("pageerror", lambda error: one.said.append(f"exception: {error}"))

    def dismiss(dialog: Any) -> None:  # noqa: ANN401 - Playwright's dialog
        one.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    one.page.on("dialog", dismiss)
    return one
