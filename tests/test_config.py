"""Does the configuration say who said what, and does it refuse what is wrong, all of it at once?"""

from __future__ import annotations

import inspect
import string
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gradhook
from gradhook.config import Config, Settings, Source, load, project_root, schema
from gradhook.config.settings import BY_KEY, OPTIONS, Option, level_of
from gradhook.config.target_tables import COMMON_OPTIONS, EXACT_ONLY, SURROGATE_ONLY, is_target_name
from gradhook.model.errors import GradhookError
from gradhook.model.results import ClaimKind

DOCS = Path(gradhook.__file__).parents[1] / "docs"


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def complaints(folder: Path, **more: dict[str, str]) -> list[str]:
    with pytest.raises(GradhookError) as caught:
        load(folder, more.get("overrides", {}), more.get("environ", {}))
    assert caught.value.help
    return [line.removeprefix(str(folder / "pyproject.toml")) for line in caught.value.message.splitlines()]


def test_defaults(tmp_path: Path) -> None:
    config = load(write(tmp_path, ""), {}, {})
    assert config == Config(tmp_path, Settings(), dict.fromkeys(BY_KEY, "default"))


def test_every_setting_is_in_the_table_and_its_default_is_a_value_it_takes(tmp_path: Path) -> None:
    assert [f.name for f in fields(Settings)] == [o.key for o in OPTIONS]
    environ = {
        o.variable: ",".join(o.default) if isinstance(o.default, tuple) else str(o.default)
        for o in OPTIONS
        if o.default is not None
        and o.kind not in ("globs", "levels")  # an empty one is no text, and a table has a shorter one
    } | {"GRADHOOK_ADVICE": "warn"}
    assert load(write(tmp_path, ""), {}, environ).settings == Settings()


