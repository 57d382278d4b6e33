"""Whether a cluster can be joined, and whether it is still there: each failure is one sentence, within some seconds."""

import socket
import subprocess
import sys

from cardai.errors import CardaiError, short

AUTO = "auto"
"""The address of the cluster that this machine belongs to."""
CONNECTING, _KNOCKING = 12.0, 5.0  # seconds in which Ray must have joined, and the head must take a connection
_TRIAL = "import ray, sys; ray.init(sys.argv[1], log_to_driver=False)"
_WHY = {
    "InvalidAuthToken": "it does not take this machine's token: put the head's ~/.ray/auth_token here too",
    "no authentication token": "this machine has no token: `ray get-auth-token --generate` makes one, and its"
    " ~/.ray/auth_token must be the same on all machines",
    "Could not find any running Ray": "this machine belongs to none: say `ray start --head` or"
    " `ray start --address=HOST:PORT` first",
}
"""What is said for words of Ray's."""


class ClusterFailed(CardaiError):
    """The cluster cannot go on, or some tasks failed again and again. What was done is kept."""

    exit_code = 1


def check_address(address: str) -> None:
    """Raise CardaiError for a text that is no address."""
    host, _, port = address.rpartition(":")
    if address != AUTO and not (host and "/" not in host and port.isdecimal() and 0 < int(port) < 65536):
        raise CardaiError(f"--cluster is auto or HOST:PORT, not {short(address)}")


def knock(address: str) -> None:
    """Raise ClusterFailed unless somebody takes a connection at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _KNOCKING).close()
    except OSError as error:
        raise ClusterFailed(f"no cluster answers at {address}: {error.strerror or error}") from None


def try_to_join(address: str) -> None:
    """Raise ClusterFailed if Ray cannot join a cluster.

    A process of its own tries it: Ray waits for minutes where nobody answers, and says why on the terminal.
    """
    try:
        tried = subprocess.run(
            [sys.executable, "-P", "-c", _TRIAL, address], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=CONNECTING,
        )  # fmt: skip
        if tried.returncode == 0:
            return
        said = tried.stderr.decode(errors="replace").strip()
        other = short(said.rpartition("\n")[2], 200)
    except subprocess.TimeoutExpired as late:
        said, other = (late.stderr or b"").decode(errors="replace"), f"it did not answer within {CONNECTING:.0f} s"
    why = next((why for words, why in _WHY.items() if words in said), other)
    raise ClusterFailed(f"cannot join the cluster at {address}: {why}")
