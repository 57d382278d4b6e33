"""What people see of results: tables in a terminal and figures as files, one module for each thing that is shown.

Nothing that computes figures imports this room.
"""
