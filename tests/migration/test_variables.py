"""Are the names that code takes from outside told from its own?"""

from __future__ import annotations

import ast

import pytest

from gradhook.projects.migration.slicing import binds, free

CASES = {
    "a comprehension": ("[i + k for i in xs if i in seen]", "k seen xs", ""),
    "a lambda": ("lambda x, *y, z=w: [x + i + v for i in y] + z", "v w", ""),
    "a function": ("def f(a: T = d) -> R:\n  b = a\n  return f(b)(lambda q: a + q + w)", "R T d w", "f"),
    "a class": ("class A(B):\n  c = D\n  def m(self):\n    return E", "B D E", "A"),
    "several targets": ("a, *b = c", "c", "a b"),
    "itself": ("x = x.reshape(n)", "n x", "x"),
    "in place": ("x += y", "x y", "x"),
    "an item": ("x[0] = y", "x y", ""),
    "a walrus": ("print(y := 3)", "print", "y"),
    "an import": ("import a.b, c as d", "", "a d"),
    "a block": ("for i in xs:\n  with g() as h:\n    k = h", "g h xs", "h i k"),
}


@pytest.mark.parametrize(("text", "reads", "gives"), CASES.values(), ids=CASES)
def test_names(text: str, reads: str, gives: str) -> None:
    (statement,) = ast.parse(text).body
    assert free(statement) == set(reads.split())
    assert binds(statement) == set(gives.split())