def test_the_published_schema_is_up_to_date() -> None:
    help = "run `python -m gradhook.config.schema > docs/config.schema.json`"
    assert (DOCS / "config.schema.json").read_text(encoding="utf-8") == schema.text(), help


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_key_is_documented(option: Option) -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{option.toml}` |")]
    assert option.help.rstrip(".") in row


GOOD = {
    "order": ("2", 2),
    "modes": ('["rev", "fwd", "rev"]', ("rev", "fwd")),
    "atol": ("1e-8", 1e-8),
    "rtol": ("0", 0.0),
    "seed": ("7", 7),
    "timeout": ("5", 5.0),
    "max-memory": ("4000", 4000.0),
    "platform": ('"gpu"', "gpu"),
    "python": ('"python3.12"', "python3.12"),
    "select": ('["GRD1", "grd203"]', ("GRD1", "GRD203")),
    "ignore": ('"GRD401, GRD402"', ("GRD401", "GRD402")),
    "per-file-ignores": (
        '{"tests/*" = ["GRD406", "grd1"], "b.py" = "GRD2"}',
        {"tests/*": ("GRD406", "GRD1"), "b.py": ("GRD2",)},
    ),
    "exclude": ('["a,b", "build/"]', ("a,b", "build/")),
    "undecided": ('"warn"', "warn"),
    "advice": ('{default = "ignore", grd204 = "error"}', {"default": "ignore", "GRD204": "error"}),
    "unclaimed": ('"ignore"', "ignore"),
    "weakened": ('"error"', "error"),
    "output-format": ('"json"', "json"),
    "self-test": ("true", True),
    "curves": ("true", True),
    "jobs": ('"auto"', "auto"),
    "max-seconds": ("10", 10.0),
    "slow": ("false", False),
    "fail-on-empty": ("true", True),
    "exit_zero": ("true", True),
    "cache": ("false", False),
}


@pytest.mark.parametrize("key", GOOD)
def test_the_file_sets_it(tmp_path: Path, key: str) -> None:
    toml, value = GOOD[key]
    config = load(write(tmp_path, f"[tool.gradhook]\n{key} = {toml}\n"), {}, {})
    name = key.replace("-", "_")
    assert getattr(config.settings, name) == value
    assert type(getattr(config.settings, name)) is type(value)
    assert config.origins[name] == "pyproject.toml"


def test_good_covers_the_table() -> None:
    assert {key.replace("-", "_") for key in GOOD} == set(BY_KEY)


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("GRADHOOK_TIMEOUT", "2.5", "timeout", 2.5),
        ("GRADHOOK_FAIL_ON_EMPTY", "yes", "fail_on_empty", True),
        ("GRADHOOK_EXIT_ZERO", "OFF", "exit_zero", False),
        ("GRADHOOK_SELECT", "GRD1, GRD2,", "select", ("GRD1", "GRD2")),
        ("GRADHOOK_ORDER", " 2 ", "order", 2),
        (
            "GRADHOOK_PER_FILE_IGNORES",
            "a/*:GRD1, b.py:grd2,a/*:GRD3",
            "per_file_ignores",
            {"a/*": ("GRD1", "GRD3"), "b.py": ("GRD2",)},
        ),
        ("GRADHOOK_ADVICE", "error", "advice", {"default": "error"}),
        (
            "GRADHOOK_ADVICE",
            "GRD204:error, grd2:ignore",
            "advice",
            {"default": "warn", "GRD204": "error", "GRD2": "ignore"},
        ),
        ("GRADHOOK_JOBS", "3", "jobs", 3),
        ("GRADHOOK_JOBS", "auto", "jobs", "auto"),
    ],
)
def test_the_environment_sets_it(tmp_path: Path, variable: str, text: str, key: str, value: object) -> None:
    config = load(write(tmp_path, ""), {}, {variable: text})
    assert getattr(config.settings, key) == value
    assert config.origins[key] == variable


def test_precedence(tmp_path: Path) -> None:
    write(tmp_path, "[tool.gradhook]\ntimeout = 1\nseed = 1\norder = 2\n")
    environ = {"GRADHOOK_TIMEOUT": "2", "GRADHOOK_SEED": "2", "GRADHOOK_PLATFORM": ""}
    config = load(tmp_path, {"timeout": "3", "rtol": None, "select": ()}, environ)
    chosen, origins = config.settings, config.origins
    assert (chosen.timeout, chosen.seed, chosen.order, chosen.rtol) == (3.0, 2, 2, Settings().rtol)
    assert [origins[k] for k in ("timeout", "seed", "order", "rtol", "platform", "select")] == [
        "--timeout", "GRADHOOK_SEED", "pyproject.toml", "default", "default", "default",
    ]  # fmt: skip


def test_a_level_is_that_of_the_longest_beginning_that_is_named(tmp_path: Path) -> None:
    write(tmp_path, "[tool.gradhook.advice]\nGRD2 = 'ignore'\nGRD204 = 'error'\n")
    from_file = load(tmp_path, {}, {"GRADHOOK_ADVICE": ""}).settings.advice
    assert [level_of(code, from_file) for code in ("GRD204", "GRD206", "GRD301")] == ["error", "ignore", "warn"]
    said = load(tmp_path, {"advice": ("ignore", "GRD206:warn")}, {"GRADHOOK_ADVICE": "error"})
    assert [level_of(code, said.settings.advice) for code in ("GRD204", "GRD206")] == ["ignore", "warn"]
    assert said.origins["advice"] == "--advice"
    assert load(tmp_path, {}, {"GRADHOOK_ADVICE": "error"}).settings.advice == {"default": "error"}


def test_repeated_options_are_one_list(tmp_path: Path) -> None:
    assert load(tmp_path, {"select": ("GRD1,GRD2", "GRD3")}, {}).settings.select == ("GRD1", "GRD2", "GRD3")


def test_a_switch_can_be_turned_off_again(tmp_path: Path) -> None:
    write(tmp_path, "[tool.gradhook]\nfail-on-empty = true\n")
    config = load(tmp_path, {"fail_on_empty": False}, {})
    assert (config.settings.fail_on_empty, config.origins["fail_on_empty"]) == (False, "--fail-on-empty")


REFUSED = [
    ("timout = 3", "unknown key 'timout' in [tool.gradhook]; did you mean 'timeout'?"),
    ("fail_on_emtpy = true", "unknown key 'fail_on_emtpy' in [tool.gradhook]; did you mean 'fail-on-empty'?"),
    ("zzz = 3", "unknown key 'zzz' in [tool.gradhook]"),
    ("order = true", "order must be 1 or 2, not True"),
    ("order = 3", "order must be 1 or 2, not 3"),
    ("order = '1'", "order must be 1 or 2, not '1'"),
    ("timeout = nan", "timeout must be seconds from 0.1 to 604800, not nan"),
    ("rtol = inf", "rtol must be a number from 0 up, not inf"),
    ("rtol = -1", "rtol must be a number from 0 up, not -1"),
    ("rtol = 0x" + "f" * 5000, "rtol must be a number from 0 up, not this int"),
    ("seed = -1", "seed must be a whole number from 0 to 4294967295, not -1"),
    ("modes = []", "modes must be fwd, rev or both, not []"),
    ("modes = ['fwd', 'backward']", "modes must be fwd, rev or both, not ['fwd', 'backward']"),
    ("select = ['E501']", "select must be rule codes or their beginnings, such as GRD101 or GRD1, not ['E501']"),
    ("select = [1]", "select must be rule codes or their beginnings, such as GRD101 or GRD1, not [1]"),
    ("exit-zero = 1", "exit-zero must be true or false, not 1"),
    ("undecided = 'wran'", "undecided must be one of error, warn, not 'wran'"),
    (
        "advice = 'fatal'",
        "advice must be one of warn, error, ignore, or such a level for each code: GRD204:error, not 'fatal'",
    ),
    (
        "advice = {E9 = 'warn'}",
        "advice must be one of warn, error, ignore, or such a level for each code: GRD204:error, not {'E9': 'warn'}",
    ),
    (
        "advice = ['warn']",
        "advice must be one of warn, error, ignore, or such a level for each code: GRD204:error, not ['warn']",
    ),
    ("python = ''", "python must be the path or name of an interpreter, not ''"),
    ("exclude = 1979-05-27", "exclude must be path patterns, not datetime.date(1979, 5, 27)"),
    ("targets = 3", "targets must be a table, not 3"),
]


@pytest.mark.parametrize(("line", "complaint"), REFUSED)
def test_refused_with_the_line(tmp_path: Path, line: str, complaint: str) -> None:
    write(tmp_path, f"[project]\nname = 'x'\n\n[tool.gradhook]\n{line}\n")
    assert complaints(tmp_path) == [f":5: {complaint}"]


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    write(tmp_path, "tool.gradhook.sed = 1\ntool.gradhook.order = 9\n")
    environ, overrides = {"GRADHOOK_EXIT_ZERO": "maybe"}, {"timeout": "soon"}
    assert complaints(tmp_path, environ=environ, overrides=overrides) == [
        ":1: unknown key 'sed' in [tool.gradhook]; did you mean 'seed'?",
        ":2: order must be 1 or 2, not 9",
        "GRADHOOK_EXIT_ZERO: exit-zero must be true or false, not 'maybe'",
        "--timeout: timeout must be seconds from 0.1 to 604800, not 'soon'",
    ]


def test_both_spellings_of_a_key(tmp_path: Path) -> None:
    write(tmp_path, "[tool.gradhook]\nexit-zero = true\nexit_zero = false\n")
    assert complaints(tmp_path) == [":3: exit-zero is there twice, with a hyphen and with an underscore"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("[tool\n", ":1: not valid TOML"),
        ("a = 1\nb = \n", ":2: not valid TOML"),
        ("a = 1\na = 2\n", ":2: not valid TOML"),
        ("a = " + "[" * 100_000, ": not valid TOML"),
        ("tool = 3\n", ": tool must be a table, not 3"),
        ("[[tool.gradhook]]\n", ": gradhook must be a table, not [{}]"),
    ],
)
def test_a_file_that_is_no_configuration(tmp_path: Path, text: str, start: str) -> None:
    (line,) = complaints(write(tmp_path, text))
    assert line.startswith(start)


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"# caf\xe9\n")
    assert complaints(tmp_path) == [" is not UTF-8 (byte 5)"]


def test_the_nearest_file_is_the_root_even_without_our_table(tmp_path: Path) -> None:
    write(tmp_path, "[tool.gradhook]\nseed = 9\n")
    inner = write(tmp_path / "packages" / "a", "[project]\nname = 'a'\n")
    (inner / "src").mkdir()
    (inner / "src" / "m.py").touch()
    config = load(inner / "src" / "m.py", {}, {})
    assert (config.root, config.settings.seed) == (inner, 0)
    assert load(tmp_path / "packages", {}, {}).settings.seed == 9


def test_without_a_file_the_repository_is_the_root_and_nothing_around_it_counts(tmp_path: Path) -> None:
    write(tmp_path, "[tool.gradhook]\nseed = 9\n")
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "a").mkdir()
    config = load(tmp_path / "repository" / "a", {}, {})
    assert (config.root, config.settings.seed, config.file) == (tmp_path / "repository", 0, None)


def test_without_either_the_folder_is_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.py").touch()
    assert project_root(tmp_path / "m.py") == tmp_path
    monkeypatch.chdir(tmp_path)
    assert project_root(Path()) == tmp_path


def test_an_interpreter_named_in_the_file_is_relative_to_the_file(tmp_path: Path) -> None:
    write(tmp_path, "[tool.gradhook]\npython = '.venv/bin/python'\n")
    assert load(tmp_path, {}, {}).settings.python == str(tmp_path / ".venv" / "bin" / "python")
    assert load(tmp_path, {"python": "bin/python"}, {}).settings.python == "bin/python"


def test_targets(tmp_path: Path) -> None:
    text = """
[tool.gradhook.targets."optax.losses:huber_loss"]  # theirs
args = ["normal(3)", "normal(3)"]
stop-gradient = "frozen"

[tool.gradhook]
targets."pkg.ste:round" = { forward = "jax.numpy:round", derivative_of = "pkg.ste:identity" }

[tool . gradhook . targets . 'my-script:Model.loss']
"""
    huber, ste, script = sorted(load(write(tmp_path, text), {}, {}).targets, key=lambda target: target.line)
    assert (huber.name, huber.line, huber.claim) == ("optax.losses:huber_loss", 2, ClaimKind.EXACT)
    assert huber.options == {"args": ["normal(3)", "normal(3)"], "stop_gradient": "frozen"}
    assert (ste.name, ste.line, ste.claim) == ("pkg.ste:round", 7, ClaimKind.SURROGATE)
    assert (script.name, script.line, script.options) == ("my-script:Model.loss", 9, {})


def test_targets_refused(tmp_path: Path) -> None:
    text = """[tool.gradhook.targets.pkg.mod]
x = 1
[tool.gradhook.targets."a:f"]
arg = []
cases = {}
stop-gradient = "frozen"
stop_gradient = "frozen"
[tool.gradhook.targets."a:g"]
order = 2
rule = "a:r"
[tool.gradhook.targets]
"a:h" = 3
"""
    assert complaints(write(tmp_path, text)) == [
        ":1: 'pkg' is no target; write [tool.gradhook.targets.\"package.module:function\"]",
        ":4: a:f has an unknown option 'arg'; did you mean 'args'?",
        ":7: a:f has the option stop_gradient twice",
        ":8: a:g is either exact (order) or a surrogate (rule), not both",
        ":12: a:h must be a table of options, not 3",
    ]


def test_the_options_of_a_target_are_those_of_the_decorators() -> None:
    exact = {n for n in inspect.signature(gradhook.gradcheck).parameters if n != "function"}
    surrogate = set(inspect.signature(gradhook.surrogate).parameters)
    assert exact == {*COMMON_OPTIONS, *EXACT_ONLY}
    assert surrogate == {*COMMON_OPTIONS, *SURROGATE_ONLY}


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("m:f", True), ("a.b.c:D.e", True), ("01-train:f", True), ("ä:ö", True), ("m", False), ("m:", False),
        (":f", False), ("a..b:f", False), ("m:f.", False), ("m:1", False), ("a/b.py:f", False), ("m:f g", False),
        ("m:f\n", False), ("m::f", False),
    ],
)  # fmt: skip
def test_names_of_targets(name: str, fits: bool) -> None:
    assert is_target_name(name) is fits


def test_the_line_of_each_setting(tmp_path: Path) -> None:
    write(
        tmp_path, "[project]\nname = 'x'\n[tool.gradhook]\nseed = 3\n\nper-file-ignores.'a.py' = ['GRD1']\norder = 2\n"
    )
    config = load(tmp_path, {"order": "1"}, {})
    assert (config.lines, config.origins["order"]) == ({"seed": 4, "per_file_ignores": 6}, "--order")
    assert config.origin("seed") == {"origin": "pyproject.toml", "line": 4}
    assert [config.is_default_or_from_file(key) for key in ("seed", "order", "rtol")] == [True, False, True]


def own(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gradhook.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_file_of_our_own_has_the_keys_at_its_top_and_goes_before(tmp_path: Path) -> None:
    own(write(tmp_path, "[tool.gradhook]\nseed = 3\norder = 2\n"), "seed = 4\n[targets.'m:f']\nargs = [1.0]\n")
    config = load(tmp_path, {}, {})
    assert (config.settings.seed, config.settings.order) == (4, 1)
    assert (config.origins["seed"], config.lines["seed"]) == ("gradhook.toml", 1)
    assert [(target.name, target.line) for target in config.targets] == [("m:f", 2)]
    assert (config.file, config.shadowed) == (tmp_path / "gradhook.toml", tmp_path / "pyproject.toml")
    write(tmp_path, "[project]\nname = 'x'\n")
    assert load(tmp_path, {}, {}).shadowed is None


def test_what_is_wrong_in_a_file_of_our_own(tmp_path: Path) -> None:
    own(tmp_path, "sed = 1\n[tool.gradhook]\norder = 1\n[targets.f]\n")
    with pytest.raises(GradhookError) as caught:
        load(tmp_path, {}, {})
    assert [line.removeprefix(str(tmp_path)) for line in caught.value.message.splitlines()] == [
        "/gradhook.toml:1: unknown key 'sed' in gradhook.toml; did you mean 'seed'?",
        "/gradhook.toml:2: in gradhook.toml the keys stand at the top, without [tool.gradhook]",
        "/gradhook.toml:4: 'f' is no target; write [targets.\"package.module:function\"]",
    ]


def test_inside_a_repository_a_project_without_settings_has_those_around_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(
        tmp_path,
        "[tool.gradhook]\nseed = 9\npython = '.venv/bin/python'\nexclude = ['a/gen/']\n[tool.gradhook.targets.'m:f']\n",
    )
    inner = write(tmp_path / "a", "[project]\nname = 'a'\n")
    config = load(inner, {}, {})
    assert (config.root, config.settings.seed, config.targets) == (inner, 9, ())
    assert config.origins["seed"] == str(tmp_path / "pyproject.toml")
    assert config.settings.python == str(tmp_path / ".venv" / "bin" / "python")
    assert (config.prefix("exclude"), config.prefix("per_file_ignores")) == ("a/", "")
    assert load(inner, {"exclude": ("gen/",)}, {}).prefix("exclude") == ""
    own(inner, "")
    assert load(inner, {}, {}).settings.seed == 0


def test_a_file_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "project", "[tool.gradhook]\nseed = 3\n")
    (tmp_path / "ci.toml").write_text("order = 2\n[targets.'m:f']\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "project")
    config = load(tmp_path / "project", {}, {}, Source(Path("../ci.toml")))
    assert (config.root, config.settings.seed, config.settings.order) == (tmp_path / "project", 0, 2)
    assert (config.origins["order"], config.lines["order"]) == (str(tmp_path / "ci.toml"), 1)
    assert [target.name for target in config.targets] == ["m:f"]
    assert config.prefix("exclude") == ""
    assert load(tmp_path / "project", {}, {}, Source(tmp_path / "project" / "pyproject.toml")).settings.seed == 3
    with pytest.raises(GradhookError, match=r"no \[tool.gradhook\]"):
        load(tmp_path, {}, {}, Source(write(tmp_path / "empty", "") / "pyproject.toml"))


def test_isolated_reads_no_file_but_hears_the_environment(tmp_path: Path) -> None:
    write(tmp_path, "[tool.gradhook]\nseed = 3\nnonsense = 1\n")
    config = load(tmp_path, {}, {"GRADHOOK_ORDER": "2"}, Source(isolated=True))
    assert (config.settings.seed, config.settings.order, config.file) == (0, 2, None)


SNIPPETS = [
    "[tool.gradhook]", "[tool.gradhook.targets.\"a:b\"]", "[[tool.gradhook.targets]]", "timeout", "select", "order",
    "args", "exit-zero", "=", "=", "\n", "\n", "\"", "'", "'''", "[", "]", "{", "}", "1", "1e999", "nan", "true", ".",
    ",", "#", "a:b", "1979-05-27", "\\u0000", "\x00", "\r", "é",
]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.sampled_from(SNIPPETS) | st.text(string.printable, max_size=4), max_size=40).map("".join))
@example("[tool.gradhook]\n" + "timeout." + "a." * 3000 + "a = 1\n")
@example("[tool.gradhook]\nseed = " + "9" * 5000 + "\n")
@example("tool = {gradhook = {targets = {'a:b' = {args = [[[1]]]}}}}")
def test_garbage_is_a_configuration_or_a_clear_refusal(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("garbage")
    (folder / "pyproject.toml").write_bytes(text.encode())
    config = load_or_refuse(folder, {})
    if config is not None:
        tomllib.loads(text.replace("\r\n", "\n"))
        assert all(target.line >= 1 for target in config.targets)


@settings(deadline=None)
@given(st.sampled_from(OPTIONS), st.text(st.characters(exclude_characters="\x00"), min_size=1))
def test_any_environment_is_a_configuration_or_a_clear_refusal(
    tmp_path_factory: pytest.TempPathFactory, option: Option, text: str
) -> None:
    load_or_refuse(tmp_path_factory.getbasetemp(), {option.variable: text}, f"{option.variable}: ")


def load_or_refuse(folder: Path, environ: dict[str, str], beginning: str = "") -> Config | None:
    """The configuration, or ``None`` when it was refused as it should be; any other exception fails the test."""
    refusal: GradhookError | None = None
    try:
        return load(folder, {}, environ)
    except GradhookError as error:
        refusal = error
    assert refusal.message.startswith(beginning)
    assert refusal.help
    return None


def test_inputs_for_a_rule_without_a_claim(tmp_path: Path) -> None:
    table = '[tool.gradhook.targets."a:f"]\nclaim = "rule"\nargs = ["normal(3)"]\n'
    (target,) = load(write(tmp_path, table), {}, {}).targets
    assert target.claim is ClaimKind.RULE
    text = table.replace("args", "order = 2\nargs") + table.replace("a:f", "a:g").replace('"rule"', '"exact"')
    assert complaints(write(tmp_path, text)) == [
        ':1: a:f claims nothing (claim = "rule"), so it cannot say order',
        ":6: a:g: claim must be \"rule\", not 'exact'; other claims are made by their options",
    ]
