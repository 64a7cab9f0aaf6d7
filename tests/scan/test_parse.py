from __future__ import annotations

import pytest

from gradhook.model.errors import GradhookError
from gradhook.scan.parse import Comment

BODY = "from gradhook import gradcheck\n\n@gradcheck()\ndef f(x): ...\n"
FILES = {
    "byte order mark": b"\xef\xbb\xbf" + BODY.encode(),
    "latin-1": b"# coding: latin-1 \xe9\n" + BODY.replace("\n\n", "\n").encode(),
    "windows line ends": BODY.replace("\n", "\r\n").encode(),
    "form feeds": BODY.replace("\n\n", "\n\f\n").encode(),
    "warnings": BODY.encode() + b'"\\d"; 1 is 1\n',
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_real_files(project, text):
    project.write("mod.py", text)
    assert [(t.line, t.mark) for t in project.scan().targets] == [(4, 3)]


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_comments_are_read_with_the_files_encoding_and_line_ends(project, text):
    text = text.replace(b"@gradcheck()", b"@gradcheck()  # noqa  #gradhook:  ignore[GRD406,grd1, ]")
    project.write("mod.py", text)
    assert project.scan().comments == (Comment("mod.py", 3, ("GRD406", "GRD1")),)
    project.write("mod.py", text.replace(b"ignore", b"heed"))
    assert project.scan().comments == ()


def test_a_string_is_no_comment(project):
    project.write(
        "mod.py", BODY + "x = '# gradhook: ignore[GRD406]'\n'''\n# gradhook: ignore[GRD1]\n'''\n# gradhook: ignore\n"
    )
    assert project.scan().comments == (Comment("mod.py", 9, ()),)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"import gradhook\n\ndef f(:\n", 3),
        (b"import gradhook\nx = '\xff'\n", 2),
        (b"import gradhook\n\0\n", 2),
        (b"# coding: no-such-thing\nimport gradhook\n", 1),
        (b"import gradhook\nx = " + b"(" * 300 + b")" * 300 + b"\n", 2),
    ],
)
def test_what_is_no_python_is_an_error_with_its_place(project, text, line):
    project.write("sub/mod.py", text)
    with pytest.raises(GradhookError, match=r"^sub/mod.py:\d+: ") as caught:
        project.scan()
    assert int(caught.value.message.split(":")[1]) in (1, line)
    assert "exclude" in caught.value.help
    assert project.scan(exclude=("sub",)).files == ()


def test_files_without_our_words_are_not_parsed(project):
    project.write("broken.py", "def f(:\n")
    assert project.scan("broken.py").files == ("broken.py",)


def test_long_expressions_are_read(project):
    project.write("mod.py", BODY + "x = " + " + ".join(["1"] * 900) + "\n")
    assert len(project.scan().targets) == 1


def test_endless_nesting_is_an_error_with_its_place(project):
    project.write("mod.py", BODY + "x = f" + "(1)" * 2500 + "\n")
    try:
        assert len(project.scan().targets) == 1
    except GradhookError as error:
        assert error.message.startswith("mod.py:")  # noqa: PT017  # either is right; Pythons differ in their limits


def test_nothing_is_imported_or_executed(project):
    project.write("mod.py", BODY + "raise SystemExit(3)\n")
    assert len(project.scan().targets) == 1
