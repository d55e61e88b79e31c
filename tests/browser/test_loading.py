"""Nothing moves while a page comes, nor when what was far from the window is drawn."""

import pytest
from playwright.sync_api import Page

from benchmarks.page import PAGES, SHIFT
from browser_pages import BASE, address, settle

# The sum of Lighthouse's layout shifts.
SHIFTS = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) sum += each.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 500);
})"""


@pytest.mark.parametrize("url", PAGES, ids=lambda url: url or "home")
def test_nothing_moves_while_a_page_comes(reader, url):
    slow = reader.context.new_cdp_session(reader)
    line = {"latency": 100, "downloadThroughput": 200_000, "uploadThroughput": 100_000}
    slow.send("Network.emulateNetworkConditions", {"offline": False, **line})
    reader.goto(address(url))
    settle(reader)
    assert reader.evaluate(SHIFTS) <= SHIFT


# Each block's height while it isn't drawn, less its height when it is.
ROOM = """() => [...document.querySelectorAll(".highlight:not(.annotate) > pre > code[style]")]
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
    wrong = reader.evaluate(ROOM)
    assert wrong and max(map(abs, wrong)) < 1, wrong


def test_a_link_to_a_heading_far_below_leads_to_it(reader: Page):
    reader.goto(f"{BASE}positional-encoding/#exercises")
    settle(reader)
    top = reader.evaluate("document.getElementById('exercises').getBoundingClientRect().top")
    assert 0 < top < 140
