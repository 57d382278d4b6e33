"""`python -m cardai` is the `cardai` command."""

from cardai.cli.main import main

if __name__ == "__main__":
    main()
