"""Why each flaky and each broken test of a simulated project fails."""

import numpy as np

from analytics.kernel.executions import Ints
from analytics.simulation import causes
from analytics.simulation.breakages import Breakage, Reason
from analytics.simulation.cast import Cast, Part
from analytics.simulation.causes import Cause
from analytics.simulation.settings import Settings
from analytics.simulation.truth import Kind

_THEMES = {
    Kind.INDEPENDENT: causes.INDEPENDENT,
    Kind.BURSTY: causes.BURSTY,
    Kind.VICTIM: causes.VICTIM,
    Kind.BRITTLE: causes.BRITTLE,
    Kind.TIME_OF_DAY: causes.TIME_OF_DAY,
    Kind.ASYNC: causes.ASYNC,
    Kind.ENVIRONMENT: causes.ENVIRONMENT,
}


def causes_of(settings: Settings, cast: Cast) -> tuple[list[Cause], Ints]:
    """All causes but those of incidents, and which one each flaky and each broken test has."""
    found: list[Cause] = []
    own = [_cause(settings, at, part) for at, part in enumerate(cast.parts)]
    own += [_reason(breakage) for breakage in cast.breakages]
    for cause in own:
        if cause not in found:
            found.append(cause)
    place = np.array([found.index(cause) for cause in own], dtype=np.int64)
    return found, place


def _reason(breakage: Breakage) -> Cause:
    if breakage.reason is Reason.COMMIT:
        return Cause(causes.REGRESSION[0], breakage.number)
    themes = {Reason.IMPORT: causes.IMPORT, Reason.DEPENDENCY: causes.DEPENDENCY, Reason.SERVICE: causes.SERVICE}
    theme = themes[breakage.reason][breakage.group % len(themes[breakage.reason])]
    detail = causes.SERVICES[breakage.group % len(causes.SERVICES)]
    return Cause(theme, -1 if theme.shared else breakage.number, detail)


def _cause(settings: Settings, at: int, part: Part) -> Cause:
    flake = part.flake
    if flake.kind is Kind.CLUSTER:
        service = causes.SERVICES[flake.group % len(causes.SERVICES)]
        return Cause(causes.CLUSTER[flake.group % len(causes.CLUSTER)], detail=service)
    themes = _THEMES[flake.kind]
    detail = settings.environments[part.environment] if part.environment >= 0 else f"{part.timeout:g}"
    return Cause(themes[at % len(themes)], flake.number, detail, part.timeout)
