"""Two Ray nodes with a processor each on this machine, for tests. Run as a program, it obeys lines on standard input.

    python tests/guests/cluster/two_nodes.py [FOLDER]

prints the address and the process numbers of the two raylets and of the head. `remove` takes the second node away at
once, the end of the input ends all. Workers of the second node find FOLDER first when they import cardai.
"""

import json
import os
import sys

STORE = 100 * 2**20  # bytes for objects on each node


def start() -> None:
    """Start the nodes, and do what lines say."""
    from ray.cluster_utils import Cluster

    own = {"num_cpus": 1, "object_store_memory": STORE}
    cluster = Cluster(initialize_head=True, head_node_args=own)
    if len(sys.argv) > 1:
        own["env_vars"] = {"PYTHONPATH": f"{sys.argv[1]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    second = cluster.add_node(**own)
    raylets = [node.all_processes["raylet"][0].process.pid for node in (cluster.head_node, second)]
    head = cluster.head_node.all_processes["gcs_server"][0].process.pid
    print(json.dumps({"address": cluster.address, "raylets": raylets, "head": head}), flush=True)
    for line in sys.stdin:
        if line.strip() == "remove":
            cluster.remove_node(second, allow_graceful=False)
            print("removed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    start()
