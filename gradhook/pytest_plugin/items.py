"""Claims as items of pytest.

The scan finds them, so that nothing is imported here. One worker for each project and pytest process checks them, one
item after the other: it imports JAX once, and ``-k``, ``--lf``, ``-x`` and pytest-xdist decide what it checks.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gradhook.cli.display import displayed
from gradhook.execution.runner import interactive
from gradhook.execution.session import Project, find
from gradhook.model.errors import GradhookError
from gradhook.model.protocol import Job
from gradhook.model.report import Report
from gradhook.model.results import ClaimKind, Target, TargetReport, Verdict
from gradhook.reporters import terminal
from gradhook.reporters.display_options import DisplayOptions
from gradhook.reporters.formatting import advice, clean, decisive_findings, one_line

_WIDTH = 100


class AnswerError(Exception):
    """What is wrong with a claim, as the terminal shows it."""


class AdviceWarning(pytest.PytestWarning):
    """What lies beyond a claim that holds."""


class ClaimPlugin:
    """The claims below the paths that pytest was given, and the workers that check them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.projects: tuple[Project, ...] = ()
        self.jobs: dict[Path, list[tuple[int, Job]]] = defaultdict(list)
        """By file: the claims in it, with the number of their project."""
        self.selected: dict[int, set[int]] = defaultdict(set)
        self.discovered: list[Target] = []
        self._desks = ExitStack()
        self._ask: dict[int, Callable[[int], TargetReport]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Scan, before pytest walks through the files.

        Raises:
            UsageError: a path, a configuration or a file is wrong.
        """
        try:
            self.projects = find(_paths(self.config), {})
        except GradhookError as error:
            raise pytest.UsageError(f"gradhook: {error.message}\n  help: {error.help}") from error
        for number, project in enumerate(self.projects):
            for job in project.jobs:
                if job.number not in project.left_out and job.target.claim is not ClaimKind.RULE:
                    self.jobs[Path(job.target.root, job.target.path).resolve()].append((number, job))

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A collector for a file with claims."""
        if file_path.resolve() not in self.jobs:
            return None
        return ClaimFile.from_parent(parent, path=file_path, claims=self)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Only the modules of items that are left are going to be imported."""
        for item in session.items:
            if isinstance(item, ClaimItem):
                self.selected[item.project].add(item.job.number)

    def pytest_unconfigure(self) -> None:
        """End the workers."""
        self._desks.close()

    def report(self, project: int, job: Job) -> TargetReport:
        """The answers about a claim.

        Raises:
            GradhookError: there is no interpreter with JAX, or its worker cannot run.
        """
        if project not in self._ask:
            mine = self.projects[project]
            numbers = {j.target: j.number for j in mine.jobs}
            wanted = mine.only(lambda target: numbers[target] in self.selected[project])
            python = sys.executable if importlib.util.find_spec("jax") else None
            self._ask[project] = self._desks.enter_context(interactive(wanted, python, self.discovered.append))
        return self._ask[project](job.number)


class ClaimFile(pytest.File):
    """The claims in a file."""

    def __init__(self, *, claims: ClaimPlugin, **more: Any) -> None:
        super().__init__(**more)
        self.claims = claims

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each claim; stacked ones are numbered."""
        names: Counter[str] = Counter()
        for project, job in self.claims.jobs[self.path.resolve()]:
            name = f"gradhook:{clean(job.target.qualname)}"
            names[name] += 1
            name = name if names[name] == 1 else f"{name}:{names[name]}"
            yield ClaimItem.from_parent(self, name=name, claims=self.claims, project=project, job=job)


class ClaimItem(pytest.Item):
    """One claim: an error of its set-up when it could not be run, a failure when it does not hold."""

    def __init__(self, *, claims: ClaimPlugin, project: int, job: Job, **more: Any) -> None:
        super().__init__(**more)
        self.claims, self.project, self.job = claims, project, job
        self.answer: TargetReport | None = None
        self.add_marker("gradhook")

    def setup(self) -> None:
        """Have the question answered.

        Raises:
            AnswerError: the target could not be run.
        """
        try:
            self.answer = self.claims.report(self.project, self.job)
        except GradhookError as error:
            raise AnswerError(f"{error.message}\n  help: {error.help}") from error
        self._warn()
        self._advise(self.answer)
        if self.answer.verdict is Verdict.ERROR:
            raise AnswerError(self._shown())

    def runtest(self) -> None:
        """Say how it came out.

        Raises:
            AnswerError: the claim does not hold, or that is undecided and counts.
        """
        verdict = self.answer.verdict if self.answer else Verdict.SKIP
        strict = self.claims.projects[self.project].config.settings.undecided == "error"
        if verdict is Verdict.FAIL or (verdict is Verdict.UNDECIDED and strict):
            raise AnswerError(self._shown())
        if verdict in (Verdict.UNDECIDED, Verdict.SKIP):
            pytest.skip(self._reason())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Our own errors explain themselves; others are shown with their stack."""
        return str(excinfo.value) if isinstance(excinfo.value, AnswerError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str], int, str]:
        """File, line counted from 0, and name."""
        return self.path, max(self.job.target.line - 1, 0), self.name

    def _shown(self) -> str:
        """What the terminal would show of this target, without the file above it and the summary below."""
        report = Report((self.answer,) if self.answer else ())
        projects = [self.claims.projects[self.project]]
        text = terminal.render(displayed(report, projects, Path.cwd()), DisplayOptions(width=_WIDTH, quiet=True))
        return text.rpartition("\n\n")[0].partition("\n")[2].lstrip()

    def _reason(self) -> str:
        first = decisive_findings(self.answer)[0] if self.answer else None
        undecided = self.answer is not None and self.answer.verdict is Verdict.UNDECIDED
        words = one_line(f"{first.code} {first.message}".strip()) if first else ""
        return f"undecided: {words}" if undecided else words

    def _advise(self, answer: TargetReport) -> None:
        for finding in advice(answer):
            self.warn(AdviceWarning(one_line(f"{clean(answer.target.name)}: {finding.code} {finding.message}")))

    def _warn(self) -> None:
        """Claims that only an import can see are no items, which must not go unsaid."""
        while self.claims.discovered:
            name = self.claims.discovered.pop().name
            text = f"{clean(name)} is claimed where no scan sees it, so it is no item: `gradhook check` examines it"
            self.warn(pytest.PytestCollectionWarning(text))


def _paths(config: pytest.Config) -> list[Path]:
    """The files and folders that pytest was given, or goes through by itself."""
    given = [Path(config.invocation_params.dir, argument.partition("::")[0]) for argument in config.args]
    return [path for path in given if path.exists()] or [config.rootpath]
