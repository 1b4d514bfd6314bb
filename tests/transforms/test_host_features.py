"""`allo-host-features`: what the machine has, and no gathers on x86."""

import platform

import pytest

from .compiled import run_passes

TEXT = """
llvm.func @body() {
  llvm.return
}
llvm.func @elsewhere()
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have other features")
def test_functions_with_a_body() -> None:
    module = run_passes(TEXT, "allo-host-features")
    body, elsewhere = module.body.operations
    features = str(body.attributes["target_features"])
    assert '"+sse2"' in features and features.endswith('"+prefer-no-gather"]>')
    assert not any(f'"+{name}"' in features for name in ("avx512bf16", "avxneconvert"))  # subnormals become zero
    assert "target_features" not in elsewhere.attributes
