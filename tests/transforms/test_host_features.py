"""`allo-host-features`: what the machine has, without gathers and what gives wrong results on x86."""

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


WIDE = """
llvm.func @inner(%a: i64) -> i64 {
  %b = llvm.sext %a : i64 to i128
  %c = llvm.trunc %b : i128 to i64
  llvm.return %c : i64
}
llvm.func @outer(%a: i64) -> i64 {
  %b = llvm.call @inner(%a) : (i64) -> i64
  llvm.return %b : i64
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have other features")
def test_wide_integers_are_not_selected_by_masks() -> None:
    """Nor in functions that they may be inlined into."""
    for function in run_passes(WIDE, "allo-host-features").body.operations:
        features = str(function.attributes["target_features"])
        assert '"+sse2"' in features and '"+avx512' not in features
