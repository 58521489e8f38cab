"""The answer of a content search, put together file by file: totals of all, and the page that is shown."""

from dataclasses import dataclass, field, replace
from itertools import chain

from toolcrib.host.finder.budget import Budget
from toolcrib.host.finder.cursor import put
from toolcrib.host.finder.engine import Proposal
from toolcrib.host.finder.matching import Matcher
from toolcrib.host.finder.reading import Shelf
from toolcrib.host.finder.scanning import Hit, Scanned, Scanner, Wanted
from toolcrib.host.finder.syntax import Parsed
from toolcrib.host.finder.table import Table
from toolcrib.host.finder.tree.shelves import holds
from toolcrib.host.finder.view import View
from toolcrib.ports.find import Counted, Found, Match, Query
from toolcrib.terms.digest import Json


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A search whose arguments were read and whose files were selected, in order."""

    query: Query
    key: Json
    after: tuple[str, int] | None
    matcher: Matcher
    parsed: Parsed | None
    multiline: bool
    files: list[str]
    ignored: int
    found: Table


@dataclass
class Answer:
    """The answer in the making. `proposal` is what another engine found out about the files."""

    view: View
    budget: Budget
    prepared: Prepared
    proposal: Proposal
    _lines: int = 0
    _files: int = 0
    _binary: int = 0
    _large: int = 0
    _clipped: int = 0
    _shown: int = 0
    _more: bool = False
    _last: tuple[str, int] = ("", 0)
    _matches: list[Match] = field(default_factory=list[Match])
    _counted: list[Counted] = field(default_factory=list[Counted])

    def found(self) -> Found:
        """Go through the files in order and return the answer."""
        shelf = Shelf(self.view.root, self.view.settings.max_file)
        scanner = Scanner(
            shelf=shelf,
            matcher=self.prepared.matcher,
            multiline=self.prepared.multiline,
            line_chars=self.view.settings.line_chars,
            budget=self.budget,
        )
        try:
            for path in self._open():
                if self.budget.spent():
                    break
                self._file(scanner, path)
        finally:
            shelf.close()
        cursor = put(self.prepared.key, list(self._last)) if self._more else None
        bounds = self.view.bounds(self.budget, self.prepared.found.notes, cursor=cursor, ignored=self.prepared.ignored)
        capped = bounds.scan_capped is not None
        return Found(
            matches=tuple(self._matches),
            files=tuple(self._counted),
            total_lines=None if capped else self._lines,
            total_files=None if capped else self._files,
            bounds=replace(bounds, skipped_binary=self._binary, skipped_large=self._large, clipped_lines=self._clipped),
        )

    def _open(self) -> list[str]:
        """Return the files that have to be looked at, in order: all, where nobody knows of most that they match not."""
        proposal, files = self.proposal, self.prepared.files
        if not proposal.rest:
            return files
        named = {*proposal.counts, *proposal.doubtful}
        named.update(path for path in self.prepared.found.notes.large if holds(files, path))
        self._binary += len(proposal.binary)
        return sorted(named)

    def _file(self, scanner: Scanner, path: str) -> None:
        known = self.proposal.counts.get(path)
        if known == 0:
            return
        before, line = self.prepared.after or ("", 0)
        lines = self.prepared.query.output == "lines"
        wanted = self.prepared.query.limit - self._shown + 1 if lines and path >= before and not self._more else 0
        if known is not None and (not wanted or (wanted == 1 and path > before)):
            self._more = self._more or wanted == 1
            self._count(path, known)
            return
        after = line if path == before else 0
        scanned = scanner.scan(path, Wanted(after=after, hits=wanted, count=known is None))
        if not self._is_text(path, scanned):
            return
        self._count(path, scanned.count if known is None else known)
        if scanned.hits:
            self._show(scanner, path, scanned.hits, after)

    def _is_text(self, path: str, scanned: Scanned) -> bool:
        self._binary += scanned.state == "binary"
        self._large += scanned.state == "large"
        if scanned.slow:
            self.budget.note("the pattern is too slow for a large file, which was left out")
        if scanned.state == "unreadable":
            self.prepared.found.notes.unread(path)
        return scanned.state == "text"

    def _count(self, path: str, count: int) -> None:
        if not count:
            return
        self._lines += count
        self._files += 1
        if self.prepared.query.output == "lines" or (self.prepared.after and path <= self.prepared.after[0]):
            return
        if self._shown < self.prepared.query.limit:
            self._counted.append(Counted(path=path, count=count))
            self._shown += 1
            self._last = (path, 0)
        else:
            self._more = True

    def _show(self, scanner: Scanner, path: str, hits: list[Hit], after: int) -> None:
        room = self.prepared.query.limit - self._shown
        chosen, rest = hits[:room], hits[room:]
        self._more = self._more or bool(rest)
        if not chosen:
            return
        self._shown += len(chosen)
        self._last = (path, chosen[-1].line)
        found = {each.line: Match(path=path, line=each.line, column=each.column, text=each.text) for each in chosen}
        self._clipped += sum(each.clipped for each in chosen)
        beside = self._beside(chosen, after, rest[0].line if rest else None)
        if beside:
            for line, (text, clipped) in scanner.lines(path, beside).items():
                found[line] = Match(path=path, line=line, column=None, text=text, context=True)
                self._clipped += clipped
        self._matches += [found[line] for line in sorted(found)]

    def _beside(self, hits: list[Hit], after: int, stop: int | None) -> set[int]:
        """Return the lines to show around the hits: none that another page shows as a match."""
        context = self.prepared.query.context
        around = chain.from_iterable(range(max(1, each.line - context), each.last + context + 1) for each in hits)
        matching = {each.line for each in hits}
        return {line for line in around if line > after and line not in matching and (stop is None or line < stop)}
