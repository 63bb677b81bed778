"""Whether pages, files and API show the same numbers of one project; every difference in a sentence."""

import re
from collections import Counter
from collections.abc import Iterator

from tests.extent import repeats
from tests.truth.pages import Page, first_number, number, pair, percent
from tests.truth.pages import Row as Line
from tests.truth.product import Product
from tests.truth.product import Row as Answer

TESTS_READ = repeats(6, 12)
RUNS_READ = repeats(3, 6)
_CHARTED = {
    "passed": "Passed",
    "flaky": "Failed only by flakiness",
    "regression": "Failed by a regression",
    "broken": "Broken before",
    "incident": "Incident",
}


def differences(product: Product) -> list[str]:
    return [
        *_states(product),
        *_rates(product),
        *_test_pages(product),
        *_headline(product),
        *_costs(product),
        *_savings(product),
        *_run_pages(product),
    ]


def _differ(what: str, **said: object) -> Iterator[str]:
    """One sentence where not all say the same."""
    if len({repr(value) for value in said.values()}) > 1:
        yield f"{what}: " + ", ".join(f"{where} {value}" for where, value in said.items())


# -- tests -------------------------------------------------------------------------------------------------------


def _states(product: Product) -> Iterator[str]:
    """How many tests are in each state: tiles, list, file, API."""
    tiles = product.page("project").tree.xpath("//ul[contains(@class, 'fb-tiles')]//a[contains(@href, 'tests?state=')]")
    shown = {tile.get("href").split("state=")[1]: first_number(tile.text_content()) for tile in tiles}
    stored = product.current["summary"]["states"]
    in_file = Counter(row["state"] for row in product.spreadsheet("tests"))
    assert set(shown) == set(stored), "a state without a tile"
    for state, count in shown.items():
        lead = product.page("tests", query=f"?state={state}").lead
        total = product.api.read(f"tests?state={state}&page_size=1")["total"]
        listed = in_file[state]
        yield from _differ(state, tile=count, summary=stored[state], list=first_number(lead), file=listed, api=total)


def _rates(product: Product) -> Iterator[str]:
    """Failures and runs of each listed test: the list's first page, its file and the API."""
    in_file = {int(row["number"]): (int(row["failed"]), int(row["executed"])) for row in product.spreadsheet("tests")}
    answers = {row["number"]: row for row in product.api.read("tests?sort=-low&page_size=100")["results"]}
    for row in product.page("tests").rows():
        _, test = row.what
        answer = answers[test]
        shown = pair(row.cell("Failure rate"))
        if shown is None:
            continue
        counted = (answer["failed"], answer["executed"])
        yield from _differ(f"rate of test {test}", list=shown, file=in_file[test], api=counted)
        yield from _differ(f"state of test {test}", list=row.state, api=answer["state"])


