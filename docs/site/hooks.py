"""What the site adds to MkDocs: its pages lie in several folders, keep their addresses, and show how results changed.

MkDocs calls the functions that start with `on_`. Pages stay as they are on a code host: links between them are those of
the files. What a page links to and is no page (results, code) is copied beside it, code as text that a browser shows.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from cardai.experiments.machinery.words import addressed, folded, shown

ROOT = Path(__file__).parent.parent.parent
PAGES = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "games/*/RULES.md", "examples/*/RULES.md",
    "report/*.md",
)  # fmt: skip
BESIDE = ("docs/*.svg", "docs/*.png", "docs/site/*.css", "docs/site/*.js", "report/*.svg", "report/*.json*")
LINK = re.compile(r"(\]\()([^)\s#:]+\.(?:py|toml|sh|js|cff))\)")
"""A link to a file of text that browsers would not show."""
FENCE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
"""The first line of an excerpt, with the file that it is from."""
RULE = re.compile(r"^(\d+\.\d+)(?= )", re.MULTILINE)
"""The number of a rule at the start of its lines."""
LONG = 8000
"""A page with more characters than this has its parts folded on a phone."""


def on_config(config: Any) -> Any:
    """Add pages of the report that the menu in mkdocs.yml does not name, such as those of new experiments."""
    named = set(re.findall(r"report/[\w-]+\.md", str(config.nav)))
    further = [f"report/{place.name}" for place in sorted((ROOT / "report").glob("*.md"))]
    further = [page for page in further if page not in named]
    (results,) = (entry["Results"] for entry in config.nav if "Results" in entry)
    results += [{"Further questions": further}] if further else []
    return config


def on_files(files: Any, config: Any) -> Any:
    """Replace the files in docs/ by all pages, at their places below the root of the checkout, and what they show."""
    for file in [file for file in files if file.src_dir == config.docs_dir]:
        files.remove(file)
    for place in sorted(place for pattern in (*PAGES, *BESIDE) for place in ROOT.glob(pattern)):
        uri = place.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(place)))
        for target in _code_of(place) if place.suffix == ".md" else ():
            text = f"{target.relative_to(ROOT).as_posix()}.txt"
            if files.get_file_from_path(text) is None:
                files.append(File.generated(config, text, content=target.read_text("utf-8")))
    return files


def _code_of(page: Path) -> list[Path]:
    """The files of code that a page links to."""
    targets = [(page.parent / link[1]).resolve() for link in LINK.findall(page.read_text("utf-8"))]
    return [target for target in targets if target.is_file()]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to code to its text, name the files of excerpts, part rules, add how the figures of a page changed."""
    markdown = FENCE.sub(r'```\1 title="\2"', LINK.sub(r"\1\2.txt)", markdown))
    if page.file.src_uri.endswith("RULES.md"):
        markdown = RULE.sub(r'\n<a id="rule-\1" href="#rule-\1">\1</a>', markdown)
    result = ROOT / "report" / f"{Path(page.file.src_uri).stem}.json"
    if page.file.src_uri.startswith("report/") and result.exists():
        markdown += history(result)
    return markdown


def history(result: Path) -> str:
    """A folded part: the commits that changed a result, and the figures that were others before. "" without Git."""
    log = _git("log", "--format=%h\t%ad\t%s", "--date=short", "--", str(result))
    commits = [line.split("\t", 2) for line in log.splitlines()]
    if not commits:
        return ""
    shas = [sha for sha, *_ in commits]
    versions = [_figures(_git("show", f"{sha}:{result.relative_to(ROOT).as_posix()}")) for sha in shas]
    lines = [f"- `{sha}` {day}: {subject}" for sha, day, subject in commits]
    changed = [row for row in versions[0] if len({version.get(row) for version in versions}) > 1]
    if changed:
        lines += ["", f"The {len(changed)} of {len(versions[0])} figures that changed, the newest commit first:", ""]
        lines += ["| figure | " + " | ".join(shas) + " |", "|---|" + "---:|" * len(shas)]
        lines += [
            f"| [{', '.join(filter(None, row))}](#{addressed(*row)}) | "
            + " | ".join(version.get(row, "") for version in versions)
            + " |"
            for row in changed
        ]
    parts = ["", "## History over commits", "", *folded(f"{len(commits)} commits changed it", lines), ""]
    return "\n".join(parts)


def _figures(text: str) -> dict[tuple[str, str, str], str]:
    """{(table, line, column): the figure} of a result as text; empty for another form of results."""
    try:
        rows = json.loads(text)["rows"]
        return {(row["table"], row["name"], row["column"]): shown(row["figure"], row["places"]) for row in rows}
    except (ValueError, LookupError, TypeError):
        return {}


def _git(*words: str) -> str:
    """What a command of Git prints; "" where it fails, as outside a checkout."""
    try:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Load pictures when they come into view, and fold the parts of a long page.

    `open.js` opens these on wide screens. What a page folds itself, such as long tables, is left out of the search. So
    are figures in tables: whoever looks for a row finds it by its name.
    """
    html = html.replace("<img ", '<img loading="lazy" ').replace("<details>", "<details data-search-exclude>")
    html = html.replace('<td style="text-align: right;"', '<td data-search-exclude style="text-align: right;"')
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)  # the corner of a table is no heading
    html = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", html)
    first, *parts = re.split(r"(?=<h2 )", html)
    if len(page.markdown) <= LONG or len(parts) < 2:
        return html
    return first + "".join(map(_folded, parts))


def _folded(part: str) -> str:
    heading, end, rest = part.partition("</h2>")
    heading = re.sub(r'<a class="headerlink".*?</a>', "", heading)  # a link in what opens a part cannot be pressed
    return f'<details class="part"><summary>{heading}{end}</summary>\n{rest}</details>\n'


def on_post_page(output: str, **_: Any) -> str:
    """Name the search for those who hear the page."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
