"""Policies: networks that say with what probability to play each move, for games whose moves are numbered.

    policy = ppo.train(cardai.load("tictactoe"), ppo.REPORT, seed=1)
    policy.save("mine.safetensors")  # the agent policy:mine.safetensors

Proximal policy optimisation (`ppo`) and neural fictitious self-play (`nfsp`) are baselines: they play at the table of
`cardai.table.many`, with any opponents, and learn from its records.
"""
