"""`python -m cardai` is the `cardai` command."""

from cardai.app.cli import main

if __name__ == "__main__":
    main()
