"""Vouch for the derivatives of JAX functions; ``gradhook check`` measures them. Standard library only."""

from gradhook.annotations import case as case
from gradhook.annotations import gradcheck as gradcheck
from gradhook.annotations import raises as raises
from gradhook.annotations import surrogate as surrogate
from gradhook.inputs import full as full
from gradhook.inputs import integers as integers
from gradhook.inputs import key as key
from gradhook.inputs import normal as normal
from gradhook.inputs import ones as ones
from gradhook.inputs import orthogonal as orthogonal
from gradhook.inputs import positive as positive
from gradhook.inputs import simplex as simplex
from gradhook.inputs import spd as spd
from gradhook.inputs import uniform as uniform
from gradhook.inputs import zeros as zeros

__version__ = "0.1.0"
