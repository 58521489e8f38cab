"""Starting programs of ours, and ending their whole tree."""

from toolcrib.host.process.launcher import Launcher as Launcher
