"""The experiment on changed rules: whose loss is whose, and which way a difference goes."""

import pytest

from cardai.experiments.rule_changes import VARIANTS, compared, cost_of

PLAYERS = {"thesis": "bot3", "appendix": "random"}
"""In place of networks: whoever "learned" under the appendix plays much worse."""


@pytest.mark.parametrize("rules", VARIANTS)
def test_the_cost_of_a_change_is_the_other_agents_loss_less_the_own_ones(rules):
    found = compared(PLAYERS, rules, 400, seed=1)
    assert found["thesis"] < 50 < found["appendix"]
    sign = 1 if rules == "thesis" else -1
    assert cost_of(found, rules) == pytest.approx(sign * (found["appendix"] - found["thesis"]))
    assert cost_of(found, rules) == pytest.approx(found["difference"]["point"])
    assert found["difference"]["low"] < found["difference"]["point"] < found["difference"]["high"]


def test_each_variant_is_played_by_its_own_rules():
    first, second = (compared(PLAYERS, rules, 400, seed=1) for rules in VARIANTS)
    assert first["appendix"] != second["appendix"]
