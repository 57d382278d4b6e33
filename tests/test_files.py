"""Files from anywhere: whatever is in them, a reader takes them or refuses them in one sentence, within limits."""

import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import mutated_files
import pytest

import cardai
from cardai.app.cli import run
from cardai.data.dataset import collect
from cardai.data.recipe import Recipe
from cardai.data.record import Writer, read, verify
from cardai.data.selfplay import simulate, simulate_shards
from cardai.errors import CardaiError, is_printable, printable, short
from cardai.files.reading import DEEPEST, LARGEST_TOML, open_file, parse_json, parse_toml, read_bytes, read_json, read_text
from cardai.files.writing import held, remove_left_over, temporary, write_whole

TICTACTOE = cardai.load("tictactoe")
POOL = {"random": 1.0}
FILES = 500  # mutated files of the default suite


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return mutated_files.kinds(tmp_path_factory.mktemp("kinds"))


def failures(kinds, wanted) -> list[str]:
    outcomes = (mutated_files.attempt(name, kinds[name], seed) for name, seed in wanted)
    return [
        f"python -m tests.mutated_files --kind '{found.kind}' --seed {found.seed}: {found.outcome}\n{found.detail}"
        for found in outcomes
        if found.outcome in mutated_files.FAILURES
    ]


def test_mutated_files_of_every_kind_are_read_or_refused_in_a_sentence(kinds):
    assert failures(kinds, mutated_files.trials(FILES, kinds)) == []


@pytest.mark.slow
def test_ten_thousand_mutated_files_are_read_or_refused_in_a_sentence(kinds):
    assert failures(kinds, mutated_files.trials(10_000, kinds)) == []