def _test_pages(product: Product) -> Iterator[str]:
    """The first sentence of tests that failed, and what Overview says of the newest flaky ones."""
    failed = sorted(
        (row for row in product.tests.values() if row["failed"]), key=lambda row: (row["state"], -row["failed"])
    )
    for row in failed[:: max(len(failed) // TESTS_READ, 1)]:
        page = product.page("test", row["number"])
        told, counted = pair(page.lead, "failed"), (row["failed"], row["executed"])
        if told is not None:
            yield from _differ(f"rate of test {row['number']}", page=told, file=counted)
        title = page.tree.xpath("//h1//*[contains(@class, 'fb-state')]")[0].text_content().strip()
        yield from _differ(f"state of test {row['number']}", page=title, file=row["state"])
    by_number = {row["number"]: row for row in product.tests.values()}
    for newest in product.page("project").rows("//section[@aria-labelledby='newest']//li"):
        row = by_number[newest.what[1]]
        told = pair(newest.text, "·")
        yield from _differ(f"rate of test {row['number']}", overview=told, file=(row["failed"], row["executed"]))


# -- the project -------------------------------------------------------------------------------------------------


def _headline(product: Product) -> Iterator[str]:
    """How runs ended: Overview's sentence and chart, the list of runs, its file and the API."""
    told = product.current["summary"]["runs"]
    ends = {end: told[end] for end in told if end not in ("total", "flaky_low", "flaky_high")}
    in_file = Counter(run["end"] for run in product.runs[-told["total"] :])
    yield from _differ("how runs ended", file={end: in_file[end] for end in ends}, api=ends)
    yield from _differ("runs", sum=sum(ends.values()), api=told["total"])
    overview, lead = product.page("project"), product.page("runs").lead
    shown = {first_number(found) for found in re.findall(r"\d[\d,]*", lead)}
    if missing := {told["total"], *ends.values()} - shown:
        yield f"how runs ended: the list's sentence lacks {sorted(missing)}: {lead}"
    per_day = overview.chart_table("runs-per-day")
    yield from _differ("runs of all days", chart=sum(number(day["Runs"]) for day in per_day), api=told["total"])
    for end, header in _CHARTED.items():
        yield from _differ(f"runs that ended {end}", chart=sum(number(day[header]) for day in per_day), api=told[end])
    share, of = percent(overview.lead), re.search(r"of (\d[\d,]*) runs?\b|No run of (\d[\d,]*)", overview.lead)
    assert of is not None and share is not None, overview.lead
    yield from _differ("runs", overview=number(of[1] or of[2]), api=told["total"])
    if told["flaky"] and abs(share - told["flaky"] / told["total"]) > 0.0006:
        yield f"runs failed by flakiness: overview {share}, api {told['flaky']} of {told['total']}"


def _costs(product: Product) -> Iterator[str]:
    """Runs that each item blocked: Fix first, its file, Overview, the list of tests and the API."""
    rows = product.page("priorities").rows()
    first = [(fix.what, _blocked(fix.text)) for fix in _fixes(product)]
    in_file = product.spreadsheet("priorities")
    blocked_alone = {row["number"]: row["blocked"] for row in product.tests.values()}
    for place, (row, answer, filed) in enumerate(zip(rows, product.priorities, in_file, strict=False)):
        shown = first_number(row.cell("Runs blocked"))
        said = {"page": shown, "file": int(filed["blocked"]), "api": answer["blocked"]}
        if place < len(first):
            said["overview"] = first[place][1]
            yield from _differ(f"item {place + 1}", page=row.what, overview=first[place][0])
        if answer["test"] is not None:
            said["tests"] = blocked_alone[answer["test"]["number"]]
        yield from _differ(f"runs blocked by item {place + 1}", **said)
    yield from _differ("items", api=len(product.priorities), file=len(in_file))


def _blocked(text: str) -> int:
    """ "11 runs blocked", "11 runs would have been blocked"."""
    found = re.search(r"(\d[\d,]*) runs? (?:would have been )?blocked", text)
    assert found is not None, text
    return number(found[1])


def _fixes(product: Product) -> list[Line]:
    return product.page("project").rows("//section[@aria-labelledby='fix-first']//li")


def _savings(product: Product) -> Iterator[str]:
    """What fixing the first saves: both sentences, each row, the file and the API."""
    answer, page = product.api.read("priorities"), product.page("priorities")
    blocked = product.current["summary"]["blocked"]["runs"]
    yield from _differ("blocked runs", summary=blocked, totals=answer["totals"]["blocked"])
    saved: dict[int, tuple[int, int]] = {}
    for row, item, filed in zip(page.rows(), product.priorities, product.spreadsheet("priorities"), strict=False):
        told, said = pair(row.cell("Saved so far")), (item["saved_runs"], item["blocked_runs"])
        in_file = (int(filed["saved_runs"]), int(filed["blocked_runs"]))
        yield from _differ(f"saved with item {item['rank']}", page=told or (0, 0), api=said, file=in_file)
        yield from _differ("blocked runs", summary=blocked, item=said[1])
        saved[item["rank"]] = said
    if promise := re.search(r"Fixing the first(?: (\d+))? would", page.lead):
        yield from _differ("saved at first", sentence=pair(page.lead), row=saved[int(promise[1] or 1)])
    if most := product.current["summary"]["most"]:
        said = (most["runs"], most["blocked"])
        yield from _differ("caused by the first items", summary=said, item=saved.get(most["items"], said))
        overview = product.page("project").lead
        if " caused " in overview:
            told = re.search(r"(\d[\d,]*) tests? caused (\d[\d,]*) of the (\d[\d,]*)", overview)
            assert told is not None, overview
            yield from _differ(
                "caused by the first items", overview=tuple(map(number, told.groups())), api=(most["tests"], *said)
            )


# -- runs --------------------------------------------------------------------------------------------------------


def _run_pages(product: Product) -> Iterator[str]:
    """Red runs: how many tests failed, by group; what each is; and whether that agrees with how the run ended."""
    red = [run for run in product.runs if run["end"] not in ("passed", "failed", "gone")]
    for run in red[:: max(len(red) // RUNS_READ, 1)]:
        page = product.page("run", run["run"])
        failing = run["failed"] + run["errored"]
        groups = {
            section.get("aria-labelledby").removeprefix("group-"): first_number(
                section.xpath(".//h2//*[@class='fb-count']")[0].text
            )
            for section in page.tree.xpath("//section[starts-with(@aria-labelledby, 'group-')]")
        }
        told = pair(page.lead)
        yield from _differ(
            f"failing tests of run {run['run']}", page=told and told[0], groups=sum(groups.values()), file=failing
        )
        yield from _of_end(run, groups)
        yield from _of_failures(product, run, page)


def _of_end(run: Answer, groups: dict[str, int]) -> Iterator[str]:
    """New failures are a regression, known breakages what was broken before; flaky ones and incidents are neither."""
    expected = "regression" if groups.get("new") else "broken" if groups.get("broken") else ""
    if (run["end"] if run["end"] in ("regression", "broken") else "") != expected:
        yield f"run {run['run']} ended as {run['end']}, and its page has {groups}"


def _of_failures(product: Product, run: Answer, page: Page) -> Iterator[str]:
    by_number = {row["number"]: row for row in product.tests.values()}
    for line in page.rows("//ol[contains(@class, 'fb-failures')]/li"):
        row = by_number.get(line.what[1])
        if row is None:
            continue
        yield from _differ(f"state of test {row['number']} in run {run['run']}", page=line.state, file=row["state"])
        if "failed " in line.text and (told := pair(line.text, "failed")) and row["failed"]:
            yield from _differ(
                f"rate of test {row['number']} in run {run['run']}", page=told, file=(row["failed"], row["executed"])
            )
