"""Vouch for the derivatives of JAX functions; ``gradhook check`` measures them. Standard library only."""

from gradhook.annotations import case as case
from gradhook.annotations import gradcheck as gradcheck
from gradhook.annotations import raises as raises
from gradhook.annotations import surrogate as surrogate
from gradhook.annotations.inputs import full as full
from gradhook.annotations.inputs import integers as integers
from gradhook.annotations.inputs import key as key
from gradhook.annotations.inputs import normal as normal
from gradhook.annotations.inputs import ones as ones
from gradhook.annotations.inputs import orthogonal as orthogonal
from gradhook.annotations.inputs import positive as positive
from gradhook.annotations.inputs import simplex as simplex
from gradhook.annotations.inputs import spd as spd
from gradhook.annotations.inputs import uniform as uniform
from gradhook.annotations.inputs import zeros as zeros

__version__ = "0.1.0"
