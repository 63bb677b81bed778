"""Every default of the statistics, in one place, each with its source."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameters:
    confidence: float = 0.95
    """For intervals and rerun counts; what the published studies use."""
    significance: float = 0.05
    """For tests of hypotheses, after Benjamini-Hochberg where there are many (Lam6 uses the same for orders)."""
    rerun_limit: int = 20
    """More reruns than this in a row are not worth it: rerun later or on another host. Lam6: 87.8 % of flaky tests
    have bursts of at most 5, 90.6 % of at most 7."""
    most_retries: int = 3
    """For a project's CI setting: Lam6 advises at most 5 and gained nothing between 7 and 49, Gruber needed 1 and 3."""
    retry_share: float = 0.95
    """The advice is the least number that clears this share of what `most_retries` would: our choice."""
    prior_tests: int = 5
    """Fewer flaky tests with repeated failures than this make no prior of their own; the fallback is used."""
    fallback_prior: tuple[float, float] = (0.5, 0.5)
    """Beta prior of "fails again": Jeffreys', which says nothing in either direction."""
    onset_prior: tuple[float, float] = (0.5, 0.5)
    """Beta prior of the onset rate in `to_confirm`: Jeffreys'."""
    onset_prior_until_failure: tuple[float, float] = (0.0, 0.5)
    """The same where counting stopped at a failure: Jeffreys' for the negative binomial distribution."""
    cluster_cut: float = 0.5
    """Average Jaccard similarity below which two groups are two clusters: half of their failing runs shared."""
    few_failures: int = 3
    """Fewer failures than this are not enough data to tell the kind of flakiness."""
    bulk_tests: int = 10
    bulk_share: float = 0.3
    """This many tests, and this share of those that ran, failing at once are an incident whatever their rates."""
    improbable: float = 1e-6
    """After correction over runs: a project with a thousand runs a day sees one false incident in three years."""
    duration_floor: float = 0.5
    duration_floor_share: float = 0.1
    """Seconds, or a share of the median test where that is more: smaller differences between passing and failing say
    nothing, since a traceback alone takes 10 ms."""
    much_slower: float = 3.0
    """A failing execution that takes this many times as long as a passing one is another kind of execution."""
    duration_change: float = 0.2
    """A test that became slower or faster by less than this share is not worth anybody's look: our choice."""
    bayes_factor: float = 150.0
    """For a change of a failure rate: "very strong" evidence (Kass and Raftery 1995). Of outcomes without a change at
    most one sequence in 150 reaches it, since a Bayes factor is 1 on average there."""
    most_changes: int = 3
    """Changes looked for in one test: more in a window of 90 days are no longer a story that a person can follow."""
    developer_minutes: float = 15.0
    """An assumption, not a measurement, to be set to your own: to leave one's work, see that a red run is not one's own
    fault, start it again and come back."""
    broken_chance: float = 0.001
    """A flaky test with failures in a row is broken if its own bursts make that less likely than this. Every upload
    tests it again, so a chance of one in twenty would be met within days."""
    outage_runs: int = 6
    """Runs in a row, in all environments and at several revisions, that no flaky test fails: Lam6 found bursts of at
    most 5 in 87.8 % of the flaky tests, each on one machine."""
    lately: int = 20
    """An environment that did not run the test in this many of its last executions is ignored."""
    new_executions: int = 10
    """A test that first contradicts itself within this many executions was flaky when added, as 75 % are (Lam et al.,
    a longitudinal study of flaky tests, 2020)."""
    partner_cells: int = 200_000_000
    """Orders x tests examined in the search for partners, over all tests: a second or two."""
    partner_orders: int = 5
    """Fewer distinct orders than this do not reveal partners."""
    few_executions: int = 200
    """For up to this many executions of a test, an exact test looks for a partner that decides all of them."""


DEFAULTS = Parameters()


@dataclass(frozen=True, slots=True)
class Demands:
    """What a project's past must show before its predictor speaks."""

    least_right: float = 0.5
    """For "likely flaky": the lower end of the interval of how often it was right. On 32 projects that made it right in
    81 % to 85 % of what it said; 0.7 made it right in 86 %, and found two thirds as many."""
    least_cases: int = 10
    """Earlier scores at a level: our choice; ten of ten right have an interval from 69 % on."""
    least_flaky: int = 7
    """Flaky tests to learn from; FLAST leaves out projects with fewer."""
    times_chance: float = 3.0
    """For "worth more runs": the lower end against the share of flaky tests. It costs machines' time, not people's."""
    stable_executions: int = 100
    """Executions without a failure before a test is an example of a stable one. Of FlakeFlagger's 811 flaky tests 100
    executions show 52 %: it means "not known to be flaky", no more."""
    live_predictions: int = 30
    """Once so many real predictions are settled they are judged by instead of the backtest: our choice."""
    confidence: float = 0.95


DEMANDS = Demands()
