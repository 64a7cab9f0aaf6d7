"""An exception of the user's becomes a finding that names their own last line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradhook.execution.worker.user_errors import escaped, fault, relative
from gradhook.model.errors import LONGEST, in_words


def _caught(root: Path, source: str, name: str = "mod.py") -> BaseException:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        exec(compile(source, str(file), "exec"), {"json": json})
    return caught.value


def test_the_user_s_last_frame_not_the_library_s(tmp_path: Path) -> None:
    error = _caught(tmp_path, "def f():\n    json.loads('{')\nf()\n", "pkg/mod.py")
    finding = fault("GRD902", error, tmp_path, case="batch")
    assert (finding.path, finding.line, finding.case) == ("pkg/mod.py", 2, "batch")
    assert finding.message.startswith("the arguments could not be made: JSONDecodeError: ")


def test_a_library_s_frame_when_there_is_no_other(tmp_path: Path) -> None:
    library = _caught(tmp_path, "raise ValueError('deep')", ".venv/lib/site-packages/lib.py")
    finding = escaped(library, tmp_path)
    assert (finding.code, finding.path) == ("GRD904", ".venv/lib/site-packages/lib.py")


def test_an_environment_inside_the_project_is_not_the_user_s(tmp_path: Path) -> None:
    library = tmp_path / ".venv" / "lib" / "site-packages" / "lib.py"
    library.parent.mkdir(parents=True)
    library.write_text("def fail():\n    raise ValueError\n")
    call = f"import runpy\nrunpy.run_path({str(library)!r})['fail']()\n"
    finding = fault("GRD904", _caught(tmp_path, call), tmp_path)
    assert (finding.path, finding.line) == ("mod.py", 2)


def test_our_own_mistake_asks_for_a_report(tmp_path: Path) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        relative(None, tmp_path)  # type: ignore[arg-type]
    error = caught.value
    assert error.__traceback__ is not None
    finding = escaped(error.with_traceback(error.__traceback__.tb_next), tmp_path)
    assert finding.code == "GRD908" and "report it" in finding.help


@pytest.mark.parametrize(
    "error, expected",
    [
        (ValueError("one\n\n  two"), "ValueError: one two"),
        (ValueError(), "ValueError"),
        (ValueError("\n\n  late"), "ValueError: late"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_text(error: BaseException, expected: str) -> None:
    assert in_words(error) == expected


def test_nothing_is_cut_but_what_nobody_can_read() -> None:
    long = "several words " * 500
    assert in_words(ValueError(long)) == f"ValueError: {long.strip()}"
    told = in_words(ValueError("several words " * 600))
    assert told.endswith(" … (406 more characters)") and len(told) < LONGEST + 50
    assert in_words(ValueError("x" * 10_000)) == f"ValueError: {'x' * LONGEST} … (2000 more characters)"


@pytest.mark.parametrize(
    ("call", "help"),
    [
        ("gradcheck(arg=(1.0,))", "did you mean args=? gradcheck takes args, kwargs, order, "),
        ("surrogate(foward=abs)", "did you mean forward=? surrogate takes forward, "),
        ("case(1.0, values=3)", "did you mean value=? case takes kwargs, value, derivative, tangent, kink"),
        ("raises(ValueError, 1.0, mtch='x')", "did you mean match=? raises takes kwargs, match"),
        ("gradcheck(zzz=1)", "gradcheck takes args, kwargs, "),
        ("dict(1, 2)", ""),
    ],
)
def test_an_unknown_keyword_of_ours(tmp_path: Path, call: str, help: str) -> None:
    error = _caught(tmp_path, f"from gradhook import case, gradcheck, raises, surrogate\n{call}\n")
    finding = fault("GRD901", error, tmp_path)
    assert (finding.path, finding.line) == ("mod.py", 2)
    assert finding.help.startswith(help)
    assert bool(finding.help) == bool(help)
