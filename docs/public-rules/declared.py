"""What is promised of rules that need no factory."""


def identity(x):
    return x


def scaled(inputs, scale):
    return inputs * scale


def first(inputs, scale):
    return inputs
