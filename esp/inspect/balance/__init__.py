"""Balance of a program and a machine by Clement's static model (`interpreter.balance`), the work of `esp balance`.

analysis    the function of the API, and its answer for a program or for counts that a user gives
request     what a user gives, and what cannot be meant
counts      the model's counts of a program, from its predictions
neglect     what the model neglects of a prediction
machine     the model's costs of a machine, from its description
formulas    start-ups and prices that a user writes as formulas
sweeping    speedups and speeds over start-ups and miss penalties
records     results
"""
