"""Parts of rules that several games share: tricks, bets, and who is ahead. `docs/parts.md` has an example of each.

A part is a module of rules for a game's own rules to call. They read and write fields of the state by the names that
the module gives, so a game that declares such a field can use them. No game has to. The base below them is
`cardai.rules.cards`.
"""
