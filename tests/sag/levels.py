"""A machine whose near and far messages have laws of their own."""

LEVELS = """\
format: 1
extends: ipsc860
name: levels
title: Switches of 4 processors, with a law within each
processors: {default: 8, largest_built: 4096}
sources:
  test: made up
system:
  units:
    cube:
      units:
        network:
          network:
            source: test
            certainty: quoted
            topology: {kind: fat_tree, arity: 4, taper: 1}
            send_model: startup
            exchange: concurrent
            ranges:
              short: {upto: 100 B, within: 2}
              long: {within: 2}
              far_short:
                upto: 100 B
                startup: 400 us
                call_overhead: 10 us
                per_byte: 0.85 us/B
                per_hop: 20 us
                receive_overhead: 3 us
              far:
                startup: 900 us
                call_overhead: 10 us
                per_byte: 0.78 us/B
                per_hop: 20 us
                receive_overhead: 3 us
"""
