"""From measurements to figures of a machine: a ping-pong table becomes the message law of C/S.

    table = read_table("pingpong.csv")      CSV -> sizes, hops, times in SI units
    law = fit(table)                        ranges of sizes, each start-up + per byte + per hop

Neither program nor prediction is known here; `esp.output.fit` writes text, JSON and YAML of it.
"""
