"""Patterns of secrets in text. Time is linear: every repetition is bounded, or possessive and anchored at the start
of its run of characters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """The pattern of a secret, and its replacement."""

    name: str
    hints: tuple[str, ...]
    """In lower case: text without any of these holds no such secret."""
    pattern: "re.Pattern[str]"
    replacement: str


def _rule(name: str, hints: str, pattern: str, *, keep: str = "", flags: int = 0) -> Rule:
    """`hints` are separated by bars; `keep` names the groups to keep before the replacement."""
    return Rule(name, tuple(hints.split("|")), re.compile(pattern, flags), f"{keep}[redacted {name}]")


_KEY_LINES = r"(?:[A-Za-z0-9+/=\s\\:,]|-(?!----)|\[… cut …\]){0,20000}+"
_NAME = (
    r"(?:pass(?:word|wd|phrase)|pwd|(?<=[_-])pass|secret|api[_-]?key|(?:access|account|private|shared|signing|encryption)[_-]?key"
    r"|(?:auth|access|refresh|session|id|bot|deploy)[_-]?token|(?<=[A-Za-z0-9][_-])token)(?:[_-][A-Za-z0-9_-]{0,40}+)?"
)
_IS = r"[\"'\\\]]{0,3}[ \t]{0,3}(?:=>|:=|=(?!=)|:(?!:))"
_PASSED_ON = (
    r"(?:[A-Za-z]{0,40}+[_.(][A-Za-z_.]{0,60}+[(),\[\]]"
    r"|(?:password|passwd|pwd|secret|token|key|value|str|string|none|null|nil|true|false|undefined)\b)"
)
"""A name, a call or a constant: source code in a trace, not a secret."""
_FIRST = r"[^\s\"'\\\[\]{}<>(),;&|*=:]"
_REST = r"[^\s\"'\\\[\]{}<>(),;&|]"
_NO_WORD = r"(?=[^\s\"',;]{0,100}[0-9!#$%^+/~])"
"""After a blank, prose is as likely as a secret, so only text that cannot be a word is taken."""
_ASKED_BY = (
    "passw|passphrase|pwd|secret|api_key|api-key|apikey|access_key|access-key|accesskey|account_key|accountkey|"
    "private_key|shared_key|signing_key|signing-key|signingkey|encryption_key|encryption-key|encryptionkey|"
    "token|_pass|-pass"
)

_FORMS = r"""
alibaba-access-key      ltai            LTAI[A-Za-z0-9]{17,21}
adobe-client-secret     p8e-            p8e-[A-Za-z0-9]{32}
age-secret-key          age-secret      AGE-SECRET-KEY-1[A-Z0-9]{58}
anthropic-api-key       sk-ant-         sk-ant-[A-Za-z0-9_-]{16,200}
artifactory-api-key     akcp            AKCp[A-Za-z0-9]{60,80}
atlassian-api-token     atatt3          ATATT3[A-Za-z0-9_=-]{40,250}
clojars-api-token       clojars_        CLOJARS_[a-z0-9]{60}
databricks-api-token    dapi            dapi[a-f0-9]{32}(?:-[0-9])?
digitalocean-token      o_v1_|r_v1_|p_v1_ do[opr]_v1_[a-f0-9]{64}
docker-token            dckr_           dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,60}
doppler-api-token       dp.pt.|dp.st.|dp.ct. dp\.(?:pt|st|ct)\.[A-Za-z0-9._-]{30,80}
dynatrace-api-token     dt0c01.|dt0s01. dt0[a-z]01\.[A-Z0-9]{24}\.[A-Z0-9]{64}
fastly-token            fastly_         fastly_[A-Za-z0-9_-]{20,60}
figma-token             figd_           figd_[A-Za-z0-9_-]{20,80}
flyio-token             fo1_|fm2_|fm1   (?:fo1_|fm1[ar]_|fm2_)[A-Za-z0-9+/=_-]{30,600}
grafana-token           glc_|glsa_      gl(?:c|sa)_[A-Za-z0-9+/=_-]{20,400}
heroku-api-key          hrku-           HRKU-[A-Za-z0-9_-]{30,80}
hubspot-token           pat-na|pat-eu   pat-(?:na|eu)[0-9]-[a-f0-9-]{36}
huggingface-token       hf_|api_org_    (?:hf|api_org)_[A-Za-z0-9]{20,60}
linear-api-key          lin_api_        lin_api_[A-Za-z0-9]{30,60}
mailchimp-api-key       -us             [a-f0-9]{32}-us[0-9]{1,2}
mailgun-key             key-            key-[a-f0-9]{32}
mapbox-token            k.eyj           [ps]k\.eyJ[A-Za-z0-9_-]{30,200}\.[A-Za-z0-9_-]{10,60}
netlify-token           nfp_            nfp_[A-Za-z0-9_-]{30,60}
new-relic-key           nrak-|nrii-|nrjs- NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,40}
notion-token            ntn_            ntn_[A-Za-z0-9]{40,60}
1password-token         ops_eyj         ops_eyJ[A-Za-z0-9+/=_-]{80,1200}
openai-api-key          sk-             sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{10,100}T3BlbkFJ[A-Za-z0-9_-]{10,100}
openai-project-key      sk-proj-|sk-svcacct- sk-(?:proj|svcacct)-[A-Za-z0-9_-]{20,200}
openshift-token         sha256~         sha256~[A-Za-z0-9_-]{43}
perplexity-api-key      pplx-           pplx-[A-Za-z0-9]{40,60}
planetscale-token       pscale_         pscale_(?:tkn|oauth|pw)_[A-Za-z0-9=._-]{30,70}
postman-api-key         pmak-           PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}
pulumi-token            pul-            pul-[a-f0-9]{40}
rubygems-token          rubygems_       rubygems_[a-f0-9]{48}
sendgrid-api-key        sg.             SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,60}
sendinblue-api-key      xkeysib-        xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}
sentry-token            sntrys_|sntryu_ sntry[su]_[A-Za-z0-9+/=_-]{40,400}
shopify-token           shpat_|shpca_|shppa_|shpss_ shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}
square-token            sq0atp-|sq0csp- sq0(?:atp|csp)-[A-Za-z0-9_-]{20,60}
stripe-secret           whsec_|k_test_  (?:whsec_[A-Za-z0-9+/=]{24,80}|[sr]k_test_[A-Za-z0-9]{16,250})
supabase-token          sbp_            sbp_[a-f0-9]{40}
telegram-bot-token      :aa             [0-9]{8,10}:AA[A-Za-z0-9_-]{33}
terraform-token         .atlasv1.       [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}
twilio-api-key          sk|ac           (?:SK|AC)[0-9a-f]{32}
typeform-token          tfp_            tfp_[A-Za-z0-9_.=-]{40,80}
vault-token             hvs.|hvb.|hvr.  hv[sbr]\.[A-Za-z0-9_-]{20,300}
yandex-token            y0_             y0_[A-Za-z0-9_-]{50,60}
"""
"""Tokens with a recognisable form: id (mostly gitleaks' own), hints, pattern."""


def _by_look() -> "Iterator[Rule]":
    for line in _FORMS.strip().splitlines():
        name, hints, pattern = line.split(maxsplit=2)
        possessive = re.sub(r"(\{\d+,\d+\})(?=$|\))", r"\1+", pattern)
        yield _rule(name.replace("-", " "), hints, rf"(?<![A-Za-z0-9_.-]){possessive}(?![A-Za-z0-9])")


RULES = (
    *_by_look(),
    _rule(
        "private key",
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----" + _KEY_LINES + r"(?:-----END [A-Z0-9 ]{0,60}-----)?",
    ),
    _rule("AWS key", "akia|asia|abia|acca", r"(?<![A-Za-z0-9])A(?:KI|SI|BI|CC)A[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _rule("Google key", "aiza", r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _rule("Google token", "ya29.|gocspx-", r"\bya29\.[A-Za-z0-9_-]{20,2000}+|\bGOCSPX-[A-Za-z0-9_-]{20,40}+"),
    _rule("Azure key", "q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"),
    _rule("Azure signature", "sig=", r"([?&;]sig=)[A-Za-z0-9%+/=_-]{20,200}+", keep=r"\1"),
    _rule("GitHub token", "ghp_|gho_|ghu_|ghs_|ghr_", r"\bgh[pousr]_[A-Za-z0-9]{30,255}+"),
    _rule("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{40,255}+"),
    _rule(
        "GitLab token",
        "glpat-|glptt-|gldt-|glrt-|glcbt-|glft-|glsoat-|glagent-|glimt-|glffct-",
        r"\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|ffct)-[A-Za-z0-9_.-]{20,300}+",
    ),
    _rule("Slack token", "xox|xapp-", r"\b(?:xox[abcdeoprs]|xapp)-[A-Za-z0-9-]{10,250}+"),
    _rule("Slack address", "hooks.slack.com", r"(hooks\.slack\.com/[a-z]{1,20}/)[A-Za-z0-9/_-]{16,200}+", keep=r"\1"),
    _rule("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _rule("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,500}+"),
    _rule("Stripe key", "k_live_", r"\b[sr]k_live_[A-Za-z0-9]{16,250}+"),
    _rule("Flakeboard token", "flk_", r"flk_[a-z]{2,12}_[A-Za-z0-9]{8,200}+"),
    _rule(
        "JSON web token",
        "eyj",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?",
    ),
    _rule("password", "://", r"(://[^\s/:@'\"<>]{0,256}+:)[^\s/@'\"<>]{1,256}+(?=@)", keep=r"\1"),
    _rule(
        "authorization",
        "authorization",
        r"(authorization[\"'\\]{0,3}[ \t]{0,3}[:=][ \t]{0,3}[\"'\\]{0,3}(?:bearer|basic|token|apikey|digest)[ \t]{1,3})"
        r"[^\s\"'\\,;\[][^\s\"'\\,;]{2,4000}+",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "authorization",
        "bearer",
        r"(\bbearer[ \t]{1,3})(?=[A-Za-z._~+/=-]{0,100}[0-9])[A-Za-z0-9._~+/=-]{16,4000}+",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "cookie",
        "cookie",
        r"(\b(?:set-)?cookie[\"'\\]{0,3}[ \t]{0,3}[:=][ \t]{0,3}[\"'\\]{0,3}[A-Za-z0-9_.!-]{1,100}+=)"
        r"[^\r\n\"'\\\[]{2,4000}+",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "Discord address",
        "discord",
        r"(discord(?:app)?\.com/api/webhooks/)[0-9]{5,30}/[A-Za-z0-9_-]{20,120}+",
        keep=r"\1",
    ),
    _rule(
        "Teams address", "webhook.office.com", r"(webhook\.office\.com/webhookb2/)[A-Za-z0-9@/_-]{20,400}+", keep=r"\1"
    ),
    _rule(
        "signature",
        "signature=",
        r"((?:X-Amz-Signature|signature)=)[A-Za-z0-9%+/_-]{20,500}+",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "password",
        "login",
        r"(\blogin[ \t]{1,3}[^\s]{1,100}+[ \t]{1,3}password[ \t]{1,3})[^\s\[]\S{2,200}+",
        keep=r"\1",
    ),
    _rule(
        "password",
        "-u",
        r"((?:^|\s)(?:-u|--user)[ \t=]{1,3}[\"']?[^\s:\"'/]{1,100}+:)[^\s\"'@/:\[]{3,200}+",
        keep=r"\1",
    ),
    _rule(
        "password",
        "--pass|--token|--secret|--api-key|--apikey",
        r"(--(?:[a-z]{1,20}-)?(?:password|passwd|token|secret|api-?key)[ \t]{1,3}[\"']?)(?![\"'\[-])[^\s\"']{3,500}+",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "authorization",
        "auth",
        r"([\"']auth[\"'][ \t]{0,3}:[ \t]{0,3}[\"'])[A-Za-z0-9+/]{12,500}+={0,2}(?=[\"'])",
        keep=r"\1",
    ),
    _rule(
        "authorization",
        "basic ",
        r"(\bbasic[ \t]{1,3})(?=[A-Za-z+/]{0,100}[0-9=])[A-Za-z0-9+/]{12,500}+={0,2}",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "secret",
        _ASKED_BY,
        rf"(?=[pasridbte])({_NAME}{_IS}[ \t]{{0,3}}\\?)"
        rf"(?:\"(?=[^\"\n]{{0,200}}[0-9!#$%^+~@])[^\"\\\n\[]{{4,500}}+(?<![.:\[])\""
        rf"|'(?=[^'\n]{{0,200}}[0-9!#$%^+~@])[^'\\\n\[]{{4,500}}+(?<![.:\[])')",
        keep=r"\1",
        flags=re.IGNORECASE,
    ),
    _rule(
        "secret",
        _ASKED_BY,
        rf"(?=[pasridbte])({_NAME}{_IS})(?:([ \t]{{0,3}}\\?[\"'])[^\s\"'\\\[][^\s\"'\\]{{2,1000}}+(?=[\"'\\]|$)"
        rf"|(?!{_PASSED_ON}){_FIRST}{_REST}{{2,500}}+"
        rf"|([ \t]{{1,3}})(?!{_PASSED_ON}){_NO_WORD}{_FIRST}{_REST}{{5,500}}+)",
        keep=r"\1\2\3",
        flags=re.IGNORECASE,
    ),
)
