"""Programs that wait for ever at a FIFO are equivalent to nothing."""

import allo
from allo.verify import Equivalent, Unknown
from tests.poly.test_hangs_in_order import WAITING


def test_a_program_that_never_ends_is_not_equivalent():
    ends = WAITING.replace(", 4>", ", 8>")
    assert isinstance(allo.verify(ends, ends), Equivalent)
    for which, pair in (("first", (WAITING, ends)), ("second", (ends, WAITING)), ("first", (WAITING, WAITING))):
        result = allo.verify(*pair)
        assert isinstance(result, Unknown)
        assert result.reason == (
            f"the {which} program never ends: stream 'pipe' of depth 4 is full, and what would take elements out waits "
            "too, or has ended: 4 elements have been put and 0 taken; the least depth that does is 8"
        )
