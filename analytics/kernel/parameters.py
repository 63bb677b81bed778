"""Every default of the statistics, in one place, each with where it comes from."""

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
    retry_gain: float = 0.01
    """A retry that clears less than this share of the flaky failures is not worth its time for a whole project: a
    stated choice; single tests that need more are named."""
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
    """Fewer failures than this say "not enough data" where a kind of flakiness is asked for."""
    bulk_tests: int = 10
    bulk_share: float = 0.3
    """So many tests, and such a share of those that ran, failing at once are an incident whatever their rates."""
    improbable: float = 1e-6
    """After correction over runs: a project with a thousand runs a day sees one false incident in three years."""
    much_slower: float = 3.0
    """A failing execution that takes this many times as long as a passing one is another kind of execution."""
    bayes_factor: float = 150.0
    """For a change of a failure rate: "very strong" evidence (Kass and Raftery 1995). Of outcomes without a change at
    most one sequence in 150 reaches it, since a Bayes factor is 1 on average there."""
    most_changes: int = 3
    """Changes looked for in one test: more in a window of 90 days are no longer a story that a person can follow."""
    developer_minutes: float = 15.0
    """A stated assumption, to be set to your own: to leave one's work, see that a red run is not one's own doing, start
    it again and come back. It is no measurement."""
    broken_chance: float = 0.001
    """A flaky test that fails in a row is broken where its own bursts make that less likely than this. Every upload
    asks anew, so one in twenty would be met by chance within days."""
    lately: int = 20
    """An environment that did not run the test in so many of its last executions says nothing of how it fares now."""
    new_executions: int = 10
    """A test that first contradicts itself within so many executions was flaky when it came, as 75 % are (Lam et
    al., a longitudinal study of flaky tests, 2020)."""
    partner_cells: int = 200_000_000
    """Orders x tests looked at in the search for partners, over all tests: a second or two."""
    partner_orders: int = 5
    """Fewer different orders than this tell nothing of who ran before whom."""


DEFAULTS = Parameters()
