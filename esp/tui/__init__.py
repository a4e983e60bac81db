"""The terminal interface: choices of distributions, annotated source, graph, timeline, and what-ifs that move.

    state       what is shown, as one frozen value, and the steps from one to the next
    sliders     the what-ifs
    question    what is asked of the engine, and what it answers
    engine      a thread that answers; the newest question wins
    impact      what matters most: one thing changed at a time
    calls       the tree of calls, with the time of each
    scaling     other numbers of processors, and the sizes that keep the speed
    pinned      what the screen is compared with (B)
    copying     directives and commands for the clipboard
    sheets/     state -> lines of text with roles: what each part of the screen says
    opening     from names to a program that is read, after the first frame
    app         textual: keys, mouse and messages into steps, sheets onto widgets
    screens/    dialogues
    widgets/    what draws sheets and sliders

Only `app`, `screens` and `widgets` know textual; all else is tested without a terminal.
"""
