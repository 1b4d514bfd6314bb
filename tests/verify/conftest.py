"""Makes `tests` and `polybench` importable, which lie beside the package."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
