"""Rules that read a failure's cause from its text, by ecosystem. See docs/concepts.md#how-causes-are-told.

Patterns match lower-case text, raw or with volatile parts replaced ("<n>", "<duration>", "<date>"). They are phrases,
not words: "timeout" alone is as often a test's name as its cause. Repetition is bounded and never nested, so that a
search takes time in proportion to the text."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Category(StrEnum):
    ASYNC_WAIT = "async wait"
    CONCURRENCY = "concurrency"
    ORDER = "order dependency"
    NETWORK = "network"
    TIME = "time"
    IO = "IO"
    RANDOMNESS = "randomness"
    RESOURCE_LEAK = "resource leak"
    TIMEOUT = "timeout"
    UNORDERED = "unordered collections"
    FLOATING_POINT = "floating point"
    PLATFORM = "platform"
    RANGE = "too restrictive range"
    INFRASTRUCTURE = "infrastructure"


class Ecosystem(StrEnum):
    ANY = "any"
    PYTHON = "Python"
    JAVA = "Java"
    JAVASCRIPT = "JavaScript"
    GO = "Go"
    DOTNET = ".NET"
    RUBY = "Ruby"
    CPP = "C++"
    RUST = "Rust"


@dataclass(frozen=True, slots=True)
class Rule:
    """Matching text suggests the category; `sentence` describes the evidence."""

    category: Category
    ecosystem: Ecosystem
    pattern: re.Pattern[str]
    sentence: str


_SHORT = {
    "NUMBER": r"(?:<n>|<duration>|[0-9][0-9.,]{0,30}(?:e[+-]?[0-9]{1,4})?)",
    "DAY": r"(?:<date>|<time>|[0-9]{4}-[0-9]{2}-[0-9]{2})",
}
"""Placeholders in patterns; they are in capitals, which never occur in the lower-case text."""

_TABLE = r"""
async wait | JavaScript | Playwright gave up waiting for an element
    (?:locator|page|frame|elementhandle)\.[a-z]{1,40}: (?:timeout|test timeout)
    timed out [^\n]{1,20} waiting for expect\(|expect\(locator\)\.[a-z.]{1,40}\([^\n]{0,80}\) failed
async wait | JavaScript | Cypress gave up retrying
    timed out retrying
async wait | JavaScript | work went on after the test stopped waiting
    timed out in waitfor|not wrapped in act\(|cannot log after tests are done
    (?:import|access)[^\n]{0,80} after the jest environment has been torn down
async wait | any | Selenium met an element that was not there yet, or no longer
    no such element: unable to locate|nosuchelementexception: (?:no such element|message: no such)
    staleelementreference|stale element reference|element click intercepted|elementclickintercepted
    element not interactable|expected condition failed: waiting for|selenium\.common\.exceptions\.timeoutexception
async wait | Java | Awaitility's condition did not come true in time
    conditiontimeoutexception|was not fulfilled within|didn't complete within
async wait | Go | an eventual condition did not come true in time
    condition never satisfied|timed out after [^\n ]{1,20}\.\s{1,3}expected
async wait | Ruby | Capybara did not find an element in time
    capybara::elementnotfound|expected to find (?:visible )?(?:css|xpath|text|link|button|field)\b
async wait | Python | asynchronous work was not waited for
    coroutine '[^'\n]{1,200}' was never awaited|task was destroyed but it is pending|event loop is closed
    attached to a different loop
timeout | Python | it ran into a timeout
    timeout \(?>(?:<|[0-9])|asyncio\.(?:exceptions\.)?timeouterror|concurrent\.futures\.(?:_base\.)?timeouterror
    subprocess\.timeoutexpired|exceeds the deadline of|deadlineexceeded:
timeout | JavaScript | the runner's timeout ended it
    exceeded timeout of|(?:test )?timeout of [^\n]{1,20} exceeded|was not invoked within the
    (?:test|hook) timed out in
timeout | Java | the runner's timeout ended it
    testtimedoutexception|test timed out after|execution timed out after|execution exceeded timeout of
    timed out after [^\n]{1,20} (?:milli|nano)?seconds?\b|java\.util\.concurrent\.timeoutexception
    threadtimeoutexception|\(\) timed out after
timeout | Go | a deadline passed
    panic: test timed out|context deadline exceeded
timeout | .NET | a timeout cancelled it
    system\.timeoutexception|exceeded timeout value of|exceeded execution timeout|test execution timed out
    taskcanceledexception|operationcanceledexception|the operation (?:has )?timed out
timeout | Ruby | a timeout ended it
    timeout::error|execution expired
timeout | C++ | the runner's timeout ended it
    \*\*\*timeout|signal: alarm clock|sigalrm
timeout | Rust | a timeout elapsed
    deadline has elapsed|elapsed\(\(\)\)
concurrency | Java | two threads met at one object
    concurrentmodificationexception|illegalmonitorstateexception|rejectedexecutionexception
concurrency | Go | goroutines raced or locked each other out
    warning: data race|race detected during execution of test|all goroutines are asleep
    concurrent map (?:read|write|iteration)|send on closed channel|negative waitgroup counter
concurrency | Python | two threads met at one object
    changed size during iteration|mutated during iteration|cannot schedule new futures after
    objects created in a thread can only be used in that same thread
concurrency | any | transactions or threads locked each other out
    deadlock (?:detected|found)|deadlockdetected|was deadlocked on|lock wait timeout exceeded
    could not serialize access|database (?:table )?is locked|threadsanitizer:|database schema is locked
concurrency | .NET | two threads met at one object
    collection was modified[;,] enumeration|must have exclusive access|synchronizationlockexception
    a second operation (?:was )?started on this context
concurrency | Ruby | threads met at one object or locked each other out
    no live threads left|activerecord::deadlocked|can't add a new key into hash during iteration
concurrency | C++ | a thread was left running or locked itself out
    terminate called without an active exception|resource deadlock (?:avoided|would occur)
concurrency | Rust | a thread died while another counted on it
    poisonerror|(?:sending|receiving) on a closed channel
network | any | a connection could not be made or broke
    connection (?:refused|reset|timed out|aborted|closed by)|connect(?:ion)? timed out|no route to host
    network is unreachable|name resolution|name or service not known|nodename nor servname|could not resolve
    tls handshake|certificate.verify.failed|certificate has expired|address already in use
network | any | a server answered that it could not serve
    \bbad gateway\b|service (?:temporarily )?unavailable|gateway time-?out|\btoo many requests\b
network | Python | a request failed on its way
    max retries exceeded with url|remote end closed connection|read timed out|getaddrinfo failed
    (?:connect|read)timeout(?:error)?\b:|urlopen error
network | JavaScript | a request failed on its way
    \be(?:connrefused|connreset|timedout|notfound|ai_again|hostunreach|addrinuse|pipe)\b|socket hang up|net::err_
    typeerror[:\s]{1,3}fetch failed|und_err_
network | Java | a connection could not be made or broke
    unknownhostexception|java\.net\.(?:connect|socket|sockettimeout|bind|noroutetohost)exception
    httphostconnectexception|connecttimeoutexception
network | Go | a connection could not be made or broke
    : no such host|: i/o timeout|: unexpected eof$
network | .NET | a request failed on its way
    system\.net\.(?:http\.httprequestexception|sockets\.socketexception|webexception)
    an error occurred while sending the request
network | Ruby | a connection could not be made or broke
    errno::e(?:connrefused|connreset|hostunreach|addrinuse|pipe)|net::(?:read|open)timeout|socketerror:
time | any | expected and actual differ in a date or time
    expected[^\n]{0,30}DAY[^\n]{0,60}DAY|assert [^\n]{0,30}DAY[^\n]{0,40}[!=]= [^\n]{0,30}DAY
time | any | something expired
    jwt expired|expiredsignatureerror|signature has expired|token (?:has |is )?expired|tokenexpired
time | Python | times with and without a zone met
    offset-naive and offset-aware|nonexistenttimeerror|ambiguoustimeerror
IO | any | a file was missing, busy or closed to it
    no such file or directory|permission denied|directory not empty|bad file descriptor|input/output error
    stale file handle|device or resource busy|text file busy|read-only file system
IO | Python | a file was missing, present or closed to it
    filenotfounderror|fileexistserror|permissionerror|i/o operation on closed file
IO | Java | a file was missing, present or closed to it
    (?:filenotfound|nosuchfile|filealreadyexists|accessdenied|directorynotempty|filesystem)exception
    stream (?:is )?closed
IO | JavaScript | a file was missing, busy or closed to it
    \be(?:noent|busy|perm|acces|notempty|exist)\b:
IO | .NET | a file was missing or in use
    being used by another process|could not find (?:file|a part of the path)|unauthorizedaccessexception
    system\.io\.(?:io|filenotfound|directorynotfound)exception
IO | Ruby | a file was missing or closed to it
    errno::e(?:noent|acces|exist|busy|notempty)|closed stream
IO | Rust | a file was missing, present or closed to it
    kind: (?:notfound|permissiondenied|alreadyexists)\b
randomness | Python | a generated example failed
    falsifying example|hypothesis\.errors\.flaky|flakyfailure|produces unreliable results
randomness | any | a generated example failed
    property failed after|falsifiable,? after|falsified after|minimal failing input|\[quickcheck\] test failed
    \[rapid\] (?:failed|panic|flaky) after|shrunk sample|counterexample:
resource leak | any | handles, connections or memory ran out
    too many open files|\bemfile\b|cannot allocate memory|too many (?:client )?connections|too many clients already
    remaining connection slots|detected memory leaks|resource temporarily unavailable
resource leak | Python | connections, threads or memory ran out
    resourcewarning: unclosed|queuepool limit|can't start new thread|(?:^|\s)memoryerror\b
resource leak | Java | memory, threads or pooled connections ran out
    outofmemoryerror|unable to create (?:new )?native thread|connection is not available, request timed out
    timeout waiting for connection from pool
resource leak | JavaScript | something was left open
    javascript heap out of memory|worker process has failed to exit gracefully|possible eventemitter memory leak
resource leak | Go | goroutines were left running
    found unexpected goroutines
resource leak | .NET | memory or pooled connections ran out
    outofmemoryexception|prior to obtaining a connection from the pool
resource leak | Ruby | connections or memory ran out
    could not obtain a (?:database )?connection (?:from the pool )?within|nomemoryerror
resource leak | C++ | memory ran out or was left
    std::bad_alloc|leaksanitizer
floating point | JavaScript | numbers differ by more than the tolerance
    \.tobecloseto\(|to be close to [^\n]{1,40} \+/-
floating point | Go | numbers differ by more than the tolerance
    max difference between|max relative error
floating point | Java | numbers differ by more than the tolerance
    a numeric value within|but difference was
floating point | .NET | numbers differ by more than the tolerance
    values are not within|not within [^\n]{1,40} (?:decimal places|tolerance)|expected: [^\n]{1,60} \+/-
floating point | C++ | numbers differ by more than the tolerance
    the difference between [^\n]{1,200} which exceeds
floating point | Rust | numbers differ by more than the tolerance
    assert_(?:relative|abs_diff|ulps|approx)_eq!
floating point | any | a number is off by its last binary digits
    [0-9]\.[0-9]{0,8}(?:0{8}|9{8})[0-9]{1,6}
platform | any | the platform lacks something that it needs
    not supported on this platform|unsupported platform|platformnotsupported|unsatisfiedlinkerror|exec format error
    version `glibc|cannot open shared object file|dllnotfoundexception|badimageformatexception|'charmap' codec can't
    illegal instruction|invalid elf header|dll load failed
too restrictive range | Python | numbers differ by more than the tolerance: it is too narrow, or they are random
    not equal to tolerance|arrays are not almost equal|tensor-likes are not close|== NUMBER ?(?:±|\+-) ?NUMBER
    != [^\n]{1,60} within [^\n]{1,10} places|assert [^\n]{0,60}[0-9]\.[0-9]{0,8}(?:0{8}|9{8})[0-9]{1,6}
too restrictive range | Python | a number is outside the range that is asserted
    assert NUMBER (?:<|>)=? NUMBER|NUMBER not (?:less|greater) than
too restrictive range | JavaScript | a number is outside the range that is asserted
    \.tobe(?:less|greater)than(?:orequal)?\(|expected NUMBER to be (?:below|above|at most|at least|within)
too restrictive range | Java | a number is outside the range that is asserted
    to be (?:strictly )?(?:less|greater) than|expected: a value (?:less|greater|equal to or)|to be between
too restrictive range | Go | a number is outside the range that is asserted
    \" is not (?:less|greater) than
too restrictive range | .NET | a number is outside the range that is asserted
    assert\.inrange\(\) failure|expected: (?:less|greater) than|expected: in range
too restrictive range | Ruby | a number is outside the range that is asserted
    expected: [<>]=? NUMBER
too restrictive range | C++ | a number is outside the range that is asserted
    expected: \([^\n]{1,80}\) [<>]=? \([^\n]{1,80}\), actual:
too restrictive range | Rust | a number is outside the range that is asserted
    assertion failed: [^\n<>]{1,80} [<>]=? [^\n]
infrastructure | any | the machine or its services failed
    no space left|disk (?:is )?full|\benospc\b|disk quota exceeded|oom.?killed|exit code 137|signal: killed
    no such image|cannot connect to the docker daemon|valid docker environment|session not created
    chrome failed to start|devtoolsactiveport|page crashed|tab crashed|forked vm terminated without
    runner has received a shutdown signal|browsertype\.launch:
infrastructure | any | something that should be installed was not
    modulenotfounderror|no module named|cannot find module|could not load file or assembly|noclassdeffounderror
"""
"""Category, ecosystem and sentence; below each its patterns."""


def _rules(table: str) -> tuple[Rule, ...]:
    rows: list[tuple[str, list[str]]] = []
    for line in table.strip().splitlines():
        if line.startswith(" "):
            rows[-1][1].append(line.strip())
        else:
            rows.append((line, []))
    return tuple(_rule(heading, "|".join(patterns)) for heading, patterns in rows)


def _rule(heading: str, pattern: str) -> Rule:
    category, ecosystem, sentence = heading.split(" | ")
    for name, part in _SHORT.items():
        pattern = pattern.replace(name, part)
    return Rule(Category(category), Ecosystem(ecosystem), re.compile(pattern, re.MULTILINE), sentence)


RULES = _rules(_TABLE)

_LISTS = re.compile(
    r"(?:expected|assert)[^\[{(\n]{0,40}[\[{]([^\]}\n]{1,500})[\]}][^\[{\n]{0,60}[\[{]([^\]}\n]{1,500})[\]}]"
)
_REORDERED = Rule(
    Category.UNORDERED, Ecosystem.ANY, _LISTS, "expected and actual have the same members in another order"
)
_BOUND = 8_192
"""Characters of a text that are searched."""


def read(text: str) -> tuple[Rule, ...]:
    """The rules that a failure's type, message and text match, at most one for each category."""
    text = text[:_BOUND].lower()
    found = {rule.category: rule for rule in reversed(RULES) if rule.pattern.search(text)}
    if Category.RANGE in found and found[Category.RANGE].ecosystem is Ecosystem.PYTHON:
        found.pop(Category.FLOATING_POINT, None)  # Python's float arithmetic is deterministic
    if any(_same_members(*match.groups()) for match in _LISTS.finditer(text)):
        found[Category.UNORDERED] = _REORDERED
    return tuple(found[category] for category in Category if category in found)


def _same_members(expected: str, actual: str) -> bool:
    first, second = ([part.strip() for part in side.split(",")] for side in (expected, actual))
    return len(first) > 1 and first != second and sorted(first) == sorted(second)
