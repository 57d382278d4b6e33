"""Where experiments run: pieces are kept, bound to their code and config, and sealed."""

import json
import re
import sys
from dataclasses import dataclass

import pytest

from cardai.errors import CardaiError, install_command
from cardai.experiments.machinery import catalogue, lab, listing, report, sealed, verbs
from cardai.experiments.machinery.catalogue import EXPERIMENTS, CatalogueEntry
from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement
from cardai.experiments.pages import claims

BEHAVIOUR = {"plays tictactoe": "c0de00000001", "step mlp": [0.5, 0.25]}


@dataclass(frozen=True)
class Scale:
    games: int


class Fake:
    """An experiment of two pieces, the second of which may be told to stop; it counts what it measures."""

    def __init__(self):
        self.SCALES = {"smoke": Scale(4), "small": Scale(8)}
        self.measured, self.stop, self.value = [], False, 25.0

    def measure(self, key):
        self.measured.append(key)
        if self.stop and key == "second":
            raise KeyboardInterrupt
        return {"point": self.value, "seconds": float(len(self.measured))}

    def run(self, place):
        found = {key: place.piece(key, lambda key=key: self.measure(key)) for key in ("first", "second")}
        place.piece("speed", lambda: {"games_per_second": 1.0}, repeats=False)
        rows = [
            Finding("lost, %", key, "B1", Measurement(one["point"], 24.0, 26.0, 5000), Claim(25.0, games=2000), key)
            for key, one in found.items()
        ]
        return Findings(rows, {"xs": [1, 2]})


class FakePage:
    """What the report says and draws of it."""

    NOTES = ("a note",)

    def answers(self, result):
        return [f"It loses {result['rows'][0]['figure']['point']} %.", "It is a fake."]

    def draw(self, result):
        from cardai.experiments.machinery.charts import chart, lines

        figure, (axes,) = chart()
        lines(axes, {"a": [(x, 1.0, 0.5, 1.5) for x in result["drawn"]["xs"]]})
        return {"points": figure}


@pytest.fixture
def fake(monkeypatch):
    experiment = Fake()
    monkeypatch.setitem(EXPERIMENTS, "fake", CatalogueEntry("What?", "25 %", "a paper", 1, ("tictactoe",)))
    monkeypatch.setitem(sys.modules, "cardai.experiments.fake", experiment)
    monkeypatch.setattr(lab, "module", lambda name: experiment)
    page = FakePage()
    monkeypatch.setattr(report, "page_of", lambda name: page)
    monkeypatch.setattr(claims, "page_of", lambda name: page)
    monkeypatch.setattr(listing, "page_of", lambda name: page)
    monkeypatch.setattr(lab, "behaviour", lambda name, scale: dict(BEHAVIOUR))
    return experiment


def test_a_result_has_rows_provenance_and_the_command_that_made_it(fake, tmp_path):
    result = lab.run("fake", tmp_path / "fake", "smoke", games=40)
    assert [row["verdict"] for row in result["rows"]] == ["reproduced", "reproduced"]
    assert result["command"] == "cardai reproduce fake --scale smoke --games 40"
    assert set(result["pieces"]) == {"first", "second", "speed"}
    assert result == sealed.read_sealed(tmp_path / "fake" / "result.json")


def test_what_was_measured_is_not_measured_again_and_the_result_is_the_same(fake, tmp_path):
    one = lab.run("fake", tmp_path, "smoke")
    assert lab.run("fake", tmp_path, "smoke") == one
    assert fake.measured == ["first", "second"]


def test_a_stopped_run_goes_on_with_the_piece_it_was_stopped_in(fake, tmp_path):
    fake.stop = True
    with pytest.raises(KeyboardInterrupt):
        lab.run("fake", tmp_path, "smoke")
    assert not (tmp_path / "result.json").exists()
    stopped = sealed.read_sealed(tmp_path / "pieces" / "second.seconds")["seconds"]
    fake.stop = False
    result = lab.run("fake", tmp_path, "smoke")
    assert fake.measured == ["first", "second", "second"]
    assert result["pieces"]["second"]["seconds"] >= round(stopped, 2)


