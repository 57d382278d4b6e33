"""What the report says and draws of each experiment, one module each. Nothing that measures imports this room."""
