"""Worlds: named variants of the simulator besides the usual one.

Half of a world's histories have loud incidents; the other half shows how rules fare that ignore incidents."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from analytics.simulation.settings import Settings

_NOTHING_CHANGES = Settings(
    fixed_flakes=0,
    new_flakes=0,
    regressions=0,
    broken_at_end=0,
    platform_regressions=0,
    pull_request_regressions=0,
    renames=0,
    new_tests=0,
)

_VARIANTS: Mapping[str, Settings] = {
    "standing breakage": Settings(tests=160, suites=8, standing=48),
    "own import errors": Settings(import_errors=(6, 30, 150), pull_request_import_errors=(12,)),
    "quiet incidents": Settings(quiet_incidents=8),
    "another default branch": Settings(branch="master"),
    "no branch named": Settings(branch=""),
    "one commit run 100 times": replace(
        _NOTHING_CHANGES, repeats=100, environments=("linux",), environments_a_build=1, rerun_share=0.0, standing=5
    ),
    "no durations": Settings(durations=False),
    "no commits": Settings(commits=False),
    "detached clocks": Settings(clocks=(0.0, -7.0, 2.0, -65_000.0, -0.5, 20.0)),
    "retries inside one report": Settings(retries=True, lost_attempts=True),
    "renames with moves": Settings(suites=16, moves=12),
    "dependency and service changes": Settings(dependency_changes=4, service_changes=3),
    "sharded matrices": Settings(shards=4),
}

WORLDS: Mapping[str, tuple[Settings, ...]] = MappingProxyType(
    {name: (usual, replace(usual, incidents=0)) for name, usual in _VARIANTS.items()}
)
"""By name: settings that the seeds use in turn."""
