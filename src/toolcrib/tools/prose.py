"""What a model reads of each tool: one Markdown page a family, one heading a tool, shipped with the package."""

from collections.abc import Mapping
from importlib.resources import files


def load(family: str) -> Mapping[str, str]:
    """Return the text under each `# heading` of the page of `family`, lines unwrapped into paragraphs.

    Raises:
        FileNotFoundError: the family has no page, which is a defect of the package.
    """
    page = (files("toolcrib.tools") / f"{family}.md").read_text("utf-8")
    found: dict[str, str] = {}
    for section in ("\n" + page).split("\n# ")[1:]:
        heading, _, body = section.partition("\n")
        found[heading.strip()] = "\n".join(_unwrapped(block) for block in body.strip().split("\n\n"))
    return found


def _unwrapped(block: str) -> str:
    """Join the lines of a paragraph; the items of a list keep their own lines."""
    lines: list[str] = []
    for line in block.splitlines():
        if lines and not line.startswith("- "):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.strip())
    return "\n".join(lines)
