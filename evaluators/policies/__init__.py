"""Policies: networks that give the probability of each move, for games that number their moves (`Learning.actions`).

    policy = ppo.train(cardai.load("tictactoe"), ppo.REPORT, seed=1)
    policy.save("mine.safetensors")  # the agent policy:mine.safetensors

Two baselines train them from games at the table of `cardai.playing.table.many`: `ppo` and `nfsp`.
"""
