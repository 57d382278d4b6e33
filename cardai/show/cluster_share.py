"""The speed of a cluster in words."""

from statistics import median

from cardai.measure.cluster_share import ClusterSpeed


def text(report: ClusterSpeed) -> str:
    """Some lines, the answer first."""
    shares = ", ".join(f"{100 * share:.1f}" for share in report.shares)
    alone = ", ".join(f"{speed:,.0f}" for speed in report.alone)
    return "\n".join(
        [
            f"The cluster plays {median(report.together):,.0f} games a second, {100 * report.share:.1f} % of what its"
            f" processors play alone ({100 * report.share_with_start:.1f} % with its start).",
            f"{report.machines} machines with {report.processors} processors; {report.game}, {report.agent} everywhere:"
            f" {report.games:,} games in {report.files:,} files in {report.seconds:.1f} s, and {report.start:.1f} s to"
            " start",
            f"in {len(report.shares)} rounds: {shares} %; the share above is their median",
            f"without the cluster, before each round and after the last: {alone} games a second",
            f"load of this machine before: {report.load:.2f}",
        ]
    )
