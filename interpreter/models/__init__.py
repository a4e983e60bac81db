"""Models: one idea of cost a file, asked by the engine for each application abstraction unit."""
