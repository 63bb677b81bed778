"""Azure Pipelines. A pull request is built as a merge; its head commit is in a separate variable."""

from __future__ import annotations

from typing import Mapping
from urllib.parse import quote

from flakeboard.ci.facts import Facts, count, first, shard, variants, without


def is_here(environ: Mapping[str, str]) -> bool:
    return environ.get("TF_BUILD", "").lower() == "true"


def facts(environ: Mapping[str, str]) -> Facts:
    get = environ.get
    built, head = get("BUILD_SOURCEVERSION", ""), get("SYSTEM_PULLREQUEST_SOURCECOMMITID", "")
    branch = first(get("SYSTEM_PULLREQUEST_SOURCEBRANCH"), get("BUILD_SOURCEBRANCH"), get("BUILD_SOURCEBRANCHNAME"))
    position, total = count(environ, "SYSTEM_JOBPOSITIONINPHASE"), count(environ, "SYSTEM_TOTALJOBSINPHASE")
    return Facts(
        system="Azure Pipelines",
        commit=first(head, built),
        merged_commit=built if head and head != built else "",
        branch=without("refs/heads/", branch),
        pull_request=first(get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER"), get("SYSTEM_PULLREQUEST_PULLREQUESTID")),
        build_id=get("BUILD_BUILDID", ""),
        build_url=_url(environ),
        attempt=count(environ, "SYSTEM_JOBATTEMPT") or 1,
        job=" ".join(filter(None, (get("SYSTEM_STAGENAME"), get("SYSTEM_PHASENAME"), get("SYSTEM_JOBNAME")))),
        shard=shard(position, total, first=1),
        environment=variants(environ, {"os": "AGENT_OS", "arch": "AGENT_OSARCHITECTURE"}),
        host=first(get("AGENT_NAME"), get("AGENT_MACHINENAME")),
    )


def _url(environ: Mapping[str, str]) -> str:
    collection, project = environ.get("SYSTEM_COLLECTIONURI", ""), environ.get("SYSTEM_TEAMPROJECT", "")
    if not collection or not project:
        return ""
    return "{}/{}/_build/results?buildId={}".format(
        collection.rstrip("/"), quote(project), environ.get("BUILD_BUILDID", "")
    )
