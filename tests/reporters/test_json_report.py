"""Is the JSON report what its published schema says?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gradhook.model.report import Report
from gradhook.model.results import Verdict
from gradhook.reporters.json_report import SCHEMA, render

PUBLISHED = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def document(rich: Report) -> dict[str, Any]:
    return json.loads(render(rich))


def validate(document: dict[str, Any]) -> None:
    jsonschema.validate(document, PUBLISHED, cls=jsonschema.Draft202012Validator)


def test_the_published_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(PUBLISHED)
    assert PUBLISHED["properties"]["schema"] == {"const": SCHEMA}


def test_a_rich_report_follows_it(document: dict[str, Any]) -> None:
    validate(document)


def test_pictures_follow_it(pictured: Report) -> None:
    document = json.loads(render(pictured))
    validate(document)
    assert document["targets"][2]["findings"][0]["curve"]["central"] == [-0.5, "nan"]
    for kind, part in (
        ("curve", document["targets"][1]["findings"][0]["curve"]),
        ("jacobian", document["targets"][1]["outcomes"][0]["jacobian"]),
        ("staircase", document["targets"][3]["outcomes"][1]["staircases"][0]),
    ):
        schema = PUBLISHED["$defs"][kind]
        assert set(part) == set(schema["properties"]) == set(schema["required"])


def test_an_empty_report_follows_it() -> None:
    document = json.loads(render(Report(())))
    validate(document)
    assert document["verdict"] == "skip"
    assert document["counts"] == {"pass": 0, "advice": 0, "fail": 0, "undecided": 0, "error": 0, "skip": 0}


@pytest.mark.parametrize("where", ["", "targets", "findings", "outcomes", "notices", "ignored"])
def test_the_schema_describes_every_key_and_requires_it(document: dict[str, Any], where: str) -> None:
    huber = document["targets"][1]
    outcome = document["targets"][0]["outcomes"][0]
    parts = {
        "": (document, PUBLISHED),
        "targets": (huber, PUBLISHED["$defs"]["target"]),
        "findings": (huber["findings"][0], PUBLISHED["$defs"]["finding"]),
        "outcomes": (outcome, PUBLISHED["$defs"]["outcome"]),
        "notices": (document["notices"][0], PUBLISHED["$defs"]["notice"]),
        "ignored": (document["ignored"][0], PUBLISHED["$defs"]["ignored"]),
    }
    part, schema = parts[where]
    assert set(part) == set(schema["properties"]) == set(schema["required"])


def test_what_it_says(document: dict[str, Any]) -> None:
    assert document["verdict"] == "error"
    assert document["counts"] == {"pass": 2, "advice": 0, "fail": 1, "undecided": 1, "error": 1, "skip": 1}
    assert document["settings"]["seed"] == {"value": 7, "origin": "--seed"}
    assert document["settings"]["modes"]["value"] == ["fwd"]
    huber = document["targets"][1]
    assert (huber["target"], huber["claim"], huber["verdict"]) == ("losses:huber", "exact", "fail")
    finding = huber["findings"][0]
    assert (finding["claimed"], finding["measured"], finding["index"]) == (-0.5, 0.5, [3])


def test_non_finite_numbers_are_text_and_a_finding_has_a_place(document: dict[str, Any]) -> None:
    finding = document["targets"][1]["findings"][1]
    assert (finding["claimed"], finding["measured"]) == ("nan", "-inf")
    assert (finding["path"], finding["line"]) == ("a/losses.py", 12)


def test_hostile_text_is_escaped_by_json_and_nothing_else(target) -> None:
    name = 'f"\x1b\udcff\u2028'
    text = render(Report((target(name, Verdict.PASS),), environment={"device": name, "load": float("inf")}))
    assert text.isascii()
    document = json.loads(text)
    assert document["targets"][0]["target"] == f"losses:{name}"
    assert document["environment"] == {"device": name, "load": "inf"}


def test_a_wrong_report_does_not_follow_the_schema(document: dict[str, Any]) -> None:
    document["targets"][0]["verdict"] = "green"
    with pytest.raises(jsonschema.ValidationError):
        validate(document)


def test_rendering_twice_is_the_same(rich: Report) -> None:
    assert render(rich) == render(replace(rich))
