"""Does ``gradhook list`` show what would run, without running anything?"""

from __future__ import annotations

import json

RULE = "@jax.custom_jvp\ndef unclaimed(x):\n    return x\n"
NESTED = "def outer():\n    @gradcheck(args=(1.0,))\n    def inner(x):\n        return x\n"
BOMB = "raise SystemExit('imported')\n"


def test_the_table(gradhook, project) -> None:
    project("f", "longer_name", extra=RULE)
    said = gradhook("list")
    assert (said.code, said.err) == (0, "")
    assert said.out == (
        "m:f            m.py:8   exact  decorator\n"
        "m:longer_name  m.py:12  exact  decorator\n"
        "\n"
        "m.py:4: GRD501 custom rule `unclaimed` (jax.custom_jvp) has no claim: nothing checks it; claim it, or "
        "annotate its arguments by jaxtyping\n"
        "\n"
        "2 targets in 1 file\n"
    )


def test_nothing_is_imported(gradhook, project) -> None:
    project("f", extra=BOMB)
    said = gradhook("list")
    assert said.code == 0
    assert "m:f" in said.out


def test_what_cannot_be_reached_says_why(gradhook, project) -> None:
    project(extra=NESTED)
    row = gradhook("list").out.splitlines()[0]
    assert "GRD502 cannot be reached: nested in the function outer" in row


def test_json(gradhook, project) -> None:
    project("f", extra=RULE + NESTED)
    document = json.loads(gradhook("list", "--output-format", "json").out)
    targets = {target["target"].rpartition(".")[2]: target for target in document["targets"]}
    assert (document["schema"], document["files"]) == (1, 1)
    assert targets["m:f"]["unreachable"] is None
    assert "nested" in targets["inner"]["unreachable"]
    assert [notice["code"] for notice in document["notices"]] == ["GRD501"]


def test_concise(gradhook, project) -> None:
    project("f")
    assert gradhook("list", "--output-format", "concise").out == "m.py:5: m:f exact decorator\n"


def test_k_and_unclaimed(gradhook, project) -> None:
    project("f", "g", extra=RULE)
    said = gradhook("list", "-k", "g", "--unclaimed", "ignore")
    assert "m:f" not in said.out
    assert "GRD501" not in said.out
    assert "m:g" in said.out


def test_an_empty_folder_of_python(gradhook, project) -> None:
    project()
    assert gradhook("list").out == "0 targets in 1 file\n"
