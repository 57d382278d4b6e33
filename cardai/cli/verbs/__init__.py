"""The verbs of the `cardai` command that come with the core, by the headings of its help."""
