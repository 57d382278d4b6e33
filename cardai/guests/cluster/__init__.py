"""Playing on the machines of a Ray cluster: `--cluster ADDRESS` finds `Cluster` by the entry point `cardai.clusters`.

| module | what it does |
|---|---|
| `cluster` | joins a cluster, and has tasks carried out by Ray, which is imported only there |
| `joining` | sees in time that a cluster cannot be joined, or is lost |
| `work` | what a worker does with a task |
| `identity` | what a machine says it is, and whether it may play |
| `files`, `blocks` | the two kinds of task: a file of a simulation, and some games of a match or a duel |
"""

from cardai.guests.cluster.cluster import Cluster

__all__ = ["Cluster"]
