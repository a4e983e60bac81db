"""Procedures without source: what their calls cost, from the user or from a table of well-known libraries."""
