"""What people run: the `cardai` command, a game at the keyboard, the doctor, the scaffold of a new game."""
