"""How are derivatives claimed by JAX and measured by finite differences?"""
