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
    prior_tests: int = 5
    """Fewer flaky tests with repeated failures than this make no prior of their own; the fallback is used."""
    fallback_prior: tuple[float, float] = (0.5, 0.5)
    """Beta prior of "fails again": Jeffreys', which says nothing in either direction."""
    onset_prior: tuple[float, float] = (0.5, 0.5)
    """Beta prior of the onset rate in `to_confirm`: Jeffreys'."""
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


DEFAULTS = Parameters()
