"""Which notices are silenced, and which comments are said to be useless?"""

from __future__ import annotations

import pytest

from gradhook.model.results import Finding, Verdict
from gradhook.projects.suppressions import FilteredReport

from .conftest import Hearing, answer

NARROW = Finding("GRD406", Verdict.UNDECIDED, "narrow", path="m.py", line=7)
CLAIMED = "@gradcheck(args=(1.0,))  # gradhook: ignore[{}]\ndef f(x):\n    y = x\n    return y{}\n"
RULE = "@jax.custom_jvp  # gradhook: ignore[{}]\ndef g(x): return x\n"
BROKEN = Finding("GRD901", Verdict.ERROR, "import failed")


def said(heard: FilteredReport) -> list[str]:
    return [f"{notice.line} {notice.code} {notice.message}" for notice in heard.notices]


def test_a_rule_without_a_claim(hearing: Hearing) -> None:
    heard = hearing(RULE.format("GRD501"), answer())
    assert (said(heard), [(i.code, i.by, i.verdict, i.target) for i in heard.ignored]) == (
        [],
        [("GRD501", "comment m.py:4", None, "")],
    )
    claimed = hearing("@gradcheck(args=(1.0,))\n" + RULE.format("GRD501"), answer())
    assert said(claimed) == ["5 GRD503 nothing to ignore here: GRD501 of `# gradhook: ignore[GRD501]`"]


@pytest.mark.parametrize(
    ("setting", "count"), [("unclaimed = 'ignore'", 0), ("ignore = ['GRD50']", 1), ("select = ['GRD1']", 0)]
)
def test_settings_silence_notices(hearing: Hearing, setting: str, count: int) -> None:
    heard = hearing("@jax.custom_jvp\ndef g(x): return x\n", answer(), f"[tool.gradhook]\n{setting}\n")
    assert (said(heard), len(heard.ignored)) == ([], count)


def test_unused(hearing: Hearing) -> None:
    heard = hearing(CLAIMED.format("GRD406, GRD405", ""), answer(NARROW))
    assert said(heard) == ["4 GRD503 nothing to ignore here: GRD405 of `# gradhook: ignore[GRD406, GRD405]`"]


LINE = "  # gradhook: ignore[GRD405]"
QUIET = {
    "used": (CLAIMED.format("GRD406", ""), answer(NARROW), {}),
    "used though the setting says the same": (
        CLAIMED.format("GRD406", ""), answer(NARROW), {"toml": "[tool.gradhook]\nignore = ['GRD4']\n"},
    ),
    "the target was not checked": (CLAIMED.format("GRD406", ""), None, {}),
    "the target could not run": (CLAIMED.format("GRD406", ""), answer(BROKEN), {}),
    "the code was not asked about": (CLAIMED.format("GRD406", ""), answer(), {"select": "GRD1,GRD5"}),
    "only a part of the group was asked about": (CLAIMED.format("GRD1", ""), answer(), {"select": "GRD101,GRD5"}),
    "inside, and not all was checked": (CLAIMED.format("GRD406", LINE), answer(NARROW), {"whole": False}),
    "by its own code": (CLAIMED.format("GRD405, GRD503", ""), answer(), {}),
    "by a setting": (CLAIMED.format("GRD405", ""), answer(), {"toml": "[tool.gradhook]\nignore = ['GRD503']\n"}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "about", "more"), QUIET.values(), ids=QUIET)
def test_not_said_to_be_unused(hearing, text, about, more) -> None:
    assert said(hearing(text, about, **more)) == []


LOUD = {
    "inside, and all was checked": (CLAIMED.format("GRD406", LINE), {"whole": True}, "7 GRD503"),
    "at the target, and not all was checked": (CLAIMED.format("GRD406, GRD1", ""), {"whole": False}, "4 GRD503"),
    "bare": (CLAIMED.format("GRD406", "  # gradhook: ignore"), {}, "7 GRD504"),
    "empty": (CLAIMED.format("GRD406", "  # gradhook: ignore[ ]"), {}, "7 GRD504"),
    "no code": (CLAIMED.format("GRD406, E501", ""), {}, "4 GRD504 `E501` in an ignore comment is no code of gradhook"),
    "no such code": (CLAIMED.format("GRD406, GRD699", ""), {}, "4 GRD504 `GRD699`"),
    "everything": (CLAIMED.format("GRD406, GRD", ""), {}, "4 GRD504 `GRD`"),
    "an error": (CLAIMED.format("GRD406, GRD901", ""), {}, "4 GRD504 GRD901 says"),
}


@pytest.mark.parametrize(("text", "more", "start"), LOUD.values(), ids=LOUD)
def test_said_to_be_useless(hearing, text, more, start) -> None:
    (line,) = said(hearing(text, answer(NARROW), **more))
    assert line.startswith(start)
