"""Escaping of text that is not ours in emitted files: comments, words of scripts, cells of tables; and code
without its comments.

Names of kernels become identifiers (`names.py`). All else that a user, a module or the name of a file says goes
through here, so that no such text ends a comment, a line or a word, whatever tool reads the file.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from ....errors import Location, TargetError

# a comment of C++ ends with its line, or with `*/`; a backslash, or `??/` to old compilers, joins the next line to it
_NO_COMMENT = re.compile(r"[^ -~]|\\|\?(?=\?)|(?<=\*)/|(?<=/)\*")
# what Make, Tcl, shells and lists of words read as a name
_FILE = re.compile(r"[\w./+@,=-]+")
_NO_CODE_SPAN = re.compile(r"[^ -~]|[`|\\<>&]")
_COMMENT = re.compile(r"//.*")


def comment(text: str) -> str:
    """`text` as a part of a comment: printable ASCII on one line, that leaves what follows it code."""
    return _NO_COMMENT.sub(_code_point, text)


def line_comment(at: Location | None) -> str:
    """The line of the kernel, as a comment behind a line of code."""
    return f"  // {comment(at.file.rpartition('/')[2])}:{at.line}" if at is not None else ""


def uncommented(code: str) -> str:
    """Lines of generated code without their comments, which hold words of users."""
    return _COMMENT.sub("", code)


def code_span(text: str) -> str:
    """`text` between the backquotes of a table in Markdown."""
    return _NO_CODE_SPAN.sub(_code_point, text)


def file_word(path: str) -> str:
    """The name of a file as one word of a Makefile and of scripts; raises TargetError for one that is not."""
    if _FILE.fullmatch(path) is None or PurePath(path).name.startswith("-"):
        raise TargetError(
            f"the file {path!r} of an external kernel cannot be part of a project: Makefiles and scripts read its name "
            "as something else",
            hint="rename it, or its folder: letters, digits and . _ + - are fine",
        )
    return path


def _code_point(found: re.Match[str]) -> str:
    return f"<U+{ord(found[0]):04X}>"
