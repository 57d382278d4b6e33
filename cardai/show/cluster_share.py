"""The speed of a cluster in words."""

from cardai.measure.cluster_share import ClusterSpeed


def text(report: ClusterSpeed) -> str:
    """Some lines, the answer first."""
    before, after = report.alone
    return "\n".join(
        [
            f"The cluster plays {report.together:,.0f} games a second, {100 * report.share:.1f} % of what its"
            f" processors play alone ({100 * report.share_with_start:.1f} % with its start).",
            f"{report.machines} machines with {report.processors} processors; {report.game}, {report.agent} everywhere:"
            f" {report.games:,} games in {report.files:,} files in {report.seconds:.1f} s, and {report.start:.1f} s to"
            " start",
            f"each processor alone, all at the same time: {before:,.0f} games a second before, {after:,.0f} after",
            f"load of this machine before: {report.load:.2f}",
        ]
    )
