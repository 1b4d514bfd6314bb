"""What docs/ci.md says of CI: the commands of the action and of the hook are run; YAML names what exists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from allo.cli import main
from tests.docs.pages import python_blocks

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example of the page."""
    monkeypatch.chdir(tmp_path)
    exec(python_blocks(ROOT / "docs/ci.md")[0].code, {})
    return tmp_path


def step(designs: str, options: str = "") -> subprocess.CompletedProcess[str]:
    """The last step of the action, as a runner of GitHub starts it."""
    found = read("action.yml")["runs"]["steps"][-1]
    assert found["env"] == {"DESIGNS": "${{ inputs.designs }}", "OPTIONS": "${{ inputs.options }}"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "DESIGNS": designs, "OPTIONS": options}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", found["run"]]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_the_action_proves_all_designs_of_the_page(repository: Path):
    page = (ROOT / "docs/ci.md").read_text()
    workflow = next(yaml.safe_load(t) for t in re.findall(r"```yaml\n(.*?)```", page, re.S) if "jobs" in t)
    used = workflow["jobs"]["check"]["steps"][-1]
    assert used["with"].keys() <= read("action.yml")["inputs"].keys()
    done = step(used["with"]["designs"], used["with"]["options"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("equivalent to the unscheduled kernel") == 2


def test_the_action_fails_with_the_worst_answer_after_all_designs(repository: Path):
    done = step("designs/scale.py:wrong\ndesigns/scale.py:schedule\n")
    assert done.returncode == 3
    assert "function 'scale' has no loop 'j'" in done.stderr and "accepted" in done.stdout


def test_the_hook_is_the_command(repository: Path):
    (hook,) = read(".pre-commit-hooks.yaml")
    assert hook["pass_filenames"] is False
    page = (ROOT / "docs/ci.md").read_text()
    config = next(yaml.safe_load(t) for t in re.findall(r"```yaml\n(.*?)```", page, re.S) if "repos" in t)
    (used,) = config["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    assert main([*hook["entry"].split()[1:], *used["args"]]) == 0


def test_the_workflow_runs_the_gate():
    job = read(".github/workflows/gate.yml")["jobs"]["gate"]
    assert job["steps"][-1] == {"run": "bash .ci/run"}
    assert {"run": "sudo scripts/browser.sh"} in job["steps"]
    assert job["timeout-minutes"] == 90


def test_several_designs_have_no_json(repository: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", "--json", "designs/scale.py:scale", "designs/scale.py:schedule"]) == 3
    assert capsys.readouterr().err == "allo: --json is a form of one answer, and these are 2 designs\n"


def test_a_difference_is_worse_than_a_refusal(repository: Path, capsys: pytest.CaptureFixture[str]):
    (repository / "designs/other.py").write_text("def wrong(:\n")
    against = ["check", "--against", "designs/scale.py:scale"]
    text = (repository / "designs/scale.py").read_text().replace("* 3", "* 4")
    (repository / "designs/four.py").write_text(text)
    assert main([*against, "designs/four.py:scale", "designs/other.py:x", "designs/scale.py:schedule"]) == 1
    assert "SyntaxError" in capsys.readouterr().err
