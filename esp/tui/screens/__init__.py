"""Dialogues: help, opening, typing values, exporting."""
