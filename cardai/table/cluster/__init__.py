"""Playing on many machines by Ray, which is imported only in a process of its own, and only if a cluster is asked for.

| module | what it does |
|---|---|
| `cluster` | the door: connects, greets the machines, has tasks carried out |
| `driving` | which task goes to which machine, and what happens when one fails; knows no Ray |
| `engine` | the process that Ray runs in, seen from outside |
| `ray_process` | that process |
| `work` | what a worker does with a task |
| `identity` | what a machine says it is, and whether it may play |
| `blocks` | games of a match or a duel as tasks |
"""
