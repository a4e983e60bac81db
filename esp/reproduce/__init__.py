"""The experiments of the ESP paper: M. Parashar and S. Hariri, "Interpretive Performance Prediction for Parallel
Application Development".

`experiments` is the table of them: what is predicted, and what is stated about it. `statements` checks the statements,
`figures` makes the predictions, `accuracy` compares predictions with simulated execution as Table 3 does with measured
one. The command `esp reproduce`, docs/paper.md and the tests read the same table.
"""
