"""One program that is predicted, built and ready to be simulated."""

from esp.validate.simgrid import prepared_of


def built(stages, system, request, folder, like=None):
    """`like`: a folder with a program that was compiled before."""
    made = prepared_of(stages, system, request, folder)
    made.build(like)
    return made
