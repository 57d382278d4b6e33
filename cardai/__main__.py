"""`python -m cardai` is the `cardai` command."""

from cardai.cli import main

if __name__ == "__main__":
    main()
