"""What CI sends as a value that can be changed, and the changes: each keeps every failing thing readable under its own
name, or leaves a trace of it."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from tests.redteam.documents import tarred, zipped, zstd
from tests.redteam.writers import WRITERS, Result, junit

QUARANTINED = "test_quarantined"
ERROR = "<error message='the class cannot be loaded'/>"


@dataclass(frozen=True)
class File:
    """One file: results and how they are written, or bytes that were made of them."""

    name: str
    results: tuple[Result, ...] = ()
    writer: str = "junit"
    error: bool = False
    """It has the error of a suite; only JUnit's writer has that."""
    surplus: int = 0
    """Its header counts so many failures that are not there."""
    raw: bytes | None = None

    @property
    def content(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.writer == "junit":
            return junit(self.results, inside=ERROR if self.error else "", surplus=self.surplus)
        return WRITERS[self.writer](self.results)

    @property
    def is_structured(self) -> bool:
        return self.raw is None

    @property
    def rests_on_its_header(self) -> bool:
        """The only trace of what failed is a number: whoever changes that has removed the trace itself."""
        return bool(self.surplus)


@dataclass(frozen=True)
class Submission:
    """All that is sent of one run: uploads of files, and the exit code."""

    uploads: tuple[tuple[File, ...], ...]
    exit_code: int = 1
    norm: int | None = None
    waiting: bool = False
    """The last upload is not processed when the gate is asked."""
    started_at: str = ""
    changes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def files(self) -> list[File]:
        return [file for upload in self.uploads for file in upload]

    def with_file(self, number: int, *files: File) -> "Submission":
        """The file with this number replaced by others, in the same upload."""
        uploads, at = [], 0
        for upload in self.uploads:
            kept: list[File] = []
            for file in upload:
                kept += files if at == number else [file]
                at += 1
            uploads.append(tuple(kept))
        return replace(self, uploads=tuple(upload for upload in uploads if upload))


# -- honest runs that are held ---------------------------------------------------------------------------------------

_TESTS = st.lists(st.integers(0, 30).map(lambda number: f"test_{number:02}"), min_size=4, max_size=10, unique=True)


@st.composite
def held_runs(draw: st.DrawFn) -> Submission:
    """A run in which the quarantined test fails, and something else that no quarantine excuses."""
    results = [Result(name) for name in draw(_TESTS)] + [Result(QUARANTINED, failed=True)]
    reason = draw(st.sampled_from(["real", "real", "real", "error", "surplus", "exit code", "too few"]))
    if reason == "real":
        results += [Result(f"real_failure_{number}", failed=True) for number in range(draw(st.integers(1, 3)))]
    results = draw(st.permutations(results))
    cut = draw(st.integers(1, len(results)))
    parts = [part for part in (results[:cut], results[cut:]) if part]
    files = [File(f"report{number}.xml", tuple(part)) for number, part in enumerate(parts)]
    if reason == "error":
        files[-1] = replace(files[-1], error=True)
    if reason == "surplus":
        files[-1] = replace(files[-1], surplus=draw(st.integers(1, 3)))
    uploads = (tuple(files),) if draw(st.booleans()) else tuple((file,) for file in files)
    norm = 2 * len(results) if reason == "too few" else draw(st.sampled_from([None, len(results)]))
    return Submission(uploads, 2 if reason == "exit code" else 1, norm, changes=(reason,))


# -- changes -----------------------------------------------------------------------------------------------------------

Change = Callable[[st.DrawFn, Submission, int], Submission]


def drop(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    """A passing test is not reported."""
    file = sent.files[number]
    passing = [result for result in file.results if not result.failed]
    if not file.is_structured or not passing:
        return sent
    gone = draw(st.sampled_from(passing))
    return sent.with_file(number, replace(file, results=tuple(one for one in file.results if one != gone)))


def duplicate(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    """A test is reported once more, perhaps as passing; or the whole file is sent again under another name."""
    file = sent.files[number]
    if not file.is_structured or not file.results or draw(st.booleans()):
        return sent.with_file(number, file, replace(file, name=f"again-{file.name}"))
    again = replace_failed(draw(st.sampled_from(file.results)), failed=False)
    at = draw(st.integers(0, len(file.results)))
    return sent.with_file(number, replace(file, results=(*file.results[:at], again, *file.results[at:])))


def replace_failed(result: Result, *, failed: bool) -> Result:
    return result._replace(failed=failed)


def rename(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    """A file, or a test that passes, is called something else; a failing one keeps its name."""
    file = sent.files[number]
    passing = [at for at, result in enumerate(file.results) if not result.failed]
    if not file.is_structured or not passing or draw(st.booleans()):
        return sent.with_file(
            number, replace(file, name=draw(st.sampled_from(["a", "a.png", "log.txt", "..", "x/y.zip"])))
        )
    at, results = draw(st.sampled_from(passing)), list(file.results)
    results[at] = results[at]._replace(name=draw(st.sampled_from(["other", QUARANTINED, "real_failure_0"])))
    return sent.with_file(number, replace(file, results=tuple(results)))


def reorder(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    file = sent.files[number]
    if file.is_structured:
        sent = sent.with_file(number, replace(file, results=tuple(draw(st.permutations(file.results)))))
    return replace(sent, uploads=tuple(draw(st.permutations(sent.uploads))))


def damage(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    """A few bytes are changed, lost or added, or all from some place on is lost."""
    file = sent.files[number]
    if file.rests_on_its_header:
        return sent
    content = file.content
    at = draw(st.integers(0, max(len(content) - 1, 0)))
    if draw(st.integers(0, 3)) == 0:
        return sent.with_file(number, replace(file, raw=content[:at]))
    lost, added = draw(st.integers(0, 3)), draw(st.binary(max_size=3))
    return sent.with_file(number, replace(file, raw=content[:at] + added + content[at + lost :]))


_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstd,
    "zip": lambda content: zipped(("a.xml", content)),
    "folder": lambda content: zipped(("a/", content)),
    "tar": lambda content: tarred(("a.xml", content)),
    "tar.gz": lambda content: tarred(("a.xml", content), mode="w:gz"),
}


def compress(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    packed = _PACKERS[draw(st.sampled_from(sorted(_PACKERS)))]
    file = sent.files[number]
    return sent.with_file(number, replace(file, raw=packed(file.content)))


def convert(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    file = sent.files[number]
    if not file.is_structured or file.error or file.surplus or not file.results:
        return sent
    return sent.with_file(number, replace(file, writer=draw(st.sampled_from(sorted(WRITERS)))))


def split(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    """A file becomes two, or an upload of its own."""
    file = sent.files[number]
    if file.is_structured and len(file.results) > 1 and draw(st.booleans()):
        at = draw(st.integers(1, len(file.results) - 1))
        rest = replace(file, name=f"rest-{file.name}", results=file.results[at:], error=False, surplus=0)
        return sent.with_file(number, replace(file, results=file.results[:at]), rest)
    without = sent.with_file(number)
    return replace(without, uploads=(*without.uploads, (file,)))


def delay(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    return replace(sent, waiting=True)


def reclock(draw: st.DrawFn, sent: Submission, number: int) -> Submission:
    stated = draw(
        st.sampled_from(
            ["1970-01-01T00:00:00Z", "2019-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]
        )
    )
    return replace(sent, started_at=stated)


CHANGES: tuple[Change, ...] = (drop, duplicate, rename, reorder, damage, compress, convert, split, delay, reclock)


@st.composite
def changed(draw: st.DrawFn, sent: Submission) -> Submission:
    """Some changes, one after the other, each of a file of its own choice."""
    for change in draw(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=5)):
        number = draw(st.integers(0, len(sent.files) - 1))
        sent = change(draw, sent, number)
        sent = replace(sent, changes=(*sent.changes, change.__name__))
    return sent
