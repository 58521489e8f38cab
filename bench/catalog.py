"""What the list of tools costs in a request: tokens counted by an npm tokenizer, beside the product's own estimate."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence

from _harness import Figure, Plan, from_npm, main

from toolcrib.catalog.catalog import Catalog
from toolcrib.catalog.deferral import Budget, tokens
from toolcrib.catalog.dialects import DIALECTS
from toolcrib.catalog.views import Shown, View
from toolcrib.terms.settings import CatalogSettings
from toolcrib.tools import tools

TOKENIZER = ("gpt-tokenizer", "4.0.0")
"""The npm package that counts, and its version."""

COUNT = """
import { pathToFileURL } from "node:url";
const { encode } = await import(pathToFileURL(process.argv[1] + "/esm/encoding/o200k_base.js").href);
let text = "";
for await (const part of process.stdin) text += part;
const lists = Object.entries(JSON.parse(text));
const total = (texts) => texts.reduce((sum, each) => sum + encode(each).length, 0);
console.log(JSON.stringify(Object.fromEntries(lists.map(([name, texts]) => [name, total(texts)]))));
"""


def told(item: Shown) -> str:
    """Return a tool as it costs: name, description, parameters; the schema of the answer is in no model's request."""
    tool = {"name": item.name, "description": item.description, "parameters": item.schema}
    return json.dumps(tool, ensure_ascii=False, separators=(",", ":"))


def counted(texts: Mapping[str, list[str]]) -> dict[str, int] | None:
    """Return the true number of tokens of each list of texts; None without npm."""
    package = from_npm(*TOKENIZER)
    if package is None:
        return None
    command = ["node", "--input-type=module", "-e", COUNT, str(package)]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return None
    return json.loads(done.stdout)


def views() -> dict[str, View]:
    """Return what is measured by name."""
    settings = CatalogSettings()
    tight = Catalog.build(tools(), budget=Budget(tokens=1, deferred=settings.deferred_tokens))
    found = {f"in the dialect {name}": Catalog.build(tools()).view(dialect=name) for name in DIALECTS}
    return {"the default tools": found.pop("in the dialect toolcrib"), DEFERRED: tight.view(), **found}


DEFERRED = "what stays of them when tools are deferred"
DEMANDS = {"the default tools": 6000.0, DEFERRED: 1000.0}


async def measure(_plan: Plan) -> Sequence[Figure]:
    """Count every view, by the tokenizer where there is npm, and by the estimate."""
    texts = {name: [told(item) for item in view.items] for name, view in views().items()}
    truth = counted(texts)
    guesses = {name: sum(map(tokens, each)) for name, each in texts.items()}
    figures = [Figure(name, count, "tokens", DEMANDS.get(name)) for name, count in (truth or guesses).items()]
    if truth is not None:
        # At or above 1: a list that keeps within the budget by the estimate keeps within it in truth.
        ratios = [guesses[name] / count for name, count in truth.items()]
        figures.append(Figure("estimate to count, lowest", min(ratios), "", 1.0, most=False))
        figures.append(Figure("estimate to count, highest", max(ratios), ""))
    return figures


if __name__ == "__main__":
    main("What the tools cost (`script/bench catalog`)", measure)
