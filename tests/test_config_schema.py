"""Does the published schema of the configuration say what gradhook itself says about a file?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradhook
from gradhook.config import load, schema
from gradhook.config.settings import OPTIONS, Option
from gradhook.config.values import read_value
from gradhook.model.errors import GradhookError

REPOSITORY = Path(gradhook.__file__).parents[1]
PUBLISHED = REPOSITORY / "docs" / "config.schema.json"
VALIDATOR = jsonschema.Draft7Validator(schema.schema())
WORDS = ["GRD1", "grd406", "GRD1, GRD2", "GRD9999", "auto", "cpu", "fwd", "fwd,rev", "warn", "", " ", ","]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.floats(-1e6, 1e6) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a/*", "G", " "]), inner, max_size=2),
    max_leaves=4,
)


def fits(document: dict[str, Any]) -> bool:
    return bool(VALIDATOR.is_valid(document))


def blocks() -> list[tuple[str, dict[str, Any]]]:
    """The settings in every TOML block of the documentation."""
    pages = [
        REPOSITORY / "README.md",
        *sorted((REPOSITORY / "docs").glob("*.md")),
        *(REPOSITORY / "gradhook/checks/rules").glob("*.md"),
    ]
    found = []
    for page in pages:
        for text in re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            document = tomllib.loads(text)
            if "tool" in document and "gradhook" in document["tool"]:
                found.append((page.name, document["tool"]["gradhook"]))
            elif "# gradhook.toml" in text:
                found.append((page.name, document))
    return found


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_default_fits(option: Option) -> None:
    default = json.loads(json.dumps(option.default))
    assert default is None or fits({option.toml: default})
    assert default is None or fits({option.key: default})


@given(st.sampled_from(OPTIONS), VALUES)
def test_what_gradhook_takes_fits_and_what_it_refuses_does_not(option: Option, value: Any) -> None:
    try:
        read_value(option, value)
        taken = True
    except ValueError:
        taken = False
    integral = isinstance(value, float) and value.is_integer() and option.kind in ("whole", "count")
    assert fits({option.toml: value}) == taken or integral  # to JSON, 1.0 is whole; to TOML it is not


@pytest.mark.parametrize(
    "document",
    [
        {"timout": 3},
        {"targets": {"no target": {}}},
        {"targets": {"m:f": {"arg": []}}},
        {"targets": {"m:f": {"order": 2, "rule": "m:g"}}},
        {"targets": {"m:f": 3}},
    ],
)
def test_what_is_refused(document: dict[str, Any], tmp_path: Path) -> None:
    assert not fits(document)


def test_examples_of_the_documentation_fit() -> None:
    found = blocks()
    assert {"README.md", "configuration.md", "GRD903.md"} <= {name for name, _ in found}
    assert {name: str(e) for name, block in found for e in VALIDATOR.iter_errors(block)} == {}


def test_our_own_configuration_fits() -> None:
    own = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["gradhook"]
    assert fits(own)


def test_choices_are_those_that_the_checker_knows() -> None:
    pytest.importorskip("jax")
    from gradhook.execution.worker.cases import case_options, specs

    options = schema.schema()["properties"]["targets"]["additionalProperties"]["properties"]
    assert tuple(options["order2"]["enum"]) == case_options.ORDER2
    assert tuple(options["ties"]["enum"]) == case_options.TIES
    assert tuple(options["bounds"]["enum"]) == case_options.BOUNDS
    assert tuple(options["stop_gradient"]["enum"]) == case_options.STOPPED
    assert tuple(options["kink"]["anyOf"][0]["enum"]) == case_options.KINKS
    assert all(word in options["domain"]["description"] for word in specs.WORDS)


@pytest.mark.parametrize(("text", "code"), [("order = 2\n[targets.'m:f']\nargs = [1.0]\n", 0), ("ordr = 2\n", 1)])
def test_a_validator_that_users_run(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "gradhook.toml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile", str(PUBLISHED), "gradhook.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    if code:
        with pytest.raises(GradhookError):
            load(tmp_path, {}, {})
    else:
        load(tmp_path, {}, {})


def test_the_schema_is_one() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--check-metaschema", str(PUBLISHED)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
