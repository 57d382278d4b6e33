"""Measures against exact values: in whole small games, in endings without hidden cards, and near the end of any game.

    solution = solve(load("tictactoe"))                        # `solution`: every position and its value
    grade(solution, "greedy:open_lines")                       # `grade`: against evenly random moves
    exploitability(load("examples/leduc"), "cfr:1000")         # `exploitability`: against best responses
    measure_endings(load("moska"), ["bot3"] * 4, games=100)    # `endings`: against perfect play in open positions
    measure_endings(load("hearts"), ["duck"] * 4, games=100, last=16)  # and in the last plies, with all cards open

`ListedGame` (`choices`) is what the positions of a `Solution` and the information sets of a `GameTree` have in common.
"""