def test_ctrl_c_says_that_the_same_command_goes_on(fake, tmp_path, capsys):
    fake.stop = True
    assert verbs.reproduce("fake", scale="smoke", out=tmp_path / "runs") == 130
    assert "the same command goes on" in capsys.readouterr().err
    fake.stop = False
    assert verbs.reproduce("fake", scale="smoke", out=tmp_path / "runs") == 0
    assert "It loses 25.0 %." in capsys.readouterr().out
    assert (tmp_path / "runs" / "report" / "fake.md").exists()


def test_all_goes_on_without_those_that_cannot_run_here(fake, tmp_path, monkeypatch, capsys):
    lacking = CatalogueEntry("Why?", "none", "a paper", 1, ("tictactoe",), needs={"no_such_module": "peers"})
    monkeypatch.setitem(EXPERIMENTS, "lacking", lacking)
    with pytest.raises(CardaiError, match=r"lacking needs the package no_such_module; pip install .*\[peers\]"):
        lab.run("lacking", tmp_path / "out", "smoke")
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(verbs, "EXPERIMENTS", {"lacking": lacking, "fake": EXPERIMENTS["fake"]})
    assert verbs.reproduce("all", scale="smoke", out=tmp_path / "runs") == 0
    shown = capsys.readouterr().out
    assert f"not run: lacking needs no_such_module ({install_command('peers')})" in " ".join(shown.split())
    assert "It loses 25.0 %." in shown


def test_a_folder_of_another_config_is_refused(fake, tmp_path, monkeypatch):
    lab.run("fake", tmp_path, "smoke")
    with pytest.raises(CardaiError, match="begun with scale smoke, not small"):
        lab.run("fake", tmp_path, "small")
    with pytest.raises(CardaiError, match="begun with games the scale's, not 80"):
        lab.run("fake", tmp_path, "smoke", games=80)
    monkeypatch.setitem(fake.SCALES, "smoke", Scale(5))
    with pytest.raises(CardaiError, match="another config of the scale smoke"):
        lab.run("fake", tmp_path, "smoke")


def test_results_of_different_behaviour_are_never_mixed(fake, tmp_path, monkeypatch):
    fake.stop = True
    with pytest.raises(KeyboardInterrupt):
        lab.run("fake", tmp_path / "a", "smoke")
    fake.stop = False
    monkeypatch.setitem(BEHAVIOUR, "step mlp", [0.5, 0.26])
    with pytest.raises(CardaiError, match=r"begun when 'step mlp' behaved otherwise.*are not mixed"):
        lab.run("fake", tmp_path / "a", "smoke")
    lab.run("fake", tmp_path / "b", "smoke")  # nor may a piece be carried over
    (tmp_path / "b" / "pieces" / "first.json").write_bytes((tmp_path / "a" / "pieces" / "first.json").read_bytes())
    with pytest.raises(CardaiError, match="made in another folder"):
        lab.run("fake", tmp_path / "b", "smoke")


def test_a_piece_under_the_name_of_another_is_refused(fake, tmp_path):
    lab.run("fake", tmp_path, "smoke")
    (tmp_path / "pieces" / "first.json").write_bytes((tmp_path / "pieces" / "second.json").read_bytes())
    with pytest.raises(CardaiError, match=r"first\.json is damaged"):
        lab.run("fake", tmp_path, "smoke")


def test_a_run_goes_on_where_numbers_are_rounded_otherwise(fake, tmp_path, monkeypatch):
    fake.stop = True
    with pytest.raises(KeyboardInterrupt):
        lab.run("fake", tmp_path, "smoke")
    fake.stop = False
    monkeypatch.setitem(BEHAVIOUR, "step mlp", [0.500001, 0.25])
    assert lab.run("fake", tmp_path, "smoke")["behaviour"]["step mlp"] == [0.5, 0.25]


