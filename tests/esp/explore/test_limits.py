"""A sweep says how large it is, and refuses what nobody waits for; a report on many processors leaves things out."""

import re

import pytest

from tests.esp.cli.conftest import esp, streams

__all__ = ["esp", "streams"]

SMALL = ("laplace", "--set", "n=16", "--set", "k=1")


def said(text):
    return " ".join(text.split())


def test_more_walks_than_anybody_waits_for_are_refused(esp):
    code, out, err = esp("sweep", *SMALL, "--procs", "1:100001")
    assert (code, out) == (2, "")
    assert err.startswith("100,001 predictions\n")
    assert "100,001 walks of a program are too many: a sweep has at most 100,000." in said(err)


def test_many_scenarios_are_few_walks(esp, monkeypatch):
    monkeypatch.setattr("esp.explore.sweep.MOST_WALKS", 4)
    words = ("sweep", *SMALL, "--load", "0%:60%:/20", "--bandwidth", "x0.5:x4:/60", "--csv")
    code, out, err = esp(*words, "--procs", "1,2")  # 1200 scenarios are two walks
    assert code == 0
    assert said(err).startswith("2,400 predictions")
    assert len(out.splitlines()) == 2401
    assert esp(*words, "--procs", "1,2,4")[0] == 2


def test_a_small_sweep_does_not_talk(esp):
    assert esp("sweep", *SMALL, "--procs", "1,2")[2] == ""


def scaled(page):
    """Numbers of processors of the table."""
    section = page.partition('id="processors"')[2].partition("</section>")[0]
    return re.findall(r'<tr[^>]*><th scope="row">(\d+)</th>', section)


@pytest.mark.parametrize(("size", "compared"), [((), False), (("--size", "none"), True)])
def test_a_report_on_many_processors_says_what_it_leaves_out(size, compared, esp, monkeypatch):
    monkeypatch.setattr("esp.cli.report.MANY", 16)
    code, page, err = esp("report", *SMALL, "--procs", "32", *size)
    assert code == 0
    assert ("not compared on more than 16 processors" in said(page)) is not compared
    assert ("left out Distributions are not compared" in said(err)) is not compared
    assert scaled(page) == ["1", "4", "8", "16", "32"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("words", "told", "numbers"),
    [
        (
            "--procs 32",
            (
                "Tried on 4, 8, 16 and 32 processors: powers of two up to 32; of these the 4 largest, as"
                " predictions on more than 16 processors take long. Speed-up is against 1, which is added."
                " --scaling chooses others."
            ),
            (1, 4, 8, 16, 32),
        ),
        (
            "--procs 6",
            (
                "Tried on 1, 2, 4, 6 and 8 processors: powers of two up to 8, and that of this page, 6. --scaling"
                " chooses others."
            ),
            (1, 2, 4, 6, 8),
        ),
        (
            "--procs 1",
            "Tried on 1, 2, 4 and 8 processors: powers of two up to 8. --scaling chooses others.",
            (1, 2, 4, 8),
        ),
        (
            "--procs 32 --scaling 2,64",
            "The numbers of processors are those of --scaling, and that of this page, 32. Speed-up is against 1,",
            (1, 2, 32, 64),
        ),
        ("--procs 2 --scaling 4,2", "those of --scaling. Speed-up is against 1, which is added.", (1, 2, 4)),
        ("--procs 2 --scaling 4,1", "The numbers of processors are those of --scaling, and", (1, 2, 4)),
    ],
)
def test_a_report_says_which_numbers_of_processors_it_tried_and_why(words, told, numbers, esp, monkeypatch):
    monkeypatch.setattr("esp.cli.report.MANY", 16)
    code, page, _ = esp("report", *SMALL, *words.split())
    assert code == 0
    assert told in said(page.partition('id="processors"')[2].partition("<table")[0])
    assert scaled(page) == [str(number) for number in numbers]


@pytest.mark.truth
def test_a_report_on_256_processors_shows_the_eight_largest(esp):
    _, page, _ = esp("report", *SMALL, "--procs", "256", "--size", "none", "--distribute", "temp=(block,*)")
    assert "powers of two up to 256; of these the 8 largest, which is as many as a page shows. Speed-up" in said(page)
    assert scaled(page) == ["1", *(str(2**power) for power in range(1, 9))]


@pytest.mark.truth
def test_a_report_on_few_processors_leaves_nothing_out(esp):
    code, page, err = esp("report", *SMALL, "--procs", "32")
    assert (code, "left out" in err) == (0, False)
    assert "not compared" not in page
    assert scaled(page) == ["1", "2", "4", "8", "16", "32"]
