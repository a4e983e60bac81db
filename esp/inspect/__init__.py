"""Looking into a prediction: why a line costs what it does, who owns what, where two predictions differ.

Everything here reads: a `Prediction`, layouts, a graph. Modules answer with frozen data, `esp.output` makes text of it.
"""