def test_a_folder_with_something_else_is_left_alone(fake, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(CardaiError, match="no experiment"):
        lab.run("fake", tmp_path, "smoke")
    assert [place.name for place in tmp_path.iterdir()] == ["letter.txt"]


def edited(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_a_file_that_was_edited_is_refused_by_name(fake, tmp_path):
    lab.run("fake", tmp_path / "fake", "smoke")
    for name, old, new in (("pieces/first.json", "25.0", "15.0"), ("experiment.json", '"smoke"', '"small"')):
        edited(tmp_path / "fake" / name, old, new)
        with pytest.raises(CardaiError, match=f"{name} was changed after it was measured"):
            lab.run("fake", tmp_path / "fake", "smoke")
    edited(tmp_path / "fake" / "result.json", "24.0", "14.0")
    with pytest.raises(CardaiError, match=r"result\.json was changed after it was measured"):
        report.results_in(tmp_path)


def test_an_unknown_experiment_and_scale_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(CardaiError, match=r"there is no experiment 'tictacto'.*tictactoe"):
        verbs.reproduce("tictacto", out=tmp_path / "out")
    with pytest.raises(CardaiError, match="there is no scale 'huge'"):
        verbs.reproduce("tictactoe", scale="huge", out=tmp_path / "out")
    with pytest.raises(CardaiError, match="at least 1"):
        verbs.reproduce("tictactoe", games=0, out=tmp_path / "out")
    with pytest.raises(CardaiError, match="--ship is for one experiment"):
        verbs.reproduce("all", ship=True, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_places_that_cannot_be_read_or_written_are_named(fake, tmp_path):
    result = lab.run("fake", tmp_path / "fake", "smoke")
    (tmp_path / "file").write_text("")
    with pytest.raises(CardaiError, match=r"cannot write to .*file"):
        report.write(tmp_path / "file", [result])
    with pytest.raises(CardaiError, match=r"cannot read .*none\.md"):
        report.put_into(tmp_path / "none.md", [result])
    with pytest.raises(CardaiError, match="no experiment"):
        lab.run("fake", tmp_path / "file", "smoke")


def test_the_report_shows_every_row_beside_its_claim(fake, tmp_path):
    result = lab.run("fake", tmp_path / "fake", "smoke")
    front = report.write(tmp_path / "report", [result])
    assert "It loses 25.0 %." in front.read_text("utf-8")
    page = (tmp_path / "report" / "fake.md").read_text("utf-8")
    assert len(re.findall(r"\[25.0 \(24.0-26.0\)\]\(#r-\w{6}\) \[25\] reproduced", page)) == 2
    assert re.search(
        r"\| second, B1 \| 25.0 \(24.0-26.0\) \| `[^`]+` \| 25 \(n 2,000\) \| reproduced \| 5,000 games \|", page
    )
    assert "![points](fake-points.svg)" in page
    drawn = (tmp_path / "report" / "fake-points.svg").read_text("utf-8")
    assert "currentColor" in drawn
    assert "prefers-color-scheme:dark" in drawn


def test_a_report_can_be_written_again_from_its_own_results(fake, tmp_path):
    folder = tmp_path / "report"
    report.write(folder, [lab.run("fake", tmp_path / "fake", "smoke")])
    before = {place.name: place.read_bytes() for place in folder.iterdir()}
    for place in folder.iterdir():
        if place.suffix != ".json":
            place.unlink()
    report.write_again(folder)
    assert {place.name: place.read_bytes() for place in folder.iterdir()} == before


def test_experiments_are_listed_with_question_claim_source_command_and_minutes(capsys):
    assert verbs.reproduce(json=True) == 0
    told = {one["experiment"]: one for one in json.loads(capsys.readouterr().out)}
    assert list(told) == list(EXPERIMENTS)
    assert told["tictactoe"]["command"] == "cardai reproduce tictactoe"
    assert all(one["question"] and one["claim"] and one["source"] and one["minutes"] > 0 for one in told.values())
    assert verbs.reproduce() == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in EXPERIMENTS)
    assert "Table 1" in shown


def test_every_experiment_has_two_frozen_scales():
    for scales in (catalogue.module(name).SCALES for name in EXPERIMENTS):
        assert tuple(scales) == catalogue.SCALES
        assert all(type(size).__dataclass_params__.frozen for size in scales.values())


def test_a_table_is_written_between_the_marks_of_a_page(fake, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "EXCERPT", ("fake",))
    result, page = lab.run("fake", tmp_path / "fake", "smoke"), tmp_path / "page.md"
    page.write_text(f"before\n{report.MARKS[0]}\nold\n{report.MARKS[1]}\nafter\n")
    report.put_into(page, [result])
    text = page.read_text("utf-8")
    assert text.startswith(f"before\n{report.MARKS[0]}\n| question |")
    assert "](report/fake.md) | It loses 25.0 %. | none |" in text
    assert text.endswith(f"{report.MARKS[1]}\nafter\n")
    report.put_into(page, [result])
    assert page.read_text("utf-8") == text
    page.write_text("nothing to write between")
    with pytest.raises(CardaiError, match="has no lines"):
        report.put_into(page, [result])
