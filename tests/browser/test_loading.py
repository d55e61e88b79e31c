"""Nothing moves while a page comes, nor when what was far from the window is drawn."""

import pytest
from playwright.sync_api import Page, expect

from benchmarks.page import SAMPLE_PAGES, SHIFT
from browser_pages import BASE, address, settle

# The sum of Lighthouse's layout shifts.
SHIFTS = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) sum += each.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 500);
})"""


@pytest.mark.parametrize("url", SAMPLE_PAGES, ids=lambda url: url or "home")
def test_nothing_moves_while_a_page_comes(reader, url):
    slow = reader.context.new_cdp_session(reader)
    line = {"latency": 100, "downloadThroughput": 200_000, "uploadThroughput": 100_000}
    slow.send("Network.emulateNetworkConditions", {"offline": False, **line})
    reader.goto(address(url))
    settle(reader)
    assert reader.evaluate(SHIFTS) <= SHIFT


# Counts the tables that scripts insert or move after the page was parsed.
COUNT_MOVED_TABLES = """
window.movedTables = 0;
addEventListener("DOMContentLoaded", () => new MutationObserver((records) => {
  for (const { addedNodes } of records) {
    for (const node of addedNodes) movedTables += node instanceof HTMLTableElement;
  }
}).observe(document.querySelector("article"), { childList: true, subtree: true }));
"""


@pytest.mark.parametrize("width", [390])
def test_no_script_wraps_a_table(reader: Page, home):
    reader.add_init_script(COUNT_MOVED_TABLES)
    reader.goto(f"{home}masks/")
    settle(reader)
    reader.wait_for_timeout(500)  # Material's script wraps tables in tasks of their own
    tables = reader.locator("article table:not([class])")
    assert tables.count() == reader.locator(".md-typeset__table > table").count() > 2
    assert reader.evaluate("movedTables") == 0


# Each block's height while it isn't drawn, less its height when it is.
HEIGHTS = """() => [...document.querySelectorAll(".highlight:not(.annotate) > pre > code[style]")]
  .filter((code) => !code.closest("details"))
  .map((code) => {
    const heights = ["hidden", "visible"].map((shown) => {
      code.style.contentVisibility = shown;
      code.style.overflowX = "hidden"; // without the bar, if any
      return code.getBoundingClientRect().height;
    });
    return heights[0] - heights[1];
  })"""


@pytest.mark.parametrize("name", ["positional-encoding", "labs/attention-by-hand", "data"])
def test_code_that_is_not_drawn_yet_has_its_room_to_the_pixel(reader: Page, home, name):
    reader.goto(f"{home}{name}/")
    wrong = reader.evaluate(HEIGHTS)
    assert wrong and max(map(abs, wrong)) < 1, wrong


def test_a_link_to_a_heading_far_below_leads_to_it(reader: Page):
    reader.goto(f"{BASE}positional-encoding/#exercises")
    settle(reader)
    top = reader.evaluate("document.getElementById('exercises').getBoundingClientRect().top")
    assert 0 < top < 140


# Notes which elements get a tooltip or a folding handler in which task; a microtask ends a task.
RECORD_SETUP_TASKS = """() => {
  window.setups = [];
  let current = null;
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (...args) {
    if (this instanceof Element && this.matches("article :is([title], .footnote-ref)")) {
      if (!current) {
        setups.push((current = new Set()));
        queueMicrotask(() => { current = null; });
      }
      current.add(this);
    }
    return add.apply(this, args);
  };
}"""
# Every element with a tooltip, whether its setup has already taken the title or not.
WITH_TOOLTIP = "article :is([title]:not(svg *), .footnote-ref)"


@pytest.mark.parametrize("width", [390])
def test_the_theme_sets_up_a_page_in_short_tasks(reader: Page, home):
    reader.add_init_script(f"({RECORD_SETUP_TASKS})()")
    reader.goto(f"{home}attention/")
    expected = reader.locator(WITH_TOOLTIP).count()
    assert expected > 80
    total = "setups.reduce((sum, elements) => sum + elements.size, 0)"
    reader.wait_for_function(f"(expected) => {total} >= expected", arg=expected)
    assert reader.evaluate("Math.max(...setups.map((elements) => elements.size))") == 1


RENDERED = """() => [...document.querySelectorAll(".md-content__inner > *")]
  .map((block) => getComputedStyle(block).contentVisibility === "visible")"""


# Keeps what the page would do when it is idle, for the test to do it.
KEEP_IDLE_TASKS = """window.idleTasks = [];
window.requestIdleCallback = (task) => idleTasks.push(task);"""


@pytest.fixture
def rendered(reader: Page, home: str) -> list[bool]:
    """For each block of the loaded attention chapter, whether it is rendered."""
    reader.add_init_script(KEEP_IDLE_TASKS)
    reader.goto(f"{home}attention/")
    settle(reader)
    rendered = reader.evaluate(RENDERED)
    assert all(rendered[:29]) and not any(rendered[29:]) and len(rendered) > 100
    return rendered


def test_the_rest_of_a_long_page_is_rendered_when_the_reader_scrolls(reader: Page, rendered):
    reader.mouse.wheel(0, 100)
    reader.wait_for_function(f"() => ({RENDERED})().every(Boolean)")


def test_the_rest_of_a_long_page_is_rendered_in_steps_when_it_is_idle(reader: Page, rendered):
    before, steps = sum(rendered), 0
    while before < len(rendered):
        reader.evaluate("idleTasks.shift()()")
        after = sum(reader.evaluate(RENDERED))
        assert 1 <= after - before <= 4
        before, steps = after, steps + 1
    assert steps > 15
    reader.evaluate("idleTasks.shift()()")
    expect(reader.locator("html.first-view")).to_have_count(0)


@pytest.mark.parametrize("name", ["attention", "rotations"])
def test_a_link_within_the_page_leads_to_its_heading_at_once(reader: Page, home, name):
    reader.goto(f"{home}{name}/")
    settle(reader)
    reader.evaluate("""() => {
      const link = document.createElement("a");
      link.href = "#exercises";
      document.querySelector("article").prepend(link);
      link.click();
    }""")
    heading = reader.locator("#exercises")
    tops = []
    for _ in range(3):
        tops.append(heading.bounding_box()["y"])
        reader.wait_for_timeout(200)
    assert 0 < tops[0] < 140 and max(tops) - min(tops) < 1, tops
